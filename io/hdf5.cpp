#include "io/hdf5.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

bool close_failed = false;  // on the writer's thread

/// The files that are open for appending, and what was wrong with those that were closed.
struct OutputFiles {
  struct Entry {
    std::string path;
    std::shared_ptr<const SteadyState> state;
    std::weak_ptr<const int> open;
  };
  std::mutex mutex;
  std::list<Entry> entries;
  std::string failure;  // the first
};

OutputFiles& output_files() {
  static OutputFiles it;
  return it;
}

/// Some steps of HDF5's error stack say more than others: the innermost says what happened.
herr_t innermost(unsigned n, const H5E_error2_t* error, void* out) {
  auto& text = *static_cast<std::string*>(out);
  if (n == 0 && error->desc != nullptr) text = error->desc;
  return 0;
}

Hid text_type() {
  Hid type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

Hid simple_space(const Shape& shape) {
  return Hid(H5Screate_simple(int(shape.size()), shape.data(), nullptr));
}

std::size_t count(const Shape& shape) {
  std::size_t n = 1;
  for (const hsize_t extent : shape) n *= extent;
  return n;
}

Hid with_parents() {
  Hid list(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(list, 1);
  return list;
}

/// Links that lead to other files are not followed: theirs may be pipes, which hang, or secrets.
herr_t refuse_file(const char*, const char*, const char*, const char*, unsigned*, hid_t,
                   void* out) {
  *static_cast<bool*>(out) = true;
  return -1;
}

/// How links are looked up; `refused` says afterwards whether one was an external one.
class InThisFile {
 public:
  InThisFile() : list_(H5Pcreate(H5P_LINK_ACCESS)) {
    H5Pset_elink_cb(list_, refuse_file, &refused);
  }
  operator hid_t() const { return list_; }
  bool refused = false;

 private:
  Hid list_;
};

std::string joined(const std::string& parent, const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  return parent == "/" ? parent + path : parent + "/" + path;
}

}  // namespace

void close_hid(hid_t id) noexcept {
  if (H5Idec_ref(id) < 0) close_failed = true;
}

void remember_output_failure(const std::string& what) {
  OutputFiles& files = output_files();
  const std::lock_guard lock(files.mutex);
  if (files.failure.empty()) files.failure = what;
}

std::string what_is_wrong(const std::string& path, const SteadyState& state) {
  if (state.error != 0)
    return fmt::format("{}: cannot write: {}", path, std::strerror(state.error));
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 && errno != ENOENT && errno != ENOTDIR)
    return fmt::format("{}: cannot be inspected: {}", path, std::strerror(errno));
  if (status.st_dev != state.device || status.st_ino != state.inode)
    return path + ": was deleted, moved or replaced while it was being written";
  return "";
}

std::shared_ptr<const int> watch_output_file(const std::string& path,
                                             std::shared_ptr<const SteadyState> state) {
  auto watched = std::make_shared<const int>(0);
  OutputFiles& files = output_files();
  const std::lock_guard lock(files.mutex);
  files.entries.push_back({path, std::move(state), watched});
  return watched;
}

void check_output_files() {
  OutputFiles& files = output_files();
  const std::lock_guard lock(files.mutex);
  std::string wrong = std::exchange(files.failure, std::string());
  std::erase_if(files.entries, [](const auto& entry) { return entry.open.expired(); });
  for (const auto& entry : files.entries)
    if (wrong.empty()) wrong = what_is_wrong(entry.path, *entry.state);
  if (!wrong.empty()) throw RunError(wrong);
}

[[noreturn]] static void fail(const std::string& file, bool reading, const std::string& what) {
  const std::string message = fmt::format("{}: {}: {}", file, what, hdf5_reason());
  if (reading) throw UserError(message);
  throw RunError(message);
}

void silence_hdf5() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string hdf5_reason() {
  std::string text = take_driver_error();
  if (text.empty()) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "HDF5 gives no reason" : text;
}

void Node::fail(const std::string& what) const { io::fail(file_, reading_, what + " " + path_); }

bool Node::has(const std::string& path) const {
  // H5Lexists wants every part of the path before the last to be a group.
  for (std::size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    InThisFile links;
    const htri_t link = H5Lexists(id_, part.c_str(), links);
    const htri_t object = link > 0 ? H5Oexists_by_name(id_, part.c_str(), links) : link;
    if (links.refused) refuse_link(part);
    check(object >= 0, "cannot look for " + part + " in");
    if (object == 0) return false;
    if (at != std::string::npos && H5Iget_type(open(part).id()) != H5I_GROUP) return false;
  }
  return true;
}

Node Node::open(const std::string& path) const {
  InThisFile links;
  Node node(Hid(H5Oopen(id_, path.c_str(), links)), file_, joined(path_, path), reading_);
  if (links.refused) refuse_link(path);
  node.check(node.id_ >= 0, "cannot open");
  if (!node.is_dataset()) return node;
  const Hid creation(H5Dget_create_plist(node.id_));
  node.check(creation >= 0, "cannot open");
  if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
    throw UserError(fmt::format("{}: {}: its values are in other files: expected them in this one",
                                file_, node.path_));
  return node;
}

void Node::refuse_link(const std::string& path) const {
  throw UserError(fmt::format("{}: {} is a link to another file: expected it in this one", file_,
                              joined(path_, path)));
}

Node Node::make_group(const std::string& path) const {
  if (has(path)) return open(path);
  Node node(Hid(H5Gcreate2(id_, path.c_str(), with_parents(), H5P_DEFAULT, H5P_DEFAULT)), file_,
            joined(path_, path), reading_);
  node.check(node.id_ >= 0, "cannot create group");
  return node;
}

void Node::hard_link(const Node& target, const std::string& path) const {
  check(H5Olink(target.id(), id_, path.c_str(), with_parents(), H5P_DEFAULT) >= 0,
        "cannot link " + path + " in");
}

std::vector<std::string> Node::children() const {
  std::vector<std::string> names;
  // In no order: what HDF5 1.10 does to sort them itself crashes where a read fails.
  const herr_t status = H5Literate(
      id_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* out) {
        static_cast<std::vector<std::string>*>(out)->push_back(name);
        return herr_t(0);
      },
      &names);
  check(status >= 0, "cannot list");
  std::sort(names.begin(), names.end());
  return names;
}

void Node::attribute(const std::string& name, const std::string& text) const {
  const Hid type = text_type(), space(H5Screate(H5S_SCALAR));
  const Hid it(H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  const char* value = text.c_str();
  check(it >= 0 && H5Awrite(it, type, &value) >= 0, "cannot write attribute " + name + " of");
}

void Node::attribute(const std::string& name, const std::vector<std::string>& texts) const {
  const Hid type = text_type(), space = simple_space({texts.size()});
  const Hid it(H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  std::vector<const char*> values;
  for (const std::string& text : texts) values.push_back(text.c_str());
  check(it >= 0 && H5Awrite(it, type, values.data()) >= 0,
        "cannot write attribute " + name + " of");
}

void Node::attribute(const std::string& name, std::int32_t value) const {
  const Hid space(H5Screate(H5S_SCALAR));
  const Hid it(H5Acreate2(id_, name.c_str(), H5T_NATIVE_INT32, space, H5P_DEFAULT, H5P_DEFAULT));
  check(it >= 0 && H5Awrite(it, H5T_NATIVE_INT32, &value) >= 0,
        "cannot write attribute " + name + " of");
}

void Node::attribute(const std::string& name, double value) const {
  const Hid space(H5Screate(H5S_SCALAR));
  const Hid it(H5Acreate2(id_, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT));
  check(it >= 0 && H5Awrite(it, H5T_NATIVE_DOUBLE, &value) >= 0,
        "cannot write attribute " + name + " of");
}

void Node::attribute(const std::string& name, const std::vector<std::int32_t>& values) const {
  const Hid space = simple_space({values.size()});
  const Hid it(H5Acreate2(id_, name.c_str(), H5T_NATIVE_INT32, space, H5P_DEFAULT, H5P_DEFAULT));
  check(it >= 0 && H5Awrite(it, H5T_NATIVE_INT32, values.data()) >= 0,
        "cannot write attribute " + name + " of");
}

void Node::attribute_reference(const std::string& name, const std::string& target) const {
  hobj_ref_t reference;
  const Hid space(H5Screate(H5S_SCALAR));
  check(H5Rcreate(&reference, id_, target.c_str(), H5R_OBJECT, -1) >= 0,
        "cannot refer to " + target + " from");
  const Hid it(H5Acreate2(id_, name.c_str(), H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT));
  check(it >= 0 && H5Awrite(it, H5T_STD_REF_OBJ, &reference) >= 0,
        "cannot write attribute " + name + " of");
}

bool Node::has_attribute(const std::string& name) const {
  const htri_t found = H5Aexists(id_, name.c_str());
  check(found >= 0, "cannot look for the attribute " + name + " of");
  return found > 0;
}

std::vector<std::string> Node::read_texts(hid_t object, bool attribute) const {
  const Hid space(attribute ? H5Aget_space(object) : H5Dget_space(object));
  const Hid type(attribute ? H5Aget_type(object) : H5Dget_type(object));
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  check(n >= 0 && H5Tget_class(type) == H5T_STRING, "not text:");
  const auto get = [&](hid_t memory, void* data) {
    return (attribute ? H5Aread(object, memory, data)
                      : H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data)) >= 0;
  };
  std::vector<std::string> texts;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> values(std::size_t(n), nullptr);
    Hid memory = text_type();
    H5Tset_cset(memory, H5Tget_cset(type));
    check(get(memory, values.data()), "cannot read");
    for (const char* value : values) texts.emplace_back(value == nullptr ? "" : value);
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, values.data());
  } else {
    const std::size_t width = H5Tget_size(type);
    std::vector<char> values(std::size_t(n) * width);
    check(get(type, values.data()), "cannot read");
    for (hssize_t k = 0; k < n; ++k) {
      const char* value = values.data() + std::size_t(k) * width;
      texts.emplace_back(value, strnlen(value, width));
    }
  }
  return texts;
}

std::vector<std::string> Node::texts_attribute(const std::string& name) const {
  const Hid it(H5Aopen(id_, name.c_str(), H5P_DEFAULT));
  check(it >= 0, "no attribute " + name + " at");
  return read_texts(it, true);
}

std::string Node::text_attribute(const std::string& name) const {
  const auto texts = texts_attribute(name);
  return texts.empty() ? "" : texts[0];
}

std::vector<std::int32_t> Node::ints_attribute(const std::string& name) const {
  const Hid it(H5Aopen(id_, name.c_str(), H5P_DEFAULT));
  check(it >= 0, "no attribute " + name + " at");
  const Hid space(H5Aget_space(it));
  std::vector<std::int32_t> values(
      std::size_t(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space))));
  check(H5Aread(it, H5T_NATIVE_INT32, values.data()) >= 0, "cannot read attribute " + name + " of");
  return values;
}

Node Node::write(const std::string& path, hid_t type, const Shape& shape, const void* data) const {
  const Hid space = shape.empty() ? Hid(H5Screate(H5S_SCALAR)) : simple_space(shape);
  const Hid layout(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  Node node(Hid(H5Dcreate2(id_, path.c_str(), type, space, with_parents(), layout, H5P_DEFAULT)),
            file_, joined(path_, path), reading_);
  node.check(node.id_ >= 0, "cannot create dataset");
  if (count(shape) > 0) node.rewrite(type, data);
  return node;
}

Node Node::write_texts(const std::string& path, const Shape& shape,
                       const std::vector<std::string>& texts) const {
  // Of one length: in a damaged file HDF5 1.10 crashes in its heaps, where others lie.
  std::size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  const Hid type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, width);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  std::vector<char> bytes(width * texts.size(), '\0');
  for (std::size_t k = 0; k < texts.size(); ++k)
    std::copy(texts[k].begin(), texts[k].end(), bytes.begin() + std::ptrdiff_t(width * k));
  return write(path, type, shape, bytes.data());
}

void Node::rewrite(hid_t type, const void* data) const {
  check(H5Dwrite(id_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "cannot write");
}

Shape Node::shape() const {
  check(is_dataset(), "not a dataset:");
  const Hid space(H5Dget_space(id_));
  const int rank = H5Sget_simple_extent_ndims(space);
  check(rank >= 0, "cannot read the shape of");
  Shape shape(static_cast<std::size_t>(rank));
  check(rank == 0 || H5Sget_simple_extent_dims(space, shape.data(), nullptr) >= 0,
        "cannot read the shape of");
  return shape;
}

bool Node::is_dataset() const { return H5Iget_type(id_) == H5I_DATASET; }

bool Node::is_number() const {
  const Hid type(H5Dget_type(id_));
  const H5T_class_t kind = H5Tget_class(type);
  check(kind != H5T_NO_CLASS, "cannot read the type of");
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

void Node::read(hid_t type, void* data) const {
  check(H5Dread(id_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "cannot read");
}

void Node::read_row(hid_t type, std::int64_t row, void* data) const {
  const Shape all = shape();
  Shape start(all.size(), 0), extent = all;
  if (all.empty() || row < 0 || hsize_t(row) >= all[0])
    throw UserError(fmt::format("{}: {} has no row {}: it has {}", file_, path_, row,
                                all.empty() ? 0 : all[0]));
  start[0] = hsize_t(row);
  extent[0] = 1;
  const Hid space(H5Dget_space(id_)), memory = simple_space(extent);
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) >=
                0 &&
            H5Dread(id_, type, memory, space, H5P_DEFAULT, data) >= 0,
        fmt::format("cannot read row {} of", row));
}

std::string Node::read_text() const {
  const auto texts = read_texts(id_, false);
  return texts.empty() ? "" : texts[0];
}

Series Series::make(const Node& parent, const std::string& path, hid_t type, const Shape& row,
                    hsize_t chunk, const Packing& packing, hsize_t width) {
  Series series;
  series.type_ = type;
  series.shape_ = row;
  series.shape_.insert(series.shape_.begin(), 0);
  Shape limits = series.shape_, chunks = series.shape_;
  limits[0] = H5S_UNLIMITED;
  chunks[0] = chunk;
  if (width > 0) chunks[1] = std::min(width, chunks[1]);
  const Hid space(H5Screate_simple(int(limits.size()), series.shape_.data(), limits.data()));
  const Hid layout(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(layout, int(chunks.size()), chunks.data());
  if (packing.filter == Packing::Filter::deflate) {
    H5Pset_shuffle(layout);
    H5Pset_deflate(layout, 1);
  }
  if (packing.filter == Packing::Filter::rounded) {
    H5Pset_scaleoffset(layout, H5Z_SO_FLOAT_DSCALE, packing.decimals);
    // Else what is nearer to the value for empty places (0) than the last digit becomes that.
    H5Pset_fill_value(layout, type, nullptr);
  }
  series.node_ = Node(
      Hid(H5Dcreate2(parent.id(), path.c_str(), type, space, with_parents(), layout, H5P_DEFAULT)),
      parent.file(), joined(parent.path(), path), false);
  if (series.node_.id() < 0) series.node_.fail("cannot create dataset");
  return series;
}

Series Series::open(const Node& parent, const std::string& path, hid_t type) {
  Series series;
  series.type_ = type;
  series.node_ = parent.open(path);
  series.shape_ = series.node_.shape();
  if (series.shape_.empty())
    throw UserError(fmt::format("{}: {} is not a series", parent.file(), series.node_.path()));
  return series;
}

namespace {

/// HDF5 1.10 crashes where an allocation of its own fails: std::bad_alloc before it comes to that.
void expect_memory(hsize_t bytes) {
  std::vector<std::byte> probe;
  probe.reserve(std::size_t(bytes));
  asm volatile("" : : "r"(probe.data()) : "memory");  // not to be left out
}

}  // namespace

void Series::append(const void* rows, hsize_t n) {
  PERRIN_ASSERT(!shape_.empty());  // made or opened
  hsize_t bytes = n * H5Tget_size(type_);
  for (std::size_t axis = 1; axis < shape_.size(); ++axis) bytes *= shape_[axis];
  constexpr hsize_t conversion = 1 << 21;  // buffers of HDF5's own
  if (bytes > 65536) expect_memory(2 * bytes + conversion);
  Shape start(shape_.size(), 0), extent = shape_;
  start[0] = shape_[0];
  extent[0] = n;
  shape_[0] += n;
  if (H5Dset_extent(node_.id(), shape_.data()) < 0) node_.fail("cannot extend");
  const Hid space(H5Dget_space(node_.id())), memory = simple_space(extent);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) <
          0 ||
      H5Dwrite(node_.id(), type_, memory, space, H5P_DEFAULT, rows) < 0)
    node_.fail("cannot write");
}

void Series::truncate(std::int64_t size) {
  // Where power was lost, the index may know of chunks that lie beyond the extent; rows that are
  // appended later must not find them.
  const Hid space(H5Dget_space(node_.id())), layout(H5Dget_create_plist(node_.id()));
  hsize_t chunks = 0;
  if (H5Pget_layout(layout) == H5D_CHUNKED) {
    // This goes through all of the index: damage in it is noticed here.
    Shape first(shape_.size()), extent(shape_.size());
    if (H5Dget_num_chunks(node_.id(), space, &chunks) < 0 ||
        H5Pget_chunk(layout, int(extent.size()), extent.data()) < 0 ||
        (chunks > 0 && H5Dget_chunk_info(node_.id(), space, chunks - 1, first.data(), nullptr,
                                         nullptr, nullptr) < 0))
      node_.fail("cannot read the positions of the rows of");
    if (chunks > 0 && first[0] + extent[0] > shape_[0] && first[0] >= hsize_t(size)) {
      shape_[0] = first[0] + extent[0];
      if (H5Dset_extent(node_.id(), shape_.data()) < 0) node_.fail("cannot trim");
    }
  }
  if (shape_[0] == hsize_t(size)) return;
  shape_[0] = hsize_t(size);
  if (H5Dset_extent(node_.id(), shape_.data()) < 0) node_.fail("cannot trim");
}

void Series::flush() {
  if (H5Dflush(node_.id()) < 0) node_.fail("cannot write");
}

File File::open(const std::string& path, unsigned flags, bool steady, bool gather) {
  silence_hdf5();
  File file;
  file.path_ = path;
  file.reading_ = flags == H5F_ACC_RDONLY;
  file.gather_ = gather;
  const bool creating = flags & H5F_ACC_CREAT;
  if (steady && !creating) finish_changes(path);
  const Hid access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access, H5F_CLOSE_WEAK);
  if (steady) {
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    // Else a damaged block is read 100 times in single-writer mode, with a wait twice as long each
    // time. There is no other writer: once is enough.
    H5Pset_metadata_read_attempts(access, 1);
  }
  if (set_steady_driver(access, gather) < 0)
    throw RunError("HDF5 does not accept the file driver for " + path);
  // Metadata in pages of the operating system: a block that lies in one page is written whole or
  // not at all, also when the process is killed in the middle of the system call.
  const Hid layout(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_file_space_strategy(layout, H5F_FSPACE_STRATEGY_PAGE, false, 1);
  H5Pset_file_space_page_size(layout, 4096);
  take_driver_error();
  struct stat status {};
  if (!creating && ::stat(path.c_str(), &status) != 0) {
    const std::string what = fmt::format("{}: cannot open as HDF5: {}", path, std::strerror(errno));
    if (flags & H5F_ACC_SWMR_WRITE) throw RunError(what);  // it was there a moment ago
    throw UserError(what);
  }
  file.id_ = Hid(creating ? H5Fcreate(path.c_str(), H5F_ACC_EXCL, layout, access)
                          : H5Fopen(path.c_str(), flags, access));
  if (file.id_ < 0)
    fail(path, file.reading_, creating ? "cannot create the file" : "cannot open as HDF5");
  file.root_ = Node(Hid(H5Gopen2(file.id_, "/", H5P_DEFAULT)), path, "/", file.reading_);
  if (file.root_.id() < 0) file.root_.fail("cannot open");
  if (steady) file.state_ = steady_state(file.id_);
  if (steady && !file.state_) file.root_.fail("HDF5 has lost the file driver of");
  return file;
}

File File::create(const std::string& path) { return open(path, H5F_ACC_CREAT, true); }
File File::read(const std::string& path) { return open(path, H5F_ACC_RDONLY, false); }
File File::modify(const std::string& path) { return open(path, H5F_ACC_RDWR, true, true); }

File File::append(const std::string& path) {
  File file = open(path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, true);
  file.watched_ = watch_output_file(path, file.state_);
  return file;
}

void File::check_state() const {
  const bool failed = std::exchange(close_failed, false);
  if (state_ && state_->error != 0)
    throw RunError(fmt::format("{}: cannot write: {}", path_, std::strerror(state_->error)));
  if (failed && !reading_)
    throw RunError(fmt::format("{}: cannot close an object in it: {}", path_, hdf5_reason()));
}

void File::flush(bool to_disk) {
  if (H5Fflush(id_, H5F_SCOPE_GLOBAL) < 0) root_.fail("cannot write");
  if (to_disk) sync_steady_file(id_);
  check_state();
}

void File::close() {
  root_ = Node();
  if (id_ < 0) return;
  take_driver_error();
  bool good = true;
  {
    const Hid id = std::exchange(id_, Hid());
    // Before the closing, which HDF5 may leave half done after a failure.
    good = reading_ || H5Fflush(id, H5F_SCOPE_GLOBAL) >= 0;
  }
  const std::string reason = good ? "" : hdf5_reason();
  check_state();
  if (!good) throw RunError(fmt::format("{}: cannot write: {}", path_, reason));
  if (state_ && state_->open)
    throw BugError(fmt::format("{}: an object was open when the file was closed", path_));
  if (gather_) make_changes(path_, state_->changes);
  if (!watched_) return;
  watched_.reset();
  if (const std::string wrong = what_is_wrong(path_, *state_); !wrong.empty())
    throw RunError(wrong);
}

File& File::operator=(File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(root_, other.root_);
  std::swap(path_, other.path_);
  std::swap(reading_, other.reading_);
  std::swap(gather_, other.gather_);
  std::swap(state_, other.state_);
  std::swap(watched_, other.watched_);
  return *this;
}

File::~File() {
  const bool appending = watched_ != nullptr;
  gather_ = false;  // without close() nothing is changed
  try {
    close();
  } catch (const std::exception& error) {
    // Otherwise its creation has failed already, and it is released.
    if (appending) remember_output_failure(error.what());
  }
}

}  // namespace perrin::io
