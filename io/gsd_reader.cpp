#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "io/file_attributes.h"
#include "io/file_orientations.h"
#include "io/formats.h"
#include "io/gsd_layout.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

using namespace gsd;

class GsdReader : public FrameReader {
 public:
  explicit GsdReader(const std::string& path) : FrameReader(path), stream_(path, std::ios::binary) {
    if (!stream_)
      throw UserError(fmt::format("{}: cannot open the file: {}", path, std::strerror(errno)));
    look_at_size();
    if (size_ < sizeof(Header))
      throw UserError(
          fmt::format("{}: {} bytes, expected a GSD header of 256: truncated?", path, size_));
    Header header;
    get(0, &header, sizeof(header), "the header");
    look_at_size();
    if (header.magic != magic)
      throw UserError(path + ": not a GSD file of this machine's byte order");
    if (header.gsd_version >> 16 != 2 && header.gsd_version >> 16 != 1)
      throw UserError(fmt::format("{}: GSD version {}.{}, expected 2", path,
                                  header.gsd_version >> 16, header.gsd_version & 0xffff));
    if (std::string(header.schema, strnlen(header.schema, 64)) != "hoomd")
      throw UserError(fmt::format("{}: GSD schema \"{}\", expected \"hoomd\"", path,
                                  std::string(header.schema, strnlen(header.schema, 64))));
    if (const auto schema = header.schema_version >> 16; schema != 1 && schema != 2)
      throw UserError(fmt::format("{}: version {}.{} of the schema hoomd, expected 1 or 2", path,
                                  schema, header.schema_version & 0xffff));
    check_block(header.names_location, header.names_entries, name_size, "the list of names");
    check_block(header.index_location, header.index_entries, sizeof(Entry), "the index");
    read_names(header);
    read_index(header);
    look_at_size();  // a run may append frames meanwhile, and what the index names is there
  }

  std::int64_t frames() const override { return frames_; }

 protected:
  Frame get(std::int64_t index) override {
    frame_ = std::uint64_t(index);
    Frame frame;
    Configuration& c = frame.configuration;
    frame.has_step = true;  // 0, where none is written
    if (const auto step = values<std::int64_t>("configuration/step", 1)) c.step = (*step)[0];
    if (find(frame_, time_chunk) != nullptr)
      frame.time = (*values_at<double>(frame_, time_chunk, 1))[0];
    c.box = read_box();
    const std::size_t n = number("particles/N", false);
    first_n_equal_ = n == number("particles/N", true);
    c.types = names("particles/types", {"A"});
    c.position = vectors<double>("position", n);
    // Chunks that are equal to their default are left out of a file; so for the rest of them.
    if (c.position.empty()) c.position.resize(n);
    const Vec3<double> centre = middle(c.box);
    for (auto& r : c.position) r += centre;
    c.type.assign(n, 0);
    if (auto type = of_particles<std::uint32_t>("typeid", n)) c.type = std::move(*type);
    c.velocity = vectors<double>("velocity", n);
    c.image = vectors<std::int32_t>("image", n);
    c.mass.assign(n, 1.0);
    if (auto v = of_particles<double>("mass", n)) c.mass = std::move(*v);
    if (auto v = of_particles<double>("charge", n)) c.charge = std::move(*v);
    if (auto v = of_particles<double>("diameter", n)) c.diameter = std::move(*v);
    frame.fine = in_double("particles/position");
    frame.fine_velocity = in_double("particles/velocity");
    read_attributes(c, n);
    read_orientations(c, n);

    Topology& t = c.topology;
    const auto bonds = groups("bonds", 2, t.bond_types);
    for (const auto& g : bonds) t.bonds.push_back({g[1], g[2], g[0]});
    const auto angles = groups("angles", 3, t.angle_types);
    for (const auto& g : angles) t.angles.push_back({g[1], g[2], g[3], g[0]});
    const auto torsions = [&](const char* kind, std::vector<std::string>& types, auto& list) {
      for (const auto& g : groups(kind, 4, types)) list.push_back({g[1], g[2], g[3], g[4], g[0]});
    };
    torsions("dihedrals", t.dihedral_types, t.dihedrals);
    torsions("impropers", t.improper_types, t.impropers);
    for (const char* kind : {"constraints", "pairs"})
      if (const std::uint64_t left = number(std::string(kind) + "/N", false); left > 0)
        c.left_out[kind] = std::int64_t(left);
    read_bodies(c);
    warn_of_the_rest(c);
    for (const auto& [name, id] : ids_)
      if (name.starts_with("log/") && !name.starts_with("log/perrin/") && !is_own_log(name)) {
        frame.dropped.emplace_back(
            "logged values (log/...) are left out, other than log/particles/NAME");
        break;
      }
    return frame;
  }

 private:
  void look_at_size() {
    stream_.clear();
    stream_.seekg(0, std::ios::end);
    size_ = std::uint64_t(stream_.tellg());
  }

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
    std::uint32_t id = 0;
    for (std::size_t at = 0; at < text.size() && text[at] != '\0'; ++id) {
      const std::size_t length = strnlen(text.data() + at, text.size() - at);
      const std::string name(text.data() + at, length);
      if (!ids_.emplace(name, id).second)
        throw UserError(fmt::format("{}: the name {} occurs twice", path_, in_quotes(name)));
      at += packed ? length + 1 : name_size;
    }
  }

  void read_index(const Header& header) {
    std::vector<Entry> index(header.index_entries);
    get(header.index_location, index.data(), index.size() * sizeof(Entry), "the index");
    for (const Entry& e : index) {
      if (e.location == 0) break;
      if (e.name >= ids_.size() || e.type < u8 || e.type > character)
        throw UserError(fmt::format("{}: damaged index (name {}, type {})", path_, e.name, e.type));
      // Every frame has a chunk of its own (its step, at least).
      if (e.frame >= header.index_entries)
        throw UserError(fmt::format("{}: damaged index (frame {} among {} entries)", path_, e.frame,
                                    header.index_entries));
      if (!entries_.emplace(std::pair(e.frame, e.name), e).second)
        throw UserError(fmt::format("{}: damaged index (name {} occurs twice in frame {})", path_,
                                    e.name, e.frame));
      frames_ = std::max(frames_, std::int64_t(e.frame) + 1);
    }
    if (frames_ == 0) throw UserError(path_ + ": no frames");
  }

  const Entry* find(std::uint64_t frame, const std::string& name) const {
    const auto id = ids_.find(name);
    if (id == ids_.end()) return nullptr;
    const auto it = entries_.find({frame, std::uint16_t(id->second)});
    return it == entries_.end() ? nullptr : &it->second;
  }

  /// How many values a chunk has, all of them inside of the file.
  std::uint64_t elements(const Entry& e, const std::string& name) const {
    std::uint64_t n = 0;
    if (__builtin_mul_overflow(e.rows, std::uint64_t(e.columns), &n) || e.location < 0 ||
        std::uint64_t(e.location) > size_ ||
        n > (size_ - std::uint64_t(e.location)) / type_size[e.type])
      fail(name, fmt::format("{} × {} values at byte {} of a file of {} bytes: truncated?", e.rows,
                             e.columns, e.location, size_));
    return n;
  }

  template <class T, class From>
  T converted(From value, const std::string& name) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>) {
      if constexpr (std::is_floating_point_v<From>)
        fail(name, "floating-point numbers, expected integers");
      else if (!std::in_range<T>(std::int64_t(value)) ||
               (std::is_same_v<From, std::uint64_t> && std::int64_t(value) < 0))
        fail(name, fmt::format("the value {}, expected {} to {}", value,
                               std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    return static_cast<T>(value);
  }

  template <class T>
  std::optional<std::vector<T>> values_at(std::uint64_t frame, const std::string& name,
                                          std::uint64_t count) {
    const Entry* e = find(frame, name);
    if (e == nullptr) return std::nullopt;
    if (elements(*e, name) != count)
      fail(name, fmt::format("{} × {} values, expected {}", e->rows, e->columns, count));
    std::vector<char> bytes(count * type_size[e->type]);
    get(std::uint64_t(e->location), bytes.data(), bytes.size(), name);
    std::vector<T> out(count);
    const auto convert = [&]<class From>(From) {
      for (std::size_t k = 0; k < count; ++k) {
        From value;
        std::memcpy(&value, bytes.data() + k * sizeof(From), sizeof(From));
        out[k] = converted<T>(value, name);
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

  bool in_double(const std::string& name) const {
    const Entry* e = find(frame_, name);
    if (e == nullptr) e = find(0, name);
    return e != nullptr && e->type == f64;
  }

  /// Of this frame, else of frame 0 where both have `equal` numbers of particles (bonds, …).
  template <class T>
  std::optional<std::vector<T>> values(const std::string& name, std::uint64_t count,
                                       bool equal = true) {
    if (find(frame_, name) != nullptr) return values_at<T>(frame_, name, count);
    if (!equal) return std::nullopt;
    return values_at<T>(0, name, count);
  }
  template <class T>
  std::optional<std::vector<T>> of_particles(const std::string& name, std::uint64_t count) {
    return values<T>("particles/" + name, count, first_n_equal_);
  }

  /// The number of particles or bonds at a frame, else of frame 0, else 0.
  std::uint64_t number(const std::string& name, bool first) {
    const auto count = first ? values_at<std::int64_t>(0, name, 1) : values<std::int64_t>(name, 1);
    const std::int64_t n = count ? (*count)[0] : 0;
    if (n < 0 || std::uint64_t(n) > size_)
      fail(name, fmt::format("{} in a file of {} bytes", n, size_));
    return std::uint64_t(n);
  }

  template <class T>
  std::vector<Vec3<T>> vectors(const std::string& name, std::size_t n) {
    const auto v = of_particles<T>(name, 3 * n);
    std::vector<Vec3<T>> out(v ? n : 0);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {(*v)[3 * i], (*v)[3 * i + 1], (*v)[3 * i + 2]};
    return out;
  }

  /// log/particles/NAME, and no longer path, as those of HOOMD-blue's own quantities are.
  static bool is_own_log(const std::string& name) {
    return name.starts_with(particle_logs) &&
           name.find('/', particle_logs.size()) == std::string::npos;
  }
  void read_attributes(Configuration& c, std::size_t n) {
    std::uint64_t bytes = 0;
    for (const auto& [name, ignored] : ids_) {
      if (!is_own_log(name)) continue;
      const Entry* e = find(frame_, name);
      if (e == nullptr && first_n_equal_) e = find(0, name);
      if (e == nullptr) continue;
      // So that memory is in proportion to the file, also where chunks lie upon one another.
      if ((bytes += n * type_size[e->type]) > size_)
        fail(name, fmt::format("logged quantities of {} bytes in a file of {}", bytes, size_));
      if (e->rows != n || e->columns != 1 || e->type == character)
        warn_unread(c, name,
                    fmt::format("{} × {} {}, expected {} × 1 numbers", e->rows, e->columns,
                                e->type == character ? "letters" : "numbers", n));
      else if (name == id_chunk)
        read_ids(c, *e, n);
      else
        take_attribute(c, name.substr(particle_logs.size()), name,
                       *values_at<double>(e->frame, name, n));
    }
  }
  /// Of particles that are a part of a system.
  void read_ids(Configuration& c, const Entry& e, std::size_t n) {
    if (e.type != f32 && e.type != f64) c.id = *values_at<std::uint32_t>(e.frame, id_chunk, n);
    if (!c.id.empty() &&
        std::ranges::adjacent_find(c.id, std::ranges::greater_equal()) == c.id.end())
      return;
    c.id.clear();
    c.warnings.push_back(id_chunk +
                         " is not read: expected the ids of the particles, in ascending order");
  }

  /// Where all frames have what is usual (1, 0, 0, 0; moments and momenta of 0), particles have
  /// none.
  void read_orientations(Configuration& c, std::size_t n) {
    const bool turned = unusual("orientation", {1, 0, 0, 0}),
               turning = unusual("angmom", {0, 0, 0, 0}),
               massive = unusual("moment_inertia", {0, 0, 0});
    if (!turned && !turning && !massive) return;
    c.orientation.resize(n);
    if (const auto q = of_particles<double>("orientation", 4 * n))
      for (std::size_t i = 0; i < n; ++i)
        c.orientation[i] = {(*q)[4 * i + 1], (*q)[4 * i + 2], (*q)[4 * i + 3], (*q)[4 * i]};
    if (massive) {
      c.moment_of_inertia = vectors<double>("moment_inertia", n);
      c.moment_of_inertia.resize(n);
    }
    if (!turning) return;
    c.angular_momentum.resize(n);
    if (const auto p = of_particles<double>("angmom", 4 * n))
      for (std::size_t i = 0; i < n; ++i)
        c.angular_momentum[i] = own_angular_momentum(
            c.orientation[i], {(*p)[4 * i], (*p)[4 * i + 1], (*p)[4 * i + 2], (*p)[4 * i + 3]});
  }
  /// Whether any frame has other values of particles than the usual one. So all frames of a file
  /// have orientations, or none.
  bool unusual(const std::string& name, const std::vector<double>& usual) {
    const auto known = unusual_.find(name);
    if (known != unusual_.end()) return known->second;
    const std::string chunk = "particles/" + name;
    const auto id = ids_.find(chunk);
    bool found = false;
    std::uint64_t bytes = 0;
    for (const auto& [place, e] : entries_) {
      if (id == ids_.end() || found) break;
      if (place.second != id->second) continue;
      const std::uint64_t count = elements(e, chunk);
      if ((bytes += count * type_size[e.type]) > size_)
        fail(chunk, fmt::format("chunks of {} bytes and more in a file of {}: they overlap", bytes,
                                size_));
      const auto values = *values_at<double>(place.first, chunk, count);
      for (std::size_t k = 0; k < values.size() && !found; ++k)
        found = values[k] != usual[k % usual.size()];
    }
    return unusual_[name] = found;
  }

  /// Of HOOMD-blue: of each particle the number of its body's centre, which has its own; -1 (or
  /// less, for groups that are not rigid): in none.
  void read_bodies(Configuration& c) {
    const std::size_t n = c.position.size();
    const auto body = of_particles<double>("body", n);
    if (!body) return;
    std::vector<std::uint32_t> center(n, Topology::no_body);
    std::size_t within = 0, floppy = 0, wrong = n;
    for (std::size_t i = 0; i < n; ++i) {
      const double b = (*body)[i];
      if (b < 0) {
        if (b != -1) ++floppy;
        continue;
      }
      ++within;
      if (b < double(n) && (*body)[std::size_t(b)] == b)
        center[i] = std::uint32_t(b);
      else
        wrong = std::min(wrong, i);
    }
    if (wrong < n)
      c.warnings.push_back(fmt::format(
          "the rigid bodies of {} particles (particles/body) are left out: particle {} has {}, "
          "which is no particle that is a centre; expected -1 for particles in no body, and the "
          "number of a particle that has its own number for all others",
          within, wrong, (*body)[wrong]));
    else if (within > 0 || floppy == 0)  // all -1: said, by a file that has it, of each particle
      c.topology.body = std::move(center);
    if (floppy > 0)
      c.warnings.push_back(fmt::format(
          "{} particles have less than -1 in particles/body, groups that are not rigid: they are "
          "in no body, and forces within their groups are not left out; \"exclusions\" of "
          "\"neighbors\" leave out those along bonds",
          floppy));
  }

  /// What particles have besides, and Perrin has no place for.
  void warn_of_the_rest(Configuration& c) {
    for (const std::string& shape : names("particles/type_shapes", {}))
      if (!shape.empty() && shape != "{}") {
        c.warnings.emplace_back("the shapes of types (particles/type_shapes) are left out");
        break;
      }
  }

  Box read_box() {
    Box box;
    auto b = values<double>("configuration/box", 6);
    if (!b) b = {1, 1, 1, 0, 0, 0};
    box.length = {(*b)[0], (*b)[1], (*b)[2]};
    box.xy = (*b)[3] * box.length.y;
    box.xz = (*b)[4] * box.length.z;
    box.yz = (*b)[5] * box.length.z;
    if (const auto d = values<std::int64_t>("configuration/dimensions", 1)) {
      if ((*d)[0] != 2 && (*d)[0] != 3)
        fail("configuration/dimensions", fmt::format("{}, expected 2 or 3", (*d)[0]));
      box.dimension = int((*d)[0]);
    }
    if (box.dimension == 2) box.length.z = 1, box.xz = 0, box.yz = 0;
    if (const auto flags = values<std::uint8_t>(periodic_chunk, 3))
      for (std::size_t axis = 0; axis < 3; ++axis) box.periodic[axis] = (*flags)[axis] != 0;
    for (int axis = 0; axis < 3; ++axis)
      box.origin[axis] =
          -0.5 * (box.edges()[0][axis] + box.edges()[1][axis] + box.edges()[2][axis]);
    return box;
  }

  std::vector<std::string> names(const std::string& chunk, std::vector<std::string> otherwise) {
    const Entry* e = find(frame_, chunk);
    if (e == nullptr) e = find(0, chunk);
    if (e == nullptr) return otherwise;
    if (type_size[e->type] != 1) fail(chunk, "numbers, expected text");
    const std::uint64_t size = elements(*e, chunk);
    if (size == 0 && e->rows > 0) fail(chunk, fmt::format("{} names of no length", e->rows));
    const auto text = values<char>(chunk, size);
    std::vector<std::string> list;
    for (std::size_t k = 0; text && k < e->rows; ++k) {
      const char* at = text->data() + k * e->columns;
      list.emplace_back(at, strnlen(at, e->columns));
    }
    return list;
  }

  /// Rows of type, member, member, …
  std::vector<std::array<std::uint32_t, 5>> groups(const std::string& kind, std::size_t width,
                                                   std::vector<std::string>& types) {
    const std::size_t n = number(kind + "/N", false);
    types = names(kind + "/types", {});
    if (n == 0) return {};
    const bool equal = n == number(kind + "/N", true);
    const auto members = values<std::uint32_t>(kind + "/group", width * n, equal);
    if (!members) fail(kind + "/group", "missing");
    const auto type = values<std::uint32_t>(kind + "/typeid", n, equal);
    std::vector<std::array<std::uint32_t, 5>> list(n);
    for (std::size_t k = 0; k < n; ++k) {
      list[k] = {type ? (*type)[k] : 0, 0, 0, 0, 0};
      for (std::size_t m = 0; m < width; ++m) list[k][m + 1] = (*members)[width * k + m];
    }
    return list;
  }

  std::ifstream stream_;
  std::uint64_t size_ = 0, frame_ = 0;
  std::map<std::string, std::uint32_t> ids_;  // of names
  std::map<std::pair<std::uint64_t, std::uint16_t>, Entry> entries_;
  std::int64_t frames_ = 0;
  bool first_n_equal_ = true;
  std::map<std::string, bool> unusual_;  // of all frames, by name
};

}  // namespace

FileFormat gsd_format() {
  return {
      "gsd",
      {".gsd"},
      false,
      false,
      [](std::string_view head) { return head.starts_with("\xDF\x65\xDF\x65\xDF\x65\xDF\x65"); },
      [](const std::string& path, const OpenOptions&) -> std::unique_ptr<FrameReader> {
        return std::make_unique<GsdReader>(path);
      },
      write_gsd,
      [](const Frame& frame) {
        std::vector<std::string> list;
        if (!frame.configuration.topology.molecule.empty())
          list = {"numbers of molecules are left out"};
        if (has_moments(frame.configuration) && frame.configuration.orientation.empty())
          list.emplace_back("moments of inertia are left out: the particles have no orientations");
        if (const std::string what = open_axes(frame.configuration.box); !what.empty())
          list.push_back(what);
        return list;
      }};
}

}  // namespace perrin::io
