// libFuzzer: changes to a good H5MD file. Each takes an object or an attribute away and puts
// another one there, of any kind, type, shape and contents; links may go in circles. What comes
// out must be read, or refused with UserError. Bytes of HDF5 files themselves are left alone: what
// HDF5 makes of those is not ours to mend.
//
// An input is a list of changes of six bytes and more: path, kind, type, rank, layout, number of
// bytes of contents; eight bytes per extent; contents.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "io/formats.h"
#include "io/hdf5.h"
#include "io/writer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/three_particles.h"

using namespace perrin;

namespace {

const char* const paths[] = {"particles/all/position/value",
                             "particles/all/position/step",
                             "particles/all/position/time",
                             "particles/all/position",
                             "particles/all/velocity/value",
                             "particles/all/velocity/step",
                             "particles/all/velocity",
                             "particles/all/image/value",
                             "particles/all/image",
                             "particles/all/species",
                             "particles/all/mass",
                             "particles/all/charge",
                             "particles/all/id",
                             "particles/all/box",
                             "particles/all/box/edges",
                             "particles/all/box/edges/value",
                             "particles/all",
                             "particles",
                             "connectivity/bonds",
                             "connectivity/angles",
                             "connectivity/other",
                             "connectivity",
                             "parameters/perrin/type_names",
                             "parameters/perrin/dimension",
                             "parameters/perrin/molecule",
                             "parameters/perrin/diameter",
                             "parameters/perrin/box_origin",
                             "parameters/perrin/box_origin/value",
                             "parameters/perrin/bonds_type",
                             "parameters/perrin/bonds_type_names",
                             "parameters/perrin",
                             "connectivity/dihedrals",
                             "connectivity/impropers",
                             "parameters/perrin/dihedrals_type",
                             "parameters/perrin/impropers_type",
                             "particles/all/orientation",
                             "particles/all/orientation/value",
                             "particles/all/angular_momentum",
                             "particles/all/angular_momentum/value",
                             "parameters/perrin/moment_of_inertia"};
const char* const attributes[] = {"unit", "boundary", "offset", "dimension", "components", "frame"};

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  std::uint8_t byte() { return left_ == 0 ? std::uint8_t(0) : (--left_, *at_++); }
  hsize_t word() {
    hsize_t value = 0;
    for (int k = 0; k < 8; ++k) value |= hsize_t(byte()) << (8 * k);
    return value;
  }
  std::vector<char> take(std::size_t n) {
    n = std::min(n, left_);
    std::vector<char> out(at_, at_ + n);
    at_ += n, left_ -= n;
    return out;
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

io::Hid type_of(unsigned choice) {
  const hid_t plain[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_I32LE, H5T_STD_I64LE,
                         H5T_STD_U64LE,  H5T_STD_U8LE,   H5T_STD_I16BE, H5T_STD_REF_OBJ};
  if (choice % 11 < 8) return io::Hid(H5Tcopy(plain[choice % 11]));
  io::Hid type(H5Tcopy(H5T_C_S1));
  if (choice % 11 == 8) H5Tset_size(type, 4);
  if (choice % 11 == 9) H5Tset_size(type, H5T_VARIABLE);
  if (choice % 11 == 10) return io::Hid(H5Tenum_create(H5T_STD_I32LE));
  return type;
}

io::Hid space_of(Bytes& bytes, unsigned rank) {
  if (rank % 6 == 4) return io::Hid(H5Screate(H5S_NULL));
  if (rank % 6 == 5 || rank % 6 == 0) return io::Hid(H5Screate(H5S_SCALAR));
  hsize_t extent[3];
  // Mostly small ones: others are refused soon.
  for (unsigned k = 0; k < rank % 6; ++k) {
    extent[k] = bytes.word();
    if (extent[k] % 3 != 0) extent[k] = (extent[k] >> 8) % 16;
  }
  return io::Hid(H5Screate_simple(int(rank % 6), extent, nullptr));
}

/// Contents for as many values as there is memory for.
std::vector<char> contents_of(hid_t type, hssize_t n, std::vector<char> given) {
  const std::size_t size = std::size_t(n) * H5Tget_size(type);
  if (given.empty()) given.push_back(0);
  std::vector<char> all(size);
  for (std::size_t k = 0; k < size; ++k) all[k] = given[k % given.size()];
  return all;
}

void write(hid_t object, bool attribute, hid_t type, hid_t space, const std::vector<char>& given) {
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  if (n <= 0 || n > 4096 || H5Tget_class(type) == H5T_REFERENCE) return;
  const auto put = [&](const void* data) {
    if (attribute)
      H5Awrite(object, type, data);
    else
      H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  };
  if (H5Tis_variable_str(type) > 0) {
    std::string text(given.begin(), given.end());
    const std::vector<const char*> texts(std::size_t(n), text.c_str());
    put(texts.data());
  } else {
    put(contents_of(type, n, given).data());
  }
}

void put_dataset(hid_t file, const char* path, Bytes& bytes) {
  const io::Hid type = type_of(bytes.byte());
  const io::Hid space = space_of(bytes, bytes.byte());
  const unsigned layout = bytes.byte();
  const auto given = bytes.take(bytes.byte());
  const io::Hid links(H5Pcreate(H5P_LINK_CREATE)), creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_create_intermediate_group(links, 1);
  if (layout % 4 == 1) H5Pset_layout(creation, H5D_COMPACT);
  if (layout % 4 >= 2 && H5Sget_simple_extent_ndims(space) > 0) {
    const hsize_t chunk[3] = {1 + (layout >> 2) % 7, 4, 4};
    H5Pset_chunk(creation, H5Sget_simple_extent_ndims(space), chunk);
    if (layout % 4 == 3) H5Pset_deflate(creation, 1);
  }
  const io::Hid dataset(H5Dcreate2(file, path, type, space, links, creation, H5P_DEFAULT));
  if (dataset >= 0) write(dataset, false, type, space, given);
}

void change(hid_t file, Bytes& bytes) {
  const char* path = paths[bytes.byte() % std::size(paths)];
  const unsigned kind = bytes.byte() % 8;
  if (kind == 7) {
    const io::Hid object(H5Oopen(file, path, H5P_DEFAULT));
    if (object < 0) return;
    const char* name = attributes[bytes.byte() % std::size(attributes)];
    H5Adelete(object, name);
    const io::Hid type = type_of(bytes.byte());
    const io::Hid space = space_of(bytes, bytes.byte());
    const auto given = bytes.take(bytes.byte());
    if (H5Sget_simple_extent_npoints(space) > 4096) return;  // HDF5 takes memory for it here
    const io::Hid it(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (it >= 0) write(it, true, type, space, given);
    return;
  }
  H5Ldelete(file, path, H5P_DEFAULT);
  if (kind == 0) return;
  const char* other = paths[bytes.byte() % std::size(paths)];
  if (kind == 1)
    H5Lcreate_soft((std::string("/") + other).c_str(), file, path, H5P_DEFAULT, H5P_DEFAULT);
  else if (kind == 2)
    H5Lcreate_hard(file, other, file, path, H5P_DEFAULT, H5P_DEFAULT);
  else if (kind == 3)
    io::Hid(H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  else
    put_dataset(file, path, bytes);
}

/// A good file of two frames, three particles, bonds and an angle.
std::vector<char> good_file() {
  const std::string path = "/tmp/perrin-fuzz-" + std::to_string(::getpid()) + ".h5";
  io::Frame frame;
  Configuration& c = frame.configuration;
  c = three_particles();
  c.topology.molecule = {0, 0, 1};
  c.topology.angle_types = {"angle"};
  c.topology.angles = {{0, 1, 2, 0}};
  c.orientation.resize(3), c.angular_momentum.resize(3);
  c.moment_of_inertia.assign(3, {1, 2, 3});
  frame.units = {"nm", "ps", "nm ps-1", "u"};
  const auto out = io::write_h5md(path, frame);
  for (int k = 0; k < 2; ++k) {
    c.step = k;
    out->write(frame);
  }
  out->finish();
  std::FILE* in = std::fopen(path.c_str(), "rb");
  std::vector<char> bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), in));
  std::fclose(in);
  ::unlink(path.c_str());
  return bytes;
}

std::vector<char> changed(std::vector<char> image, Bytes bytes) {
  io::silence_hdf5();
  const io::Hid access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access, 1 << 16, false);
  H5Pset_file_image(access, image.data(), image.size());
  const io::Hid file(H5Fopen("core", H5F_ACC_RDWR, access));
  if (file < 0) std::abort();
  // Few: HDF5 1.10 loses names of its own in a group that is changed often.
  for (int k = 0; k < 8 && !bytes.empty(); ++k) change(file, bytes);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  image.resize(std::size_t(std::max<ssize_t>(0, size)));
  H5Fget_file_image(file, image.data(), image.size());
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<char> good = good_file();
  std::vector<char> image;
  io::writer().call([&] { image = changed(good, Bytes(data, size)); });
  const MemoryFile file(image.data(), image.size());
  try {
    const auto reader = io::open_frames(file.path(), io::format_of_name("h5md"));
    for (std::int64_t k = 0; k < std::min<std::int64_t>(2, reader->frames()); ++k)
      if (reader->read(k).configuration.position.empty()) std::abort();
  } catch (const UserError&) {
  }
  return 0;
}
