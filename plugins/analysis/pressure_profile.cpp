#include "pressure_profile.h"

#include "engine/components/integrator.h"
#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "io/file_units.h"

namespace perrin::analysis {
namespace {

struct Slabs {
  ConstParticleView p;
  const Real* virial;
  int axis;
  double scale, shift;  // fixed-point coordinate to a fraction of the box
  std::int64_t bins;
  double slabs_per_volume;
  GroupMask group, thermal;  // thermal: particles whose velocities count
  KineticShare kinetic;

  PERRIN_HD Terms<3> operator()(std::int64_t i) const {
    Terms<3> t;
    if (!group.has(p.id[i])) return t;
    const Position r = p.position[i];
    const double place = (double(axis == 0   ? r.x
                                 : axis == 1 ? r.y
                                             : r.z) *
                              scale -
                          shift) *
                         double(bins);
    t.bin = place > 0 ? std::int64_t(place) : 0;
    if (t.bin >= bins) t.bin = bins - 1;
    const Real4 v = p.velocity[i];
    const bool moves = thermal.has(p.id[i]);
    for (int a = 0; a < 3; ++a) {
      const double motion = moves ? kinetic.square(v, r.type(), a) : 0.0;
      t.value[a] = slabs_per_volume * (motion + double(virial[a * p.n + i]));
    }
    return t;
  }
};

std::vector<io::ObservableColumn> columns(const PressureProfileSettings& s, Setup& setup) {
  const hsize_t bins = hsize_t(s.bins);
  const auto length = io::file_length(setup.units());
  return {{"coordinate", {bins}, length.name, length.factor},
          {"pressure", {bins, 3}, setup.units().pressure(setup.configuration().box.dimension)}};
}

}  // namespace

PressureProfile::PressureProfile(const PressureProfileSettings& settings, Setup& setup)
    : SampledObserver(settings, columns(settings, setup), setup),
      axis_(settings.axis[0] - 'x'),
      bins_(settings.bins),
      sums_(setup.device(), settings.bins) {
  if (setup.configuration().box.dimension == 2 && axis_ == 2)
    setup.error("axis", "must be x or y in two dimensions");
  const Group* const group = setup.group(settings.group, "group");
  if (!group || settings.group == "all") return;
  group_ = {setup.device(), *group};
  has_all_ = false;
}

void PressureProfile::sample(const Observation& s) {
  const double padding = s.particles().box().padding[axis_];
  const GroupMask thermal = s.thermal();
  const Buffer<Real>& virials = s.particle_virials();  // may sort the particles: before view()
  sums_.add(s.device(), "pressure profile", s.particles().size(),
            Slabs{s.particles().view(), virials.data(), axis_, (1 + 2 * padding) * 0x1p-32, padding,
                  bins_, double(bins_) / s.particles().box().volume(), group_.mask(), thermal,
                  kinetic_.of(s)});
  if (!has_all_) return;
  const Box& box = s.particles().box();
  for (const Force* const force : s.forces())
    tail_ += force->correction(box).virial / (3 * box.volume());
}

std::vector<double> PressureProfile::row(const Box& box) {
  const auto sums = sums_.take();
  const auto bins = std::size_t(bins_);
  const double count = double(samples());
  std::vector<double> row(4 * bins);
  for (std::size_t b = 0; b < bins; ++b) {
    row[b] = box.origin[axis_] + box.length[axis_] * (double(b) + 0.5) / double(bins);
    for (std::size_t a = 0; a < 3; ++a)
      row[bins + 3 * b + a] = (sums[a * bins + b] + tail_) / count;
  }
  tail_ = 0;
  return row;
}

void PressureProfile::sums(Archive& archive) {
  sums_.state(archive);
  archive("tail", tail_);
}

void register_pressure_profile(Registry& registry) {
  registry.add<Observer, PressureProfileSettings>(
      "pressure_profile", "pressure tensor in slabs",
      [](const PressureProfileSettings& s, Setup& setup) {
        return std::make_unique<PressureProfile>(s, setup);
      });
}

}  // namespace perrin::analysis
