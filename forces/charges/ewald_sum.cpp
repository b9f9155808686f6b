#include "forces/charges/ewald_sum.h"

#include <cmath>

#include "engine/domain/decomposition.h"
#include "forces/charges/wave_kernels.h"

namespace perrin {

using namespace waves;

namespace {

void sum_waves(const Device& device, const Waves& waves, const Charges& charges) {
  if (device.halt().skipping()) return;
  Decomposition& decomposition = decomposition_of(device);
  const Share mine = decomposition.share(waves.count);
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (mine.size() > 0)
      launch_early(device, "structure factors",
                   dim3(unsigned((mine.size() + waves_of_block - 1) / waves_of_block)),
                   dim3(threads_of_waves), 0, sum_waves_kernel, waves, charges, mine.begin,
                   mine.end, static_cast<const std::uint32_t*>(device.halt().word()));
    return decomposition.all_gather(waves.factor, sizeof(Factor), waves.count);
  }
#endif
  for_pieces(device, mine.size(), 16, [&](std::int64_t begin, std::int64_t end) {
    run_range(SumWave{waves, charges}, mine.begin + begin, mine.begin + end);
  });
  decomposition.all_gather(waves.factor, sizeof(Factor), waves.count);
  // Forces are summed in whole vectors.
  for (std::int64_t k = waves.count; k < with_lanes(waves.count); ++k) waves.factor[k] = {0, 0};
}

template <bool Energy>
void add_forces(StepContext& s, const WaveForces<Energy>& forces) {
  const Device& device = s.device();
  if (device.halt().skipping()) return;
  const Share share = s.particles.share();
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr std::int64_t of_block = threads_of_forces / 32;
    if (share.size() > 0)
      launch_early(device, "forces of waves",
                   dim3(unsigned((share.size() + of_block - 1) / of_block)),
                   dim3(threads_of_forces), 0, wave_forces_kernel<Energy>, forces, share.begin,
                   share.end, static_cast<const std::uint32_t*>(device.halt().word()));
    return;
  }
#endif
  for_pieces(device, share.size(), 32, [&](std::int64_t begin, std::int64_t end) {
    run_range(forces, share.begin + begin, share.begin + end);
  });
}

}  // namespace

void EwaldSum::prepare(StepContext& s) {
  const Box& given = s.particles.box_state.given();
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
  const std::int64_t room = with_lanes(n_);
  std::vector<std::uint32_t> numbers(std::size_t(3 * room));
  for (std::size_t k = 0; k < all.size(); ++k) {
    numbers[k] = std::uint32_t(all[k].x);
    numbers[std::size_t(room) + k] = std::uint32_t(all[k].y);
    numbers[std::size_t(2 * room) + k] = std::uint32_t(all[k].z);
  }
  wave_ = {device, std::span<const std::uint32_t>(numbers)};
  vector_ = {device, 4 * room};
  factor_ = {device, room};
  const std::int64_t places = with_lanes(s.particles.size());
  place_ = {device, 3 * places};
  charge_ = {device, places};
}

void EwaldSum::weigh_waves(StepContext& s) {
  BoxState& box = s.particles.box_state;
  const bool changes = box.moves() || box.host() != listed_for_;
  if (weighed_ && !changes) return;
  const Device& device = s.device();
  const std::int64_t room = vector_.size() / 4;
  active_ = changes ? n_ : usual_;
  for_each(device, "wave vectors", active_,
           Weigh{box.data(), listed_for_, terms_.slab.value_or(1), terms_.parameters.splitting,
                 terms_.parameters.k_max, terms_.constant, room, wave_.data(), vector_.data(),
                 s.fault_sink()});
  // On a GPU the kernel may be halted.
  weighed_ = !changes && !device.is_cuda() && !device.halt().skipping();
  if (device.is_cuda()) return;
  while (active_ > 0 && vector_.data()[3 * room + active_ - 1] == Real(0)) --active_;
}

void EwaldSum::compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output) {
  prepare(s);
  weigh_waves(s);
  const Device& device = s.device();
  const std::int64_t n = s.particles.size(), places = charge_.size();
  const Box& box = s.particles.box;
  std::uint64_t ratio = 0;
  if (terms_.slab)
    ratio = std::uint64_t(std::llround((1 + 2 * box.padding.z) / *terms_.slab * 2147483648.0));
  for_each(device, "charges", n,
           Pack{s.particles.position.data(), charge, places, place_.data(), charge_.data(), ratio});
  const Waves waves{vector_.size() / 4, active_, wave_.data(), vector_.data(), factor_.data()};
  const Charges charges{places, n, place_.data(), charge_.data()};
  sum_waves(device, waves, charges);

  const auto [splitting, k_max] = terms_.parameters;
  const double quarter = 1 / (4 * splitting * splitting);
  const double beyond = -terms_.constant * k_max * std::exp(-k_max * k_max * quarter) / (3 * M_PI);
  ForceOutput added = output;
  added.add = true;
  const auto run = [&]<bool Energy>() {
    add_forces(s, WaveForces<Energy>{waves, charges, Real(quarter), Real(beyond), added, n});
  };
  output.energy ? run.operator()<true>() : run.operator()<false>();
}

}  // namespace perrin
