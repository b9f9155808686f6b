#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/core/error.h"
#include "io/formats.h"
#include "io/gsd_layout.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

using namespace gsd;

/// Single precision, which is what GSD holds; `what` and the particle where that is too small.
std::vector<float> floats(const std::vector<double>& values, const std::string& path,
                          const char* what, std::size_t per_particle = 1) {
  std::vector<float> out(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    out[k] = float(values[k]);
    if (!std::isfinite(out[k]))
      throw UserError(fmt::format("{}: {} {} of particle {} does not fit a number of 32 bits", path,
                                  what, values[k], k / per_particle));
  }
  return out;
}

std::vector<double> flat(const std::vector<Vec3<double>>& values, Vec3<double> origin = {}) {
  std::vector<double> out;
  for (const auto& v : values)
    for (int axis = 0; axis < 3; ++axis) out.push_back(v[axis] - origin[axis]);
  return out;
}

class GsdWriter : public FrameWriter {
 public:
  explicit GsdWriter(const std::string& path) : path_(path), out_(path) {
    const Header empty{};
    out_.put(&empty, sizeof(empty));
  }

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    const std::size_t n = c.position.size();
    if (c.step < 0)
      throw UserError(fmt::format("{}: GSD has no steps below 0, got {}", path_, c.step));
    const std::uint64_t step = std::uint64_t(c.step);
    put("configuration/step", u64, 1, 1, &step);
    write_box(c.box);
    const auto count = std::uint32_t(n);
    put("particles/N", u32, 1, 1, &count);
    put_names("particles/types", c.types);
    put("particles/typeid", u32, n, 1, c.type.data());
    const auto position = floats(flat(c.position, middle(c.box)), path_, "coordinate", 3);
    put("particles/position", f32, n, 3, position.data());
    if (c.velocity.empty() && in_first("particles/velocity"))
      throw UserError(
          fmt::format("{}: step {} has no velocities, but the first frame has: GSD cannot say so",
                      path_, c.step));
    put_floats("particles/velocity", flat(c.velocity), 3);
    if (!c.image.empty() || in_first("particles/image")) {
      std::vector<Image> image = c.image;
      image.resize(n, Image{});
      put("particles/image", i32, n, 3, image.data());
    }
    put_floats("particles/mass", or_default("particles/mass", c.mass, n, 1));
    put_floats("particles/charge", or_default("particles/charge", c.charge, n, 0));
    put_floats("particles/diameter", or_default("particles/diameter", c.diameter, n, 1));
    write_topology(c.topology);
    if (frame_++ == 0) first_names_ = names_.size();
  }
  void finish() override {
    Header header{};
    header.magic = magic;
    header.gsd_version = version_2_0;
    header.schema_version = schema_1_4;
    std::strncpy(header.application, "Perrin", sizeof(header.application) - 1);
    std::strncpy(header.schema, "hoomd", sizeof(header.schema) - 1);
    std::string names;
    for (const std::string& name : names_) names += name + '\0';
    header.names_entries = names.size() / name_size + 1;  // at least one NUL follows the last
    names.resize(header.names_entries * name_size, '\0');
    header.names_location = std::uint64_t(out_.tell());
    out_.put(names);
    // Readers search the index: it is in the order of (frame, name).
    std::ranges::stable_sort(index_, [](const Entry& a, const Entry& b) {
      return std::pair(a.frame, a.name) < std::pair(b.frame, b.name);
    });
    index_.push_back(Entry{});
    header.index_location = std::uint64_t(out_.tell());
    header.index_entries = index_.size();
    out_.put(index_.data(), index_.size() * sizeof(Entry));
    out_.seek(0);
    out_.put(&header, sizeof(header));
    out_.close();
  }

 private:
  void write_box(const Box& b) {
    for (std::size_t axis = 0; axis < std::size_t(b.dimension); ++axis)
      if (!b.periodic[axis]) throw UserError(path_ + ": GSD knows no axes that are not periodic");
    const bool flat_box = b.dimension == 2;
    const auto box = floats({b.length.x, b.length.y, flat_box ? 0.0 : b.length.z, b.xy / b.length.y,
                             b.xz / b.length.z, b.yz / b.length.z},
                            path_, "the box: number");
    const auto dimension = std::uint8_t(b.dimension);
    put("configuration/dimensions", u8, 1, 1, &dimension);
    put("configuration/box", f32, 6, 1, box.data());
  }

  void write_topology(const Topology& t) {
    std::vector<std::uint32_t> members, types;
    for (const auto& bond : t.bonds) {
      members.insert(members.end(), {bond.a, bond.b});
      types.push_back(bond.type);
    }
    put_groups("bonds", t.bond_types, types, members, 2);
    members.clear(), types.clear();
    for (const auto& angle : t.angles) {
      members.insert(members.end(), {angle.a, angle.b, angle.c});
      types.push_back(angle.type);
    }
    put_groups("angles", t.angle_types, types, members, 3);
    const auto torsions = [&](const char* kind, const std::vector<std::string>& names,
                              const std::vector<Topology::Dihedral>& list) {
      members.clear(), types.clear();
      for (const auto& g : list) {
        members.insert(members.end(), {g.a, g.b, g.c, g.d});
        types.push_back(g.type);
      }
      put_groups(kind, names, types, members, 4);
    };
    torsions("dihedrals", t.dihedral_types, t.dihedrals);
    torsions("impropers", t.improper_types, t.impropers);
  }

  /// What frame 0 has is taken for every later frame that is silent: those that have nothing of it
  /// must say so.
  bool in_first(const std::string& name) const {
    return std::find(names_.begin(), names_.begin() + std::ptrdiff_t(first_names_), name) !=
           names_.begin() + std::ptrdiff_t(first_names_);
  }
  std::vector<double> or_default(const std::string& name, const std::vector<double>& values,
                                 std::size_t n, double otherwise) const {
    if (!values.empty() || !in_first(name)) return values;
    return std::vector<double>(n, otherwise);
  }

  void put(const std::string& name, Type type, std::size_t rows, std::size_t columns,
           const void* data) {
    if (rows == 0) return;
    const std::uint16_t id = std::uint16_t(index_of(names_, name));
    index_.push_back({frame_, rows, out_.tell(), std::uint32_t(columns), id, type, 0});
    out_.put(data, rows * columns * type_size[type]);
  }
  void put_floats(const std::string& name, const std::vector<double>& values,
                  std::size_t columns = 1) {
    const auto numbers = floats(values, path_, name.c_str(), columns);
    put(name, f32, numbers.size() / columns, columns, numbers.data());
  }
  void put_names(const std::string& name, const std::vector<std::string>& list) {
    std::size_t width = 1;
    for (const auto& text : list) width = std::max(width, text.size() + 1);
    std::vector<char> bytes(width * list.size(), '\0');
    for (std::size_t k = 0; k < list.size(); ++k)
      std::memcpy(bytes.data() + k * width, list[k].data(), list[k].size());
    put(name, i8, list.size(), width, bytes.data());
  }
  void put_groups(const std::string& kind, const std::vector<std::string>& names,
                  const std::vector<std::uint32_t>& types,
                  const std::vector<std::uint32_t>& members, std::size_t width) {
    const auto n = std::uint32_t(types.size());
    if (n > 0 || in_first(kind + "/N")) put(kind + "/N", u32, 1, 1, &n);
    if (n == 0) return;
    put_names(kind + "/types", names);
    put(kind + "/typeid", u32, n, 1, types.data());
    put(kind + "/group", u32, n, width, members.data());
  }

  std::string path_;
  TextFile out_;
  std::vector<std::string> names_;
  std::size_t first_names_ = 0;  // so many of them are of frame 0
  std::vector<Entry> index_;
  std::uint64_t frame_ = 0;
};

}  // namespace

std::unique_ptr<FrameWriter> write_gsd(const std::string& path, const Frame&, const WriteOptions&) {
  return std::make_unique<GsdWriter>(path);
}

}  // namespace perrin::io
