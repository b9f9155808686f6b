// The checkerboard engine: detailed balance against direct integration, no imprint of the grid,
// energies, state points against the sequential engine and an equation of state, repeatability.
// Seeds are fixed; a tolerance is `sigmas` standard errors unless it says otherwise, where possible
// those of the exact distribution, else from averages over blocks much longer than correlations.
#include <algorithm>
#include <random>

#include "engine/communicator/communicator.h"
#include "plugins/metropolis/checkerboard.h"
#include "plugins/metropolis/checkerboard_grid.h"
#include "tests/devices.h"
#include "tests/plugins/metropolis_models.h"

namespace perrin::metropolis {
namespace {

constexpr double sigmas = 4.5;

class CheckerboardTest : public DeviceTest {
 protected:
  bool cuda() const { return device().is_cuda(); }
};

ChainOptions chain(bool single, std::uint64_t seed = 1) {
  return {.seed = seed, .single_precision = single};
}
constexpr CheckerboardOptions four_trials{.trials = 4};

/// Mean and standard error of block averages.
struct Blocks {
  std::vector<double> value;
  double mean() const {
    double sum = 0;
    for (const double v : value) sum += v;
    return sum / double(value.size());
  }
  double error() const {
    const double m = mean();
    double sum = 0;
    for (const double v : value) sum += (v - m) * (v - m);
    return std::sqrt(sum / double(value.size() * (value.size() - 1)));
  }
};

double distance(const System& system, const Position& a, const Position& b) {
  const Vec3<double> d{double(std::int32_t(a.x - b.x)) * 0x1p-32 * system.box().x,
                       double(std::int32_t(a.y - b.y)) * 0x1p-32 * system.box().y,
                       double(std::int32_t(a.z - b.z)) * 0x1p-32 * system.box().z};
  return std::sqrt(dot(d, d));
}

// Two atoms in a box of 4³ cells: their distance has the density 4πr² exp(-u/kT) / Z, exactly, up
// to half of the edge. A move accepted too often anywhere, at a face of a domain or with a stale
// energy, would show.
TEST_P(CheckerboardTest, TwoAtomsFollowBoltzmann) {
  Model model = atoms(2, 2.0 / 64, 1, 1);
  model.pairs = {{PairKind::lennard_jones, 0.5, 1.2, 0, 1, 0}};
  const double edges[] = {0, 0.5, 0.54, 0.58, 0.65, 0.75, 0.87, 1, 1.3, 1.6, 1.9, 2};
  constexpr int bins = 11, blocks = 60;
  double expected[bins], z = model.volume() - 4 * std::numbers::pi / 3;
  for (int b = 0; b < bins; ++b) {
    constexpr int n = 2000;
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      const double r = edges[b] + (k + 0.5) / n * (edges[b + 1] - edges[b]);
      const double s6 = std::pow(0.5 / r, 6);
      const double u = r < 1 ? 4 * 1.2 * s6 * (s6 - 1) : 0;
      sum += 4 * std::numbers::pi * r * r * std::exp(-u);
    }
    expected[b] = sum * (edges[b + 1] - edges[b]) / n;
    if (b < 7) z += expected[b];  // up to the cut-off
  }
  System system(device(), model, lattice(model), 1);
  const auto engine = make_checkerboard(system, chain(false), {.trials = 3});
  engine->set_sizes({0.6, 0});
  const std::int64_t per_block = cuda() ? 200 : 2000;
  Blocks share[bins];
  std::int64_t sweep = 0;
  engine->run(sweep, 200), sweep += 200;
  for (int block = 0; block < blocks; ++block) {
    double count[bins] = {};
    for (int k = 0; k < per_block; ++k) {
      engine->run(sweep++, 1);
      engine->update_system();
      const auto at = system.centres();
      const double r = distance(system, at[0], at[1]);
      for (int b = 0; b < bins; ++b)
        if (r >= edges[b] && r < edges[b + 1]) ++count[b];
    }
    for (int b = 0; b < bins; ++b) share[b].value.push_back(count[b] / double(per_block));
  }
  for (int b = 0; b < bins; ++b) {
    // A bin that is hardly ever met: the error is that of the exact distribution, at least.
    const double p = expected[b] / z;
    const double least = std::sqrt(p / double(blocks * per_block));
    EXPECT_NEAR(share[b].mean(), p, sigmas * std::max(share[b].error(), least))
        << "r from " << edges[b];
  }
}

/// Sum of (n - m)²/m over equal bins.
double chi2(const std::vector<double>& count) {
  double total = 0, sum = 0;
  for (const double n : count) total += n;
  const double expected = total / double(count.size());
  for (const double n : count) sum += (n - expected) * (n - expected) / expected;
  return sum;
}
void expect_uniform(const std::vector<double>& count, const char* what) {
  const double freedom = double(count.size() - 1);
  EXPECT_NEAR(chi2(count), freedom, sigmas * std::sqrt(2 * freedom)) << what;
}

// Atoms without interaction start in one half of the box; soon each is anywhere with equal
// probability, in the box and in the cells of the last grid. With steps s = w/2 in cells of width w
// the variance of a trial is s² (1/3 - s/4w) (1 - s/2w)² = 0.029 w² along an axis; the slowest
// mode, exp(-D (2π/L)² t) with L = 8 w, has died out to 10⁻³ after 800 trials.
TEST_P(CheckerboardTest, IdealGasIsUniform) {
  constexpr std::size_t n = 4096;
  constexpr double edge = 4.02;
  Model model = atoms(n, double(n) / (edge * edge * edge), 1, 0.5);
  model.pairs = {{PairKind::lennard_jones, 0.4, 0, 0, 0.5, 0}};
  Placement start = lattice(model);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (auto& c : start.centre)
    c = edge * Vec3<double>{uniform(random) / 2, uniform(random), uniform(random)};
  System system(device(), model, start, 1);
  const ChainOptions o = chain(true, 5);
  const auto engine = make_checkerboard(system, o, {.trials = 8});
  ASSERT_EQ(engine->cells(), (Vec3<std::int32_t>{8, 8, 8}));
  engine->set_sizes({edge / 16, 0});
  constexpr std::int64_t sweeps = 100;
  engine->run(0, sweeps);
  engine->update_system();
  std::vector<double> box(512), cell[3];
  for (auto& c : cell) c.resize(16);
  const auto last =
      checkerboard_plan(RunKey(Purpose::metropolis_choice, o.seed), sweeps - 1, engine->cells());
  for (const Position& p : system.centres()) {
    ++box[(p.x >> 29) * 64 + (p.y >> 29) * 8 + (p.z >> 29)];
    const std::uint32_t at[] = {p.x - last.grid.shift.x, p.y - last.grid.shift.y,
                                p.z - last.grid.shift.z};
    for (int a = 0; a < 3; ++a)
      ++cell[a][std::size_t((std::uint64_t(at[a]) * 16 * std::uint32_t(engine->cells()[a])) >> 32) %
                16];
  }
  expect_uniform(box, "in the box");
  for (const auto& c : cell) expect_uniform(c, "in the cells");
  // All is accepted that stays inside: 1 - s/2w per axis.
  const double p = 0.75 * 0.75 * 0.75;
  const double accepted = double(system.accepted()[0]) / (8.0 * double(n) * sweeps);
  EXPECT_NEAR(accepted, p, sigmas * std::sqrt(p * (1 - p) / double(n * sweeps)));
}

/// Atoms of two kinds at liquid density.
Model two_kinds(std::size_t n) {
  Model model = atoms(n, 0.8, 1, 2.5);
  model.types = {"A", "B"};
  model.templates.push_back({"other", {{1, {0, 0, 0}}}});
  for (std::size_t i = 0; i < n; i += 3) model.molecule[i] = 1;
  model.pairs.assign(4, {PairKind::lennard_jones, 1, 1, 0, 2.5, 0});
  model.pairs[1] = model.pairs[2] = {PairKind::lennard_jones, 0.95, 0.7, 0, 2.2, 0};
  model.pairs[3] = {PairKind::lennard_jones, 0.9, 0.5, 0, 2.25, 0};
  return model;
}

// The running energy against the one summed over all pairs, by another routine. In double the
// difference is rounding. In single, 1.2·10⁵ trials in 30 sweeps of 1000 atoms: the rounding of a
// visit's energies is some 10⁻⁵, random, 10⁻³ in all; and every 2·10⁴-th visit takes a pair at the
// cut-off for one beyond or the reverse, which is 0.016 each: 2 pairs or so. Taken: 8 of them.
TEST_P(CheckerboardTest, EnergyIsThatOfThePositions) {
  for (const bool single : {false, true}) {
    const Model model = two_kinds(1000);
    System system(device(), model, lattice(model), 1);
    const auto engine = make_checkerboard(system, chain(single), four_trials);
    engine->set_sizes({0.13, 0});
    system.set_energies({engine->totals()[0].energy});
    engine->run(0, 20);
    engine->run(20, 10);
    const Totals own = engine->totals()[0];
    engine->update_system();
    const Totals all = compute_totals(system, false)[0];
    EXPECT_NEAR(own.energy, all.energy, 1e-9 * std::abs(all.energy));
    EXPECT_NEAR(own.virial, all.virial, 1e-9 * std::abs(all.virial) + 1e-8);
    EXPECT_NEAR(system.energies()[0], all.energy, single ? 0.13 : 1e-8);
    const double share = double(system.accepted()[0]) / (30 * 4 * 1000.0);
    EXPECT_GT(share, 0.2);
    EXPECT_LT(share, 0.6);
  }
}

// Volume moves change the box under the engine: another grid, the same fractions.
TEST_P(CheckerboardTest, FollowsTheBox) {
  const Model model = two_kinds(2000);
  System system(device(), model, lattice(model), 1);
  const auto engine = make_checkerboard(system, chain(false), four_trials);
  engine->set_sizes({0.13, 0});
  engine->run(0, 3);
  const auto cells = engine->cells();
  for (const double factor : {0.9, 1.4}) {
    system.set_box(factor * system.box());
    const double energy = compute_totals(system, false)[0].energy;
    EXPECT_NEAR(engine->totals()[0].energy, energy, 1e-9 * std::abs(energy));
    engine->system_changed();
    system.set_energies({energy});
    engine->run(3, 2);
    const double after = compute_totals(system, false)[0].energy;
    EXPECT_NEAR(system.energies()[0], after, 1e-8 * std::abs(after));
    EXPECT_NE(after, energy);
  }
  EXPECT_NE(engine->cells(), cells);
}

struct Outcome {
  std::vector<Position> at;
  double energy;
  unsigned long long accepted;
};
Outcome outcome(const Device& device, const Model& model, const ChainOptions& chain, int sweeps,
                int at_once = 1, double margin = 0) {
  System system(device, model, lattice(model), 1);
  const auto engine = make_engine(system, chain, CheckerboardOptions{4, margin});
  engine->set_sizes({0.13, 0});
  for (int s = 0; s < sweeps; s += at_once) engine->run(s, at_once);
  engine->update_system();
  return {system.centres(), system.energies()[0], system.accepted()[0]};
}
int differences(const Outcome& a, const Outcome& b) {
  int n = 0;
  for (std::size_t i = 0; i < a.at.size(); ++i)
    n += a.at[i].x != b.at[i].x || a.at[i].y != b.at[i].y || a.at[i].z != b.at[i].z ? 1 : 0;
  return n;
}

TEST(Checkerboard, ThreadsChangeNothing) {
  const Model model = two_kinds(3000);
  const Outcome one = outcome(Device::cpu(1), model, chain(true), 6);
  for (const int threads : {2, 4}) {
    const Outcome more = outcome(Device::cpu(threads), model, chain(true), 6);
    EXPECT_EQ(differences(one, more), 0);
    EXPECT_EQ(one.energy, more.energy);
    EXPECT_EQ(one.accepted, more.accepted);
  }
}

// Repeated in other chunks: the same bits. With other margins: the same decisions (in double; the
// sums over candidates then differ by 10⁻¹⁵, and 5·10⁴ decisions do not hang on that).
TEST_P(CheckerboardTest, RepeatsAndMarginsChangeNothing) {
  const Model model = two_kinds(2000);
  const Outcome first = outcome(device(), model, chain(false), 6);
  const Outcome again = outcome(device(), model, chain(false), 6, 3);
  EXPECT_EQ(differences(first, again), 0);
  EXPECT_EQ(first.accepted, again.accepted);
  EXPECT_EQ(first.energy, again.energy);
  for (const double margin : {0.001, 0.1, 0.8}) {
    const Outcome other = outcome(device(), model, chain(false), 6, 1, margin);
    EXPECT_EQ(differences(first, other), 0) << margin;
    EXPECT_EQ(first.accepted, other.accepted);
  }
  const Outcome other_seed = outcome(device(), model, chain(false, 2), 6);
  EXPECT_GT(differences(first, other_seed), 1900);
}

// Under mpirun: each process moves its share, and all have the state of the first one.
TEST_P(CheckerboardTest, ProcessesAgree) {
  const Model model = two_kinds(2000);
  const Outcome own = outcome(device(), model, chain(false), 6);
  Outcome of_first = own;
  Communicator& world = Communicator::world();
  world.broadcast(of_first.at.data(), of_first.at.size() * sizeof(Position));
  EXPECT_EQ(differences(own, of_first), 0);
  EXPECT_EQ(own.energy, world.of_first(own.energy));
  EXPECT_EQ(own.accepted, std::uint64_t(world.of_first(std::int64_t(own.accepted))));
}

// What a checkpoint holds, coordinates and the number of the cycle, is enough to go on with the
// same bits.
TEST_P(CheckerboardTest, GoesOnFromCoordinates) {
  const Model model = two_kinds(2000);
  const Outcome whole = outcome(device(), model, chain(true), 6);
  const Outcome half = outcome(device(), model, chain(true), 3);
  System system(device(), model, lattice(model), 1);
  system.set_centres(half.at);
  system.rebuild_sites();
  const auto engine = make_checkerboard(system, chain(true), four_trials);
  engine->set_sizes({0.13, 0});
  engine->run(3, 3);
  EXPECT_EQ(differences(whole, {system.centres(), 0, 0}), 0);
  EXPECT_EQ(half.accepted + system.accepted()[0], whole.accepted);
}

// CPU and GPU: in double the same decisions, as above. In single, energies of order 10 differ by
// some 10⁻⁶ and 9·10⁴ decisions are within that of the threshold with probability 0.1; what
// follows from one is different.
TEST_P(CheckerboardTest, DecidesAsTheCpuDoes) {
  if (!cuda()) GTEST_SKIP() << "is the CPU";
  const Model model = two_kinds(3000);
  const Outcome cpu = outcome(Device::cpu(2), model, chain(false), 6);
  const Outcome gpu = outcome(device(), model, chain(false), 6);
  EXPECT_EQ(differences(cpu, gpu), 0);
  EXPECT_EQ(cpu.accepted, gpu.accepted);
  EXPECT_NEAR(cpu.energy, gpu.energy, 1e-7);
  const Outcome cpu1 = outcome(Device::cpu(2), model, chain(true), 1);
  const Outcome gpu1 = outcome(device(), model, chain(true), 1);
  EXPECT_LE(differences(cpu1, gpu1), 10);
}

// More atoms in range than a list, or a domain's share of the memory, can hold: a slower way. Soft
// spheres, 94 (GPU: 300) to a cell.
TEST_P(CheckerboardTest, CrowdedDomains) {
  const std::size_t n = cuda() ? 20000 : 6000;
  Model model = atoms(n, double(n) / 64, 1, 1);
  model.pairs = {{PairKind::soft_dpd, 0.1, 0, 0, 1, 0}};
  System system(device(), model, lattice(model), 1);
  const auto engine = make_checkerboard(system, chain(false), {.trials = 1});
  engine->set_sizes({0.2, 0});
  system.set_energies({engine->totals()[0].energy});
  engine->run(0, 2);
  engine->update_system();
  const double all = compute_totals(system, false)[0].energy;
  EXPECT_NEAR(system.energies()[0], all, 1e-10 * all);
  EXPECT_GT(system.accepted()[0], n);
}

/// Hard cores in a dense fluid: none is ever inside another.
TEST_P(CheckerboardTest, CoresNeverOverlap) {
  Model model = atoms(1000, 0.6, 1, 1.5);
  model.pairs[0].core = 0.95;
  System system(device(), model, lattice(model), 1);
  const auto engine = make_checkerboard(system, chain(true), four_trials);
  engine->set_sizes({0.2, 0});
  engine->run(0, 40);
  EXPECT_EQ(engine->totals()[0].cores, 0);
  EXPECT_GT(system.accepted()[0], 10000u);
}

struct StateAverages {
  Blocks energy, pressure;  // per atom without tail; likewise
  std::vector<Blocks> g;
};
constexpr double g_width = 0.1;
constexpr int g_bins = 25;

void add_pairs(const System& system, std::vector<double>& count) {
  const auto at = system.centres();
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double r = distance(system, at[i], at[j]);
      if (r < g_width * g_bins) ++count[std::size_t(r / g_width)];
    }
}

/// `cycles` per block of as many trials as atoms each.
StateAverages sample(const Device& device, const EngineOptions& options, const Model& model,
                     std::int64_t cycles, int blocks, double step) {
  System system(device, model, lattice(model), 1);
  const auto engine = make_engine(system, chain(true), options);
  engine->set_sizes({step, 0});
  const std::int64_t runs = cycles * system.molecules() / engine->moves_per_cycle();
  const std::int64_t apart = std::max<std::int64_t>(1, runs / 8);
  std::int64_t next = 0;
  const double n = double(system.molecules());
  StateAverages averages;
  averages.g.resize(g_bins);
  for (int block = -3; block < blocks; ++block) {  // three to forget the start
    double energy = 0, pressure = 0, samples = 0;
    std::vector<double> count(g_bins);
    for (std::int64_t k = 0; k < runs; k += apart) {
      engine->run(next, apart);
      next += apart;
      const Totals t = engine->totals()[0];
      energy += t.energy / n;
      pressure += (n * model.kT + t.virial / 3) / model.volume();
      samples += 1;
      engine->update_system();
      if (block >= 0) add_pairs(system, count);
    }
    if (block < 0) continue;
    averages.energy.value.push_back(energy / samples);
    averages.pressure.value.push_back(pressure / samples);
    for (int b = 0; b < g_bins; ++b) {
      const double volume =
          4 * std::numbers::pi / 3 * std::pow(g_width, 3) * (std::pow(b + 1, 3) - std::pow(b, 3));
      averages.g[std::size_t(b)].value.push_back(count[std::size_t(b)] / samples /
                                                 (n * n / 2 / model.volume() * volume));
    }
  }
  return averages;
}

void expect_same(const Blocks& a, const Blocks& b, const char* what, int bin = 0) {
  EXPECT_NEAR(a.mean(), b.mean(), sigmas * std::hypot(a.error(), b.error()) + 1e-12)
      << what << " " << bin;
}

// Two fluids against the engine that moves one atom after the other. The equation of state is that
// of Kolafa and Nezbeda (Fluid Phase Equilib. 100, 1 (1994)), here evaluated once, less the tail
// beyond 2.5 (u: 8/3 πρ(r⁻⁹/3 - r⁻³), p: 16/3 πρ²(2r⁻⁹/3 - r⁻³)). It and its tail are given 0.01
// in u and 0.02 in p beyond the statistical error.
TEST_P(CheckerboardTest, LennardJonesFluids) {
  struct {
    std::size_t atoms;
    double temperature, density, step, u, p;
  } const states[] = {{729, 1.2, 0.7, 0.15, -4.3838, 1.1890},
                      {343, 2.0, 0.3, 0.4, -1.7664, 0.5826}};
  for (const auto& s : states) {
    const Model model = atoms(s.atoms, s.density, s.temperature, 2.5);
    const auto board = sample(device(), four_trials, model, cuda() ? 640 : 256, 12, s.step);
    const auto plain =
        sample(Device::cpu(2), SequentialOptions{}, model, cuda() ? 128 : 64, 12, s.step);
    expect_same(board.energy, plain.energy, "energy");
    expect_same(board.pressure, plain.pressure, "pressure");
    for (int b = 0; b < g_bins; ++b)
      expect_same(board.g[std::size_t(b)], plain.g[std::size_t(b)], "g", b);
    EXPECT_NEAR(board.energy.mean(), s.u, sigmas * board.energy.error() + 0.01);
    EXPECT_NEAR(board.pressure.mean(), s.p, sigmas * board.pressure.error() + 0.02);
    EXPECT_LT(board.energy.error(), 0.02);  // or the test says little
    std::printf(
        "[          ] T %g rho %g: u %.4f ± %.4f (sequential %.4f ± %.4f), p %.4f ± %.4f "
        "(%.4f ± %.4f)\n",
        s.temperature, s.density, board.energy.mean(), board.energy.error(), plain.energy.mean(),
        plain.energy.error(), board.pressure.mean(), board.pressure.error(), plain.pressure.mean(),
        plain.pressure.error());
  }
}

TEST(Checkerboard, SaysWhatItCannotDo) {
  const auto complaint = [](const Model& model, std::int64_t replicas, ChainOptions o) {
    try {
      System system(Device::cpu(1), model, lattice(model), replicas);
      make_checkerboard(system, o);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(complaint(atoms(1000, 0.5, 1, 2.5), 1, {}), "none");
  EXPECT_TRUE(says(complaint(atoms(1000, 0.5), 1, {}), "cut-off"));
  EXPECT_TRUE(says(complaint(atoms(100, 0.5, 1, 2.5), 1, {}), "4 cut-offs"));
  EXPECT_TRUE(says(complaint(dimers(1000, 0.5), 1, {}), "only atoms"));
  EXPECT_TRUE(says(complaint(atoms(1000, 0.5, 1, 2.5), 2, {}), "replicas"));
  ChainOptions random;
  random.random_order = true;
  EXPECT_TRUE(says(complaint(atoms(1000, 0.5, 1, 2.5), 1, random), "random"));
}

TEST(Checkerboard, GridCutsTheBoxIntoCells) {
  // Also where the number of cells is no power of two: lower() is where cell() changes.
  for (const std::int32_t n : {4, 6, 10, 66}) {
    const std::uint32_t origin = 0xdeadbeef;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::uint32_t first = CheckerboardGrid::lower(i, origin, n);
      EXPECT_EQ(CheckerboardGrid::along(first, origin, n), std::uint32_t(i));
      EXPECT_EQ(CheckerboardGrid::along(first - 1, origin, n), std::uint32_t((i + n - 1) % n));
    }
  }
  const Vec3<std::int32_t> cells = checkerboard_cells({10, 12.6, 40.1}, 2.5, 100000);
  EXPECT_EQ(cells, (Vec3<std::int32_t>{4, 4, 16}));
  EXPECT_EQ(checkerboard_cells({100, 100, 100}, 1, 100).x, 4);  // a thin gas
}

PERRIN_INSTANTIATE_DEVICES(CheckerboardTest);

}  // namespace
}  // namespace perrin::metropolis
