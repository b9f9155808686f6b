// GSD 2 with the schema hoomd: a header, data chunks, an index of them by (frame, name). Positions
// are relative to the middle of the box.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "engine/error.h"
#include "io/formats.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

constexpr std::uint64_t magic = 0x65DF65DF65DF65DF;
constexpr std::uint32_t version_2_0 = 2u << 16, schema_1_4 = (1u << 16) | 4;
constexpr std::size_t name_size = 64;

struct Header {
  std::uint64_t magic, index_location, index_entries, names_location, names_entries;
  std::uint32_t schema_version, gsd_version;
  char application[64], schema[64], reserved[80];
};
static_assert(sizeof(Header) == 256);

struct Entry {
  std::uint64_t frame, rows;
  std::int64_t location;
  std::uint32_t columns;
  std::uint16_t name;
  std::uint8_t type, flags;
};
static_assert(sizeof(Entry) == 32);

enum Type : std::uint8_t { u8 = 1, u16, u32, u64, i8, i16, i32, i64, f32, f64, character };
constexpr std::size_t type_size[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};

Vec3<double> middle(const Box& box) {
  const auto e = box.edges();
  Vec3<double> c = box.origin;
  for (const auto& edge : e) c += 0.5 * edge;
  if (box.dimension == 2) c.z = 0;
  return c;
}

class GsdReader : public FrameReader {
 public:
  explicit GsdReader(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_)
      throw UserError(fmt::format("{}: cannot open the file: {}", path, std::strerror(errno)));
    stream_.seekg(0, std::ios::end);
    size_ = std::uint64_t(stream_.tellg());
    if (size_ < sizeof(Header))
      throw UserError(
          fmt::format("{}: {} bytes, expected a GSD header of 256: truncated?", path, size_));
    Header header;
    get(0, &header, sizeof(header), "the header");
    if (header.magic != magic)
      throw UserError(path + ": not a GSD file of this machine's byte order");
    if (header.gsd_version >> 16 != 2 && header.gsd_version >> 16 != 1)
      throw UserError(fmt::format("{}: GSD version {}.{}, expected 2", path,
                                  header.gsd_version >> 16, header.gsd_version & 0xffff));
    if (std::string(header.schema, strnlen(header.schema, 64)) != "hoomd")
      throw UserError(fmt::format("{}: GSD schema \"{}\", expected \"hoomd\"", path,
                                  std::string(header.schema, strnlen(header.schema, 64))));
    check_block(header.names_location, header.names_entries, name_size, "the list of names");
    check_block(header.index_location, header.index_entries, sizeof(Entry), "the index");
    read_names(header);
    read_index(header);
  }

  std::int64_t frames() const override { return frames_; }

  Frame read(std::int64_t index) override {
    frame_ = std::uint64_t(index);
    Frame frame;
    Configuration& c = frame.configuration;
    if (const auto step = values<std::int64_t>("configuration/step", 1)) c.step = (*step)[0];
    c.box = read_box();
    const auto count = values<std::int64_t>("particles/N", 1);
    const auto n = count ? std::uint64_t((*count)[0]) : 0;
    if (n > size_) fail("particles/N", fmt::format("{} particles in a smaller file", n));
    first_n_equal_ = true;
    if (index > 0) {
      const auto first = values_at<std::int64_t>(0, "particles/N", 1);
      first_n_equal_ = first && std::uint64_t((*first)[0]) == n;
    }
    c.types = names("particles/types", {"A"});
    const auto position = values<double>("particles/position", 3 * n);
    if (!position && n > 0) fail("particles/position", "missing: expected positions");
    const Vec3<double> centre = middle(c.box);
    for (std::size_t i = 0; i < n; ++i)
      c.position.push_back(
          Vec3<double>{(*position)[3 * i], (*position)[3 * i + 1], (*position)[3 * i + 2]} +
          centre);
    c.type.assign(n, 0);
    if (const auto type = values<std::uint32_t>("particles/typeid", n)) c.type = *type;
    if (const auto v = values<double>("particles/velocity", 3 * n))
      for (std::size_t i = 0; i < n; ++i)
        c.velocity.push_back({(*v)[3 * i], (*v)[3 * i + 1], (*v)[3 * i + 2]});
    if (const auto v = values<std::int32_t>("particles/image", 3 * n))
      for (std::size_t i = 0; i < n; ++i)
        c.image.push_back({(*v)[3 * i], (*v)[3 * i + 1], (*v)[3 * i + 2]});
    if (const auto v = values<double>("particles/mass", n)) c.mass = *v;
    if (const auto v = values<double>("particles/charge", n)) c.charge = *v;
    if (const auto v = values<double>("particles/diameter", n)) c.diameter = *v;

    Topology& t = c.topology;
    const auto bonds = groups("bonds", 2, t.bond_types);
    for (const auto& g : bonds) t.bonds.push_back({g[1], g[2], g[0]});
    const auto angles = groups("angles", 3, t.angle_types);
    for (const auto& g : angles) t.angles.push_back({g[1], g[2], g[3], g[0]});
    for (const char* kind : {"dihedrals", "impropers", "constraints", "pairs"})
      if (const auto number = values<std::uint32_t>(std::string(kind) + "/N", 1);
          number && (*number)[0] > 0)
        c.left_out[kind] = (*number)[0];
    check_frame(c, fmt::format("{}, frame {}", path_, index));
    return frame;
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& what) const {
    throw UserError(fmt::format("{}: frame {}, {}: {}", path_, frame_, name, what));
  }

  void check_block(std::uint64_t at, std::uint64_t n, std::uint64_t bytes, const char* what) const {
    if (at > size_ || n > (size_ - at) / bytes)
      throw UserError(
          fmt::format("{}: {} ({} entries at byte {}) lies beyond the end of the file "
                      "({} bytes): truncated?",
                      path_, what, n, at, size_));
  }

  void get(std::uint64_t at, void* to, std::uint64_t bytes, const std::string& what) {
    stream_.clear();
    stream_.seekg(std::streamoff(at));
    if (!stream_.read(static_cast<char*>(to), std::streamsize(bytes)))
      throw UserError(fmt::format("{}: cannot read {} ({} bytes at byte {}): truncated?", path_,
                                  what, bytes, at));
  }

  void read_names(const Header& header) {
    std::vector<char> text(header.names_entries * name_size);
    get(header.names_location, text.data(), text.size(), "the list of names");
    // Version 1 gives every name 64 bytes; version 2 packs them.
    const bool packed = header.gsd_version >> 16 == 2;
    for (std::size_t at = 0; at < text.size() && text[at] != '\0';) {
      const std::size_t length = strnlen(text.data() + at, text.size() - at);
      names_.emplace_back(text.data() + at, length);
      at += packed ? length + 1 : name_size;
    }
  }

  void read_index(const Header& header) {
    std::vector<Entry> index(header.index_entries);
    get(header.index_location, index.data(), index.size() * sizeof(Entry), "the index");
    for (const Entry& e : index) {
      if (e.location == 0) break;
      if (e.name >= names_.size() || e.type < u8 || e.type > character)
        throw UserError(fmt::format("{}: damaged index (name {}, type {})", path_, e.name, e.type));
      entries_[{e.frame, names_[e.name]}] = e;
      frames_ = std::max(frames_, std::int64_t(e.frame) + 1);
    }
    if (frames_ == 0) throw UserError(path_ + ": no frames");
  }

  const Entry* find(std::uint64_t frame, const std::string& name) const {
    const auto it = entries_.find({frame, name});
    return it == entries_.end() ? nullptr : &it->second;
  }

  template <class T>
  std::optional<std::vector<T>> values_at(std::uint64_t frame, const std::string& name,
                                          std::uint64_t count) {
    const Entry* e = find(frame, name);
    if (e == nullptr) return std::nullopt;
    if (e->rows * e->columns != count)
      fail(name, fmt::format("{} × {} values, expected {}", e->rows, e->columns, count));
    std::vector<char> bytes(count * type_size[e->type]);
    if (bytes.size() > size_) fail(name, "larger than the file");
    get(std::uint64_t(e->location), bytes.data(), bytes.size(), name);
    std::vector<T> out(count);
    const auto convert = [&]<class From>(From) {
      for (std::size_t k = 0; k < count; ++k) {
        From value;
        std::memcpy(&value, bytes.data() + k * sizeof(From), sizeof(From));
        out[k] = static_cast<T>(value);
      }
    };
    switch (e->type) {
      case u8:
        convert(std::uint8_t());
        break;
      case u16:
        convert(std::uint16_t());
        break;
      case u32:
        convert(std::uint32_t());
        break;
      case u64:
        convert(std::uint64_t());
        break;
      case i8:
        convert(std::int8_t());
        break;
      case i16:
        convert(std::int16_t());
        break;
      case i32:
        convert(std::int32_t());
        break;
      case i64:
        convert(std::int64_t());
        break;
      case f32:
        convert(float());
        break;
      case f64:
        convert(double());
        break;
      default:
        convert(char());
        break;
    }
    return out;
  }

  /// Of this frame, else of frame 0 as long as the number of particles is the same.
  template <class T>
  std::optional<std::vector<T>> values(const std::string& name, std::uint64_t count) {
    const bool per_particle = name.starts_with("particles/") && name != "particles/N";
    if (find(frame_, name) != nullptr) return values_at<T>(frame_, name, count);
    if (per_particle && !first_n_equal_) return std::nullopt;
    return values_at<T>(0, name, count);
  }

  Box read_box() {
    Box box;
    const auto b = values<double>("configuration/box", 6);
    if (!b) fail("configuration/box", "missing: expected Lx, Ly, Lz, xy, xz, yz");
    box.length = {(*b)[0], (*b)[1], (*b)[2]};
    box.xy = (*b)[3] * box.length.y;
    box.xz = (*b)[4] * box.length.z;
    box.yz = (*b)[5] * box.length.z;
    if (const auto d = values<std::int64_t>("configuration/dimensions", 1))
      box.dimension = int((*d)[0]);
    if (box.dimension != 2 && box.dimension != 3)
      fail("configuration/dimensions", fmt::format("{}, expected 2 or 3", box.dimension));
    if (box.dimension == 2) box.length.z = 1, box.xz = 0, box.yz = 0;
    for (int axis = 0; axis < 3; ++axis)
      box.origin[axis] =
          -0.5 * (box.edges()[0][axis] + box.edges()[1][axis] + box.edges()[2][axis]);
    return box;
  }

  std::vector<std::string> names(const std::string& chunk, std::vector<std::string> otherwise) {
    const Entry* e = find(frame_, chunk);
    if (e == nullptr) e = find(0, chunk);
    if (e == nullptr) return otherwise;
    const auto text = values<char>(chunk, e->rows * e->columns);
    std::vector<std::string> list;
    for (std::size_t k = 0; k < e->rows; ++k) {
      const char* at = text->data() + k * e->columns;
      list.emplace_back(at, strnlen(at, e->columns));
    }
    return list;
  }

  /// Rows of type, member, member, …
  std::vector<std::array<std::uint32_t, 4>> groups(const std::string& kind, std::size_t width,
                                                   std::vector<std::string>& types) {
    const auto count = values<std::int64_t>(kind + "/N", 1);
    if (!count || (*count)[0] <= 0) return {};
    const auto n = std::uint64_t((*count)[0]);
    if (n > size_) fail(kind + "/N", fmt::format("{} in a smaller file", n));
    types = names(kind + "/types", {});
    const auto members = values<std::uint32_t>(kind + "/group", width * n);
    if (!members) fail(kind + "/group", "missing");
    const auto type = values<std::uint32_t>(kind + "/typeid", n);
    std::vector<std::array<std::uint32_t, 4>> list(n);
    for (std::size_t k = 0; k < n; ++k) {
      list[k] = {type ? (*type)[k] : 0, 0, 0, 0};
      for (std::size_t m = 0; m < width; ++m) list[k][m + 1] = (*members)[width * k + m];
    }
    return list;
  }

  std::string path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, frame_ = 0;
  std::vector<std::string> names_;
  std::map<std::pair<std::uint64_t, std::string>, Entry> entries_;
  std::int64_t frames_ = 0;
  bool first_n_equal_ = true;
};

class GsdWriter : public FrameWriter {
 public:
  GsdWriter(const std::string& path, const Frame& first) : out_(path) {
    for (bool periodic : first.configuration.box.periodic)
      if (!periodic) throw UserError(path + ": GSD knows no axes that are not periodic");
    const Header empty{};
    out_.put(&empty, sizeof(empty));
  }

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    const std::size_t n = c.position.size();
    const std::uint64_t step = std::uint64_t(c.step);
    put("configuration/step", u64, 1, 1, &step);
    const Box& b = c.box;
    const bool flat = b.dimension == 2;
    const float box[6] = {
        float(b.length.x),        float(b.length.y),        flat ? 0.0f : float(b.length.z),
        float(b.xy / b.length.y), float(b.xz / b.length.z), float(b.yz / b.length.z)};
    const auto dimension = std::uint8_t(b.dimension);
    put("configuration/dimensions", u8, 1, 1, &dimension);
    put("configuration/box", f32, 6, 1, box);
    const auto count = std::uint32_t(n);
    put("particles/N", u32, 1, 1, &count);
    put_names("particles/types", c.types);
    put("particles/typeid", u32, n, 1, c.type.data());
    const Vec3<double> centre = middle(b);
    std::vector<float> values;
    for (const auto& r : c.position)
      for (int axis = 0; axis < 3; ++axis) values.push_back(float(r[axis] - centre[axis]));
    put("particles/position", f32, n, 3, values.data());
    if (!c.velocity.empty()) {
      values.clear();
      for (const auto& v : c.velocity)
        for (int axis = 0; axis < 3; ++axis) values.push_back(float(v[axis]));
      put("particles/velocity", f32, n, 3, values.data());
    }
    if (!c.image.empty()) put("particles/image", i32, n, 3, c.image.data());
    put_floats("particles/mass", c.mass);
    put_floats("particles/charge", c.charge);
    put_floats("particles/diameter", c.diameter);
    const Topology& t = c.topology;
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
    ++frame_;
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
  void put(const std::string& name, Type type, std::size_t rows, std::size_t columns,
           const void* data) {
    const std::uint16_t id = std::uint16_t(index_of(names_, name));
    if (rows == 0) return;
    index_.push_back({frame_, rows, out_.tell(), std::uint32_t(columns), id, type, 0});
    out_.put(data, rows * columns * type_size[type]);
  }
  void put_floats(const std::string& name, const std::vector<double>& values) {
    const std::vector<float> floats(values.begin(), values.end());
    if (!floats.empty()) put(name, f32, floats.size(), 1, floats.data());
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
    if (n == 0) return;
    put(kind + "/N", u32, 1, 1, &n);
    put_names(kind + "/types", names);
    put(kind + "/typeid", u32, n, 1, types.data());
    put(kind + "/group", u32, n, width, members.data());
  }

  TextFile out_;
  std::vector<std::string> names_;
  std::vector<Entry> index_;
  std::uint64_t frame_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_gsd(const std::string& path) {
  return std::make_unique<GsdReader>(path);
}
std::unique_ptr<FrameWriter> write_gsd(const std::string& path, const Frame& first) {
  return std::make_unique<GsdWriter>(path, first);
}

}  // namespace perrin::io
