#include "forces/charges/wave_set.h"

#include <cmath>
#include <span>
#include <vector>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/charges/waves.h"

namespace perrin {
namespace {

/// k and weights in the box as it is now.
struct Weigh {
  const Box* box;
  Box listed_for;
  double stretch, splitting, k_max, constant;
  std::int64_t room;
  const std::uint32_t* n;
  Real* k;
  FaultSink faults;

  PERRIN_HD void operator()(std::int64_t wave) const {
    const Box cell = repeated_cell(*box, stretch);
    if (wave == 0) {
      const double longest = longest_stretch(listed_for, *box);
      if (longest > WaveSet::most_stretch)
        faults.report(FaultKind::box_too_far, 0, longest, WaveSet::most_stretch);
    }
    const auto number = [&](int axis) { return double(std::int32_t(n[axis * room + wave])); };
    const Vec3<double> v = wave_vector(cell, number(0), number(1), number(2));
    const double square = dot(v, v);
    k[wave] = Real(v.x), k[room + wave] = Real(v.y), k[2 * room + wave] = Real(v.z);
    constexpr double pi = 3.141592653589793;
    // Twice: for k and -k.
    const double length = std::sqrt(square), all = 8 * pi * constant / (cell.volume() * square);
    const double weight = cell.dimension == 2
                              ? 0.5 * length * all * std::erfc(length / (2 * splitting))
                              : all * std::exp(-square / (4 * splitting * splitting));
    k[3 * room + wave] = square <= k_max * k_max * (1 + 1e-12) ? Real(weight) : Real(0);
  }
};

}  // namespace

void WaveSet::list(StepContext& s) {
  const Box& given = s.particles().box_state().given();
  if (n_ > 0 && given == listed_for_) return;
  const Device& device = s.device();
  listed_for_ = given;
  weighed_ = false;
  // A sphere that is longer by `most_stretch` holds all of k_max in a box deformed so much.
  const Box cell = repeated_cell(given, terms_.slab.value_or(1));
  const double k_max = terms_.parameters.k_max;
  const std::vector<WaveNumbers> all = waves_within(cell, most_stretch * k_max);
  n_ = std::int64_t(all.size());
  usual_ = n_;
  const auto within = [&](const WaveNumbers& n) {
    const Vec3<double> k = wave_vector(cell, n.x, n.y, n.z);
    return dot(k, k) <= k_max * k_max * (1 + 1e-12);
  };
  while (usual_ > 0 && !within(all[std::size_t(usual_ - 1)])) --usual_;
  const std::int64_t room = waves::with_lanes(n_);
  std::vector<std::uint32_t> numbers(std::size_t(3 * room));
  for (std::size_t k = 0; k < all.size(); ++k) {
    numbers[k] = std::uint32_t(all[k].x);
    numbers[std::size_t(room) + k] = std::uint32_t(all[k].y);
    numbers[std::size_t(2 * room) + k] = std::uint32_t(all[k].z);
  }
  wave_ = {device, std::span<const std::uint32_t>(numbers)};
  vector_ = {device, 4 * room};
  factor_ = {device, room};
}

waves::Waves WaveSet::update(StepContext& s) {
  list(s);
  BoxState& box = s.particles().box_state();
  const bool changes = box.moves() || box.host() != listed_for_;
  const std::int64_t room = vector_.size() / 4;
  if (!weighed_ || changes) {
    const Device& device = s.device();
    active_ = changes ? n_ : usual_;
    for_each(device, "wave vectors", active_,
             Weigh{box.data(), listed_for_, terms_.slab.value_or(1), terms_.parameters.splitting,
                   terms_.parameters.k_max, terms_.constant, room, wave_.data(), vector_.data(),
                   s.fault_sink()});
    // On a GPU the kernel may be halted.
    weighed_ = !changes && !device.is_cuda() && !device.halt().skipping();
    if (!device.is_cuda())
      while (active_ > 0 && vector_.data()[3 * room + active_ - 1] == Real(0)) --active_;
  }
  return {room, active_, wave_.data(), vector_.data(), factor_.data()};
}

}  // namespace perrin
