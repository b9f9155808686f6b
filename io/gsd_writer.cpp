// The writer of GSD files of `perrin convert`: chunks first, then names and index.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/error.h"
#include "io/file_orientations.h"
#include "io/formats.h"
#include "io/gsd_chunks.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

using namespace gsd;

std::vector<double> flat(const std::vector<Vec3<double>>& values, Vec3<double> origin = {}) {
  std::vector<double> out;
  for (const auto& v : values)
    for (int axis = 0; axis < 3; ++axis) out.push_back(v[axis] - origin[axis]);
  return out;
}

class GsdWriter : public FrameWriter, Chunks {
 public:
  GsdWriter(const std::string& path, bool fine) : Chunks(path, fine), out_(path) {
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
    put_box(c.box);
    put_periodic(c.box);
    put(time_chunk, f64, 1, 1, &frame.time);
    const auto count = std::uint32_t(n);
    put("particles/N", u32, 1, 1, &count);
    put_names("particles/types", c.types);
    put("particles/typeid", u32, n, 1, c.type.data());
    put_reals("particles/position", flat(c.position, middle(c.box)), 3);
    if (c.velocity.empty() && in_first("particles/velocity"))
      throw UserError(fmt::format(
          "{}: step {} has no velocities, but the first frame has: GSD cannot store this", path_,
          c.step));
    put_reals("particles/velocity", flat(c.velocity), 3);
    if (!c.image.empty() || in_first("particles/image")) {
      std::vector<Image> image = c.image;
      image.resize(n, Image{});
      put("particles/image", i32, n, 3, image.data());
    }
    put_reals("particles/mass", or_default("particles/mass", c.mass, n, 1));
    put_reals("particles/charge", or_default("particles/charge", c.charge, n, 0));
    put_reals("particles/diameter", or_default("particles/diameter", c.diameter, n, 1));
    put_orientations(c, n);
    if (!c.topology.body.empty() || in_first("particles/body")) put_bodies(c.topology, n);
    put_attributes(c);
    put_topology(c.topology);
    if (frame_++ == 0) first_names_ = names_.size();
  }
  void finish() override {
    Header header = header_of(fine_);
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
  void put_orientations(const Configuration& c, std::size_t n) {
    const std::string q_name = "particles/orientation", l_name = "particles/angmom";
    std::vector<double> q, l;
    if (!c.orientation.empty() || in_first(q_name))
      for (std::size_t i = 0; i < n; ++i) {
        const Quaternion one = c.orientation.empty() ? Quaternion{} : c.orientation[i];
        for (const double x : {one.w, one.x, one.y, one.z}) q.push_back(x);
      }
    put_reals(q_name, q, 4);
    if (!c.angular_momentum.empty() || in_first(l_name))
      for (std::size_t i = 0; i < n; ++i) {
        std::array<double, 4> one{};
        if (!c.angular_momentum.empty() && !c.orientation.empty())
          one = hoomd_angular_momentum(c.orientation[i], c.angular_momentum[i]);
        l.insert(l.end(), one.begin(), one.end());
      }
    put_reals(l_name, l, 4);
    // Moments of particles that look nowhere would make them look along the axes.
    std::vector<Vec3<double>> moments;
    if (!c.orientation.empty()) moments = c.moment_of_inertia;
    if (in_first("particles/moment_inertia")) moments.resize(n);
    put_reals("particles/moment_inertia", flat(moments), 3);
  }
  /// In frames where they are not those of the first one.
  void put_attributes(const Configuration& c) {
    if (frame_ == 0) first_ = c.attributes;
    for (const auto& [name, values] : first_)
      if (!c.attributes.contains(name))
        throw UserError(fmt::format(
            "{}: step {} has no attribute {}, but the first frame has: GSD cannot store this",
            path_, c.step, name));
    for (const auto& [name, values] : c.attributes) {
      const auto first = first_.find(name);
      if (frame_ == 0 || first == first_.end() || first->second != values)
        put(particle_logs + name, f64, values.size(), 1, values.data());
    }
    if (!c.id.empty()) put(id_chunk, u32, c.id.size(), 1, c.id.data());
  }
  /// What frame 0 has is taken for every later frame that is silent: those that have nothing of it
  /// must say so.
  bool in_first(const std::string& name) const override {
    return std::find(names_.begin(), names_.begin() + std::ptrdiff_t(first_names_), name) !=
           names_.begin() + std::ptrdiff_t(first_names_);
  }
  std::vector<double> or_default(const std::string& name, const std::vector<double>& values,
                                 std::size_t n, double otherwise) const {
    if (!values.empty() || !in_first(name)) return values;
    return std::vector<double>(n, otherwise);
  }

  void put(const std::string& name, Type type, std::size_t rows, std::size_t columns,
           const void* data) override {
    if (rows == 0) return;
    const std::uint16_t id = std::uint16_t(index_of(names_, name));
    index_.push_back({frame_, rows, out_.tell(), std::uint32_t(columns), id, type, 0});
    out_.put(data, rows * columns * type_size[type]);
  }

  TextFile out_;
  std::vector<std::string> names_;
  std::size_t first_names_ = 0;  // number of those of frame 0
  std::vector<Entry> index_;
  std::uint64_t frame_ = 0;
  std::map<std::string, std::vector<double>> first_;  // attributes of frame 0
};

}  // namespace

std::unique_ptr<FrameWriter> write_gsd(const std::string& path, const Frame&,
                                       const WriteOptions& options) {
  return std::make_unique<GsdWriter>(path, options.fine);
}

}  // namespace perrin::io
