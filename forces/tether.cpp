#include "forces/tether.h"

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "forces/particle_loop.h"
#include "forces/unwrapped.h"

namespace perrin {
namespace {

struct TetherKernel {
  ParticleView particles;
  const Box* box;
  const Vec3<double>* place;
  Vec3<double> stiffness;
  const std::uint32_t* mask;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = particles.position[i];
    Real3 force{};
    Real energy = 0;
    if (mask[p.type()]) {
      const Vec3<double> r = unwrapped_point(*box, p, particles.image[i]) - place[particles.id[i]];
      const Vec3<double> f{-stiffness.x * r.x, -stiffness.y * r.y, -stiffness.z * r.z};
      force = {Real(f.x), Real(f.y), Real(f.z)};
      energy = Real(-0.5 * dot(f, r));
    }
    deposit(out, particles.n, i, force, energy, Virial{}, Real(1));
  }
};

}  // namespace

Tether::Tether(const TetherSettings& settings, const Device& device, const Configuration& c,
               const std::vector<std::uint32_t>& chosen)
    : Force(ForceTraits::of_field()), settings_(settings), mask_(device, c.types.size(), chosen) {
  std::vector<Vec3<double>> place = c.position;
  for (std::size_t id = 0; id < c.image.size(); ++id) {
    const Image& turns = c.image[id];
    place[id] +=
        Vec3<double>{turns.x * c.box.length.x + turns.y * c.box.xy + turns.z * c.box.xz,
                     turns.y * c.box.length.y + turns.z * c.box.yz, turns.z * c.box.length.z};
  }
  place_ = {device, std::span<const Vec3<double>>(place)};
}

void Tether::compute(StepContext& context, const ForceOutput& output) {
  for_each_particle("tether", context, output,
                    TetherKernel{context.particles().view(), context.particles().box_state().data(),
                                 place_.data(), settings_.stiffness, mask_.data(), output});
}

MomentumChange Tether::momentum_change(std::span<const std::int64_t> particles) const {
  const bool acts = mask_.count(particles) > 0;
  const auto& k = settings_.stiffness;
  return {{acts && k.x > 0, acts && k.y > 0, acts && k.z > 0}, {}};
}

void Tether::state(Archive& archive) {
  std::vector<double> numbers;
  if (archive.is_saving())
    for (const auto& r : place_.to_host()) numbers.insert(numbers.end(), {r.x, r.y, r.z});
  archive("places", numbers);
  if (archive.is_saving()) return;
  archive.require(std::int64_t(numbers.size()) == 3 * place_.size(), "places",
                  "three numbers for each particle");
  std::vector<Vec3<double>> place;
  for (std::size_t k = 0; k < numbers.size(); k += 3)
    place.push_back({numbers[k], numbers[k + 1], numbers[k + 2]});
  place_.assign(place);
}

void register_tether(Registry& registry) {
  registry.add<Force, TetherSettings>(
      "tether", "a harmonic spring from every particle to where it was at the start",
      [](const TetherSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        setup.refuse_z("stiffness", s.stiffness);
        return std::make_unique<Tether>(s, setup.device(), setup.configuration(),
                                        chosen_types(setup, s.types));
      });
}

}  // namespace perrin
