// An observer: the mean square displacement since it began.
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/observation.h"
#include "engine/job/plugin_api.h"
#include "io/observable_file.h"

using namespace perrin;

namespace plugin_name {

struct PluginNameSettings {
  std::int64_t stride = 100;
  std::string file = "plugin_name.h5";
};
template <class D>
void describe(D& d, PluginNameSettings& s) {
  d.optional("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

using Place = Vec3<std::int64_t>;  // unwrapped, in units of 2⁻³² of the box's edges

PERRIN_HD std::int64_t unwrapped(std::int32_t image, std::uint32_t position) {
  return std::int64_t(image) * (std::int64_t(1) << 32) + std::int64_t(position);
}
PERRIN_HD Place place_of(const ConstParticleView& p, std::int64_t i) {
  const Position r = p.position[i];
  const Image image = p.image[i];
  return {unwrapped(image.x, r.x), unwrapped(image.y, r.y), unwrapped(image.z, r.z)};
}

// Memory is sorted now and then: what is kept of a particle is kept by its id.
struct Remember {
  ConstParticleView particles;
  Place* origin;
  PERRIN_HD void operator()(std::int64_t i) const {
    origin[particles.id[i]] = place_of(particles, i);
  }
};
struct Displacement2 {
  ConstParticleView particles;
  Metric metric;
  const Place* origin;
  PERRIN_HD double operator()(std::int64_t i) const {
    const Place d = place_of(particles, i) - origin[particles.id[i]];
    const double x = double(d.x), y = double(d.y), z = double(d.z);
    const Vec3<double> r{double(metric.xx) * x + double(metric.xy) * y + double(metric.xz) * z,
                         double(metric.yy) * y + double(metric.yz) * z, double(metric.zz) * z};
    return dot(r, r);
  }
};

class PluginName final : public Observer {
 public:
  PluginName(const PluginNameSettings& s, Setup& setup)
      : stride_(s.stride),
        file_(setup.output_file(s.file, "file"),
              {{"mean_square_displacement",
                {},
                setup.units().reduced() ? "" : setup.units().length + "2"}},
              setup),
        origin_(setup.device(), std::int64_t(setup.configuration().position.size())) {}

  std::int64_t stride() const override { return stride_; }
  void begin(const Observation& s, bool resumed) override {
    file_.begin(s, resumed);
    if (begun_) return;  // by an earlier stage, or before the checkpoint
    begun_ = true;
    for_each(s.device(), "origins", s.particles().size(),
             Remember{s.particles().view(), origin_.data()});
  }
  void observe(const Observation& s) override {
    const double squares = sum<double>(
        s.device(), "displacements", s.particles().size(),
        Displacement2{s.particles().view(), s.particles().box().metric(), origin_.data()});
    file_.append(std::int64_t(s.step()), s.time(), {squares / double(s.particles().size())});
  }
  void end(const Observation& s) override { file_.end(s); }
  /// Saves and restores, a resumed run before begin().
  void state(Archive& archive) override {
    archive("begun", begun_);
    archive("origin", origin_);
    file_.state(archive);
  }

 private:
  std::int64_t stride_;
  io::ObservableFile file_;
  bool begun_ = false;
  Buffer<Place> origin_;  // [id]
};

void register_components(Registry& registry) {
  registry.add<Observer, PluginNameSettings>(
      "plugin_name", "mean square displacement since the start of the observer",
      [](const PluginNameSettings& s, Setup& setup) {
        return std::make_unique<PluginName>(s, setup);
      });
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", plugin_name::register_components)
