// The writer of H5MD files of `perrin convert`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/system/attribute.h"
#include "io/formats.h"
#include "io/h5md_file.h"
#include "io/writer.h"

namespace perrin::io {
namespace {

bool same(const Topology& a, const Topology& b) {
  const auto bonds = [](const Topology::Bond& x, const Topology::Bond& y) {
    return x.a == y.a && x.b == y.b && x.type == y.type;
  };
  const auto angles = [](const Topology::Angle& x, const Topology::Angle& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.type == y.type;
  };
  const auto torsions = [](const Topology::Dihedral& x, const Topology::Dihedral& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d && x.type == y.type;
  };
  return a.bond_types == b.bond_types && a.angle_types == b.angle_types &&
         a.dihedral_types == b.dihedral_types && a.improper_types == b.improper_types &&
         a.molecule == b.molecule && std::ranges::equal(a.bonds, b.bonds, bonds) &&
         std::ranges::equal(a.angles, b.angles, angles) &&
         std::ranges::equal(a.dihedrals, b.dihedrals, torsions) &&
         std::ranges::equal(a.impropers, b.impropers, torsions);
}

class H5mdConverter : public FrameWriter {
 public:
  H5mdConverter(const std::string& path, const Frame& first, const WriteOptions& options)
      : path_(path), first_(first), fine_(options.fine), fine_velocity_(options.fine_velocity) {
    const Configuration& c = first.configuration;
    const H5mdLayout layout = layout_for(first, options);
    changing_ = layout.changing_attributes;
    block_ = std::size_t(layout.chunk_frames);
    images_ = layout.image;
    JobRecord record;
    record.version = "convert";
    H5mdUnits units;
    units.length.name = first.units.length;
    units.time.name = first.units.time;
    units.velocity.name = first.units.velocity;
    units.mass = first.units.mass;
    units.angular_momentum.name = angular_momentum_unit(first.units);
    units.moment_of_inertia.name = moment_of_inertia_unit(first.units);
    writer().call([&] {
      H5mdWriter::create(path, c, layout, record, units, false);
      out_ = std::make_unique<H5mdWriter>(path);
    });
  }
  ~H5mdConverter() override {
    writer().call([&] { out_.reset(); });
  }

  void write(const Frame& frame) override {
    check_same(frame);
    const Configuration& c = frame.configuration;
    H5mdFrame& out = waiting_.emplace_back();
    out.step = c.step;
    out.time = frame.time;
    out.set_box(c.box);
    std::vector<float> position, velocity, orientation, spin;
    std::vector<double> fine_position, fine_velocity;
    std::vector<std::int32_t> image;
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      const Vec3<double> r = c.position[i] - c.box.origin;
      for (int axis = 0; axis < 3; ++axis) {
        const double x = c.box.dimension == 2 && axis == 2 ? 0.5 : r[axis];
        if (fine_)
          fine_position.push_back(x);
        else
          position.push_back(single(x, "coordinate", i));
        if (!c.velocity.empty() && fine_velocity_)
          fine_velocity.push_back(c.velocity[i][axis]);
        else if (!c.velocity.empty())
          velocity.push_back(single(c.velocity[i][axis], "velocity", i));
        if (images_) image.push_back(c.image.empty() ? 0 : c.image[i][axis]);
      }
    }
    for (const Quaternion& q : c.orientation)
      for (const double x : {q.w, q.x, q.y, q.z}) orientation.push_back(float(x));
    for (std::size_t i = 0; i < c.angular_momentum.size(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        spin.push_back(single(c.angular_momentum[i][axis], "angular momentum", i));
    for (const std::string& name : changing_) {
      auto values = attribute_of(c, name);
      if (!values)
        throw UserError(fmt::format("{}: step {} has no attribute {}, but the first frame has",
                                    path_, c.step, name));
      out.attributes.emplace_back(std::move(*values));
    }
    out.orientation = std::move(orientation);
    out.angular_momentum = std::move(spin);
    out.position = std::move(position);
    out.velocity = std::move(velocity);
    out.fine_position = std::move(fine_position);
    out.fine_velocity = std::move(fine_velocity);
    out.image = std::move(image);
    if (waiting_.size() == block_) write_waiting();
  }
  void finish() override {
    if (!waiting_.empty()) write_waiting();
    writer().call([&] { out_->close(); });
  }

 private:
  /// In chunks by time: as many frames as fit into a bounded buffer, and as many particles as
  /// make a chunk of about 64 KiB.
  static H5mdLayout layout_for(const Frame& first, const WriteOptions& options) {
    const Configuration& c = first.configuration;
    H5mdLayout layout;
    for (const std::string& name : first.changing_attributes)
      if (attribute_of(c, name)) layout.changing_attributes.push_back(name);
    layout.velocity = !c.velocity.empty();
    layout.orientation = !c.orientation.empty();
    layout.angular_momentum = !c.angular_momentum.empty();
    layout.unwrapped = options.unwrapped;
    layout.image = !options.unwrapped;
    layout.fine_positions = options.fine;
    layout.fine_velocities = options.fine_velocity;
    if (options.compression == "deflate") layout.packing.filter = Packing::Filter::deflate;
    if (options.compression == "rounded")
      layout.packing = {Packing::Filter::rounded, options.decimals};
    if (!options.time_chunks) return layout;
    constexpr std::int64_t buffer = 128 << 20, chunk = 64 << 10, most = 512;
    const std::int64_t row = options.fine ? 24 : 12;
    const std::int64_t more = 24 + 12 * options.fine_velocity + 16 * layout.orientation +
                              12 * layout.angular_momentum +
                              8 * std::int64_t(layout.changing_attributes.size());
    const std::int64_t frame = std::int64_t(c.position.size()) * (row + more);
    const std::int64_t frames = std::clamp<std::int64_t>(
        buffer / frame, 1, std::clamp<std::int64_t>(options.frames, 1, most));
    layout.chunk_frames = hsize_t(frames);
    layout.chunk_particles = hsize_t(std::max<std::int64_t>(1, chunk / (frames * row)));
    return layout;
  }
  void write_waiting() {
    writer().call([&] { out_->append(waiting_); });
    waiting_.clear();
  }
  float single(double value, const char* what, std::size_t i) const {
    if (!std::isfinite(float(value)))
      throw UserError(fmt::format("{}: {} {} of particle {} does not fit a number of 32 bits",
                                  path_, what, value, i));
    return float(value);
  }

  /// What this layout holds once per file must be the same in all frames.
  void check_same(const Frame& frame) const {
    const Configuration &a = first_.configuration, &b = frame.configuration;
    const auto need = [&](bool same, const char* what) {
      if (!same)
        throw UserError(fmt::format(
            "{}: {} at step {} not the same as in the first frame: an H5MD file of this layout "
            "stores them once; GSD and extended XYZ store them in every frame",
            path_, what, b.step));
    };
    const std::size_t n = a.position.size();
    need(n == b.position.size(), "the number of particles is");
    need(a.id == b.id, "ids of particles are");
    for (std::size_t i = 0; i < n; ++i)
      need(a.types[a.type[i]] == b.types[b.type[i]], "types of particles are");
    need(a.mass == b.mass, "masses are");
    const auto stay = [&](const char* name) { return std::ranges::count(changing_, name) == 0; };
    need(a.charge == b.charge || !stay("charge"), "charges are");
    need(a.diameter == b.diameter || !stay("diameter"), "diameters are");
    need(a.velocity.empty() == b.velocity.empty(), "velocities (none there, or here) are");
    need(a.orientation.empty() == b.orientation.empty(), "orientations (none there, or here) are");
    need(a.angular_momentum.empty() == b.angular_momentum.empty(),
         "angular momenta (none there, or here) are");
    need(a.moment_of_inertia == b.moment_of_inertia, "moments of inertia are");
    need(a.box.periodic == b.box.periodic && a.box.dimension == b.box.dimension,
         "dimensions and periodic axes are");
    need(same(a.topology, b.topology), "bonds, angles, dihedrals or molecules are");
    need(first_.units == frame.units, "units are");
  }

  std::string path_;
  Frame first_;
  bool fine_, fine_velocity_, images_ = true;
  std::size_t block_ = 1;
  std::vector<std::string> changing_;  // attributes, in the order of their letters
  std::vector<H5mdFrame> waiting_;     // until there is a block of them
  std::unique_ptr<H5mdWriter> out_;
};

}  // namespace

std::unique_ptr<FrameWriter> write_h5md(const std::string& path, const Frame& first,
                                        const WriteOptions& options) {
  return std::make_unique<H5mdConverter>(path, first, options);
}

}  // namespace perrin::io
