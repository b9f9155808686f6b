// The pipelined engine's CUDA kernel, run by an emulated GPU: what it decides and what energies it
// keeps, to the last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "plugins/metropolis/pair_rows.h"
#include "tests/plugins/metropolis_models.h"
#include "tests/unit/cuda_emulation.h"

// In place of plugins/metropolis/block_memory.cuh. Blocks run one after another: whatever a block
// waits for is there.
namespace perrin::metropolis {
inline char* block_memory() {
  alignas(32) static char memory[1 << 18];
  return memory;
}
inline std::uint32_t load_acquire(const std::uint32_t* p) { return *p; }
inline void store_release(std::uint32_t* p, std::uint32_t v) { *p = v; }
inline unsigned long long load_word(const unsigned long long* p) { return *p; }
inline void store_word(unsigned long long* p, unsigned long long v) { *p = v; }
inline Position load_fresh(const Position* p) { return *p; }
inline Quaternion load_fresh(const Quaternion* p) { return *p; }
}  // namespace perrin::metropolis
#define PERRIN_EMULATED
#include "plugins/metropolis/pipelined.cuh"

namespace perrin::metropolis {
namespace {

struct Shape {
  std::uint32_t warps, band;
};

/// Cycles of a system in launches of the given lengths.
template <class T, class E, int S>
void run(System& system, const MoveSizes& sizes, const std::vector<int>& launches, Shape shape) {
  const SystemView view = system.view();
  const auto kT = system.temperatures();
  const auto rows = make_rows<T>(system.model(), *std::max_element(kT.begin(), kT.end()));
  Pipeline<T> p{};
  p.view = view;
  p.law = MoveLaw(5, sizes, system.box());
  p.scale = Scale<T>::of(system.box());
  p.rows = rows.data();
  for (const MoleculeTemplate& t : system.model().templates)
    p.width = std::max(p.width, std::uint32_t(t.sites.size()));
  p.groups_per_cycle = (view.molecules + group_size - 1) / group_size;
  p.band = std::min(shape.band, p.groups_per_cycle - 1);
  ASSERT_LE(PipelineMemory<T>::bytes(view.types, p.width, shape.warps, p.band), 1u << 18);
  for (const int cycles : launches) {
    p.groups = p.groups_per_cycle * std::uint32_t(cycles);
    const std::size_t places = std::size_t(p.groups) * view.replicas;
    std::uint32_t taken = 0;
    std::vector<std::uint32_t> decided(view.replicas), proposed(places);
    std::vector<unsigned long long> decision(places);
    // Nothing may be read that was not written.
    std::vector<Position> proposal(places * 64 * p.width, Position{1, 2, 3, 0});
    std::vector<double> change(places, 1e300), later(places, 1e300);
    p.taken = &taken;
    p.decided = decided.data();
    p.decision = decision.data();
    p.proposed = proposed.data();
    p.proposal = proposal.data();
    p.change = change.data();
    p.later = later.data();
    emulation::launch(std::int64_t(places), int(32 * shape.warps), pipelined_kernel<T, E, S>, p);
    emulation::launch(view.replicas, 256, pipelined_sums_kernel<T>, p);
    p.first_cycle += cycles;
  }
}

struct Outcome {
  std::vector<std::uint32_t> coordinates;
  std::vector<double> energy, step_energy;
  std::vector<unsigned long long> accepted;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome(const System& system) {
  Outcome o;
  for (std::int64_t r = 0; r < system.replicas(); ++r)
    for (const Position& p : system.site_positions(r))
      for (const std::uint32_t x : {p.x, p.y, p.z}) o.coordinates.push_back(x);
  o.energy = system.energies();
  o.step_energy = system.step_energies();
  o.accepted = system.accepted();
  return o;
}

template <class T, class E, int S>
void check(const Model& model, double translation, Shape shape) {
  const MoveSizes sizes{translation * model.pairs[0].a, 0.4};
  const std::int64_t replicas = 2;
  const auto follow = [&](const std::vector<int>& launches) {
    System system(Device::cpu(1), model, lattice(model), replicas);
    system.set_temperatures({model.kT, 1.1 * model.kT});
    run<T, E, S>(system, sizes, launches, shape);
    return outcome(system);
  };
  const Outcome whole = follow({4});
  // The reference decides the same.
  System system(Device::cpu(1), model, lattice(model), replicas);
  system.set_temperatures({model.kT, 1.1 * model.kT});
  const auto sequential =
      make_engine("sequential", system, {.seed = 5, .single_precision = sizeof(T) == 4});
  sequential->set_sizes(sizes);
  sequential->run(0, 4);
  const Outcome reference = outcome(system);
  EXPECT_EQ(whole.coordinates, reference.coordinates);
  EXPECT_EQ(whole.accepted, reference.accepted);
  for (std::size_t r = 0; r < whole.energy.size(); ++r)
    EXPECT_NEAR(whole.energy[r], reference.energy[r],
                (sizeof(T) == 4 ? 1e-4 : 1e-10) * std::max(1.0, std::abs(reference.energy[r])));
  // The energies after every move: 4 cycles of them.
  const double moves = 4 * double(model.molecule.size());
  for (std::size_t r = 0; r < whole.energy.size(); ++r)
    EXPECT_NEAR(
        whole.step_energy[r], reference.step_energy[r],
        (sizeof(T) == 4 ? 1e-4 : 1e-10) * std::max(moves, std::abs(reference.step_energy[r])));
  // To the last bit the same, however the cycles are cut into launches.
  for (const std::vector<int>& launches : {std::vector{1, 1, 1, 1}, {1, 3}}) {
    SCOPED_TRACE(launches.size());
    EXPECT_TRUE(whole == follow(launches));
  }
}

template <class T>
void check_models() {
  check<T, PlainLennardJones, 1>(atoms(70, 0.7), 0.15, {4, 1});
  check<T, PlainLennardJones, 1>(atoms(20, 0.5), 0.15, {2, 1});  // one group, no band
  check<T, PlainLennardJones, 1>(atoms(96, 0.15), 3, {2, 2});
  check<T, PlainLennardJones, 2>(dimers(150, 0.3), 0.15, {4, 2});
  check<T, PlainLennardJones, 0>(benzene(40, 1.9), 0.15, {4, 1});
  check<T, AnyPair, 0>(mixture(97, 0.15), 0.15, {1, 3});
}

TEST(MetropolisEmulated, BitsDoNotDependOnLaunchesInSingle) { check_models<float>(); }
TEST(MetropolisEmulated, BitsDoNotDependOnLaunchesInDouble) { check_models<double>(); }

}  // namespace
}  // namespace perrin::metropolis
