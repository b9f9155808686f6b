// Langevin and Brownian dynamics: what must not change a trajectory, what goes on after a
// checkpoint, who is left out, and what is said to mistakes.
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "forces/register.h"
#include "tests/fluids.h"
#include "tests/plugins/langevin_rig.h"
#include "tests/series.h"

namespace perrin {
namespace {

using namespace langevin_tests;

class LangevinUse : public DeviceTest {};

const char* const kinds[] = {
    R"({"type": "langevin", "timestep": 0.05, "temperature": 1, "friction": 1})",
    R"({"type": "langevin", "timestep": 0.05, "temperature": 1, "friction": 1,
        "method": "velocity_verlet"})",
    R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1})",
    R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1, "fuse": false,
        "tally_heat": true})",
    R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1,
        "method": "leimkuhler_matthews"})"};

/// The jobs of `kinds` with every generator, and some with every method of normal numbers.
std::vector<std::string> jobs() {
  std::vector<std::string> all;
  for (const char* kind : kinds)
    for (const auto& g : generators()) {
      all.push_back(with_generator(kind, g));
      if (kind != kinds[0] && kind != kinds[4]) continue;
      for (const std::string& method : methods_of_normals())
        if (fits(method, g)) all.push_back(with_normals(with_generator(kind, g), method));
    }
  return all;
}

bool equal(const Configuration& a, const Configuration& b) {
  return a.position == b.position && a.velocity == b.velocity && a.image == b.image;
}

TEST_P(LangevinUse, MemoryOrderDoesNotMatter) {
  const int n = 700;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(2));
  Configuration c = at_rest(n, 8, 2);
  for (std::size_t i = 0; i < c.type.size(); ++i) c.position[i].x = double(i) / n;
  for (const std::string& json : jobs()) {
    Rig plain(device(), c, trap(device(), 1, 2), json),
        mixed(device(), c, trap(device(), 1, 2), json);
    plain.run(5), mixed.run(5);
    mixed.simulation.particles().memory_order().reorder(Buffer<std::uint32_t>(device(), order));
    mixed.simulation.invalidate();  // forces do not follow
    mixed.simulation.ensure_forces();
    plain.run(5), mixed.run(5);
    EXPECT_TRUE(equal(plain.now(), mixed.now())) << json;
  }
}

TEST_P(LangevinUse, StepsMayBeCutAnywhere) {
  // Between two calls the end of a step and the beginning of the next are passes of their own.
  Configuration c = at_rest(300, 8, 2);
  for (std::size_t i = 0; i < c.type.size(); ++i) c.position[i] = {double(i) / 300, 0.3, -1};
  for (const std::string& json : jobs()) {
    Rig whole(device(), c, trap(device(), 1, 2), json),
        cut(device(), c, trap(device(), 1, 2), json);
    whole.run(9);
    for (const int steps : {1, 2, 1, 1, 4}) cut.run(steps);
    EXPECT_TRUE(equal(whole.now(), cut.now())) << json;
  }
}

TEST_P(LangevinUse, LongBoxesTakeNothingFromDisplacements) {
  // The same free particles in two boxes, one with an edge of 10^8, of which a step is a share of
  // 10^-9 and less: every step is right to 2^-41 of the edge.
  constexpr int n = 50, steps = 20;
  for (const char* kind : kinds) {
    Configuration c = at_rest(n, 100), large = at_rest(n, 1e8);
    for (std::size_t i = 0; i < n; ++i) c.velocity[i] = {0.1, -0.2, double(i) / n};
    large.velocity = c.velocity;
    Rig in_short(device(), c, {}, kind), in_long(device(), large, {}, kind);
    in_short.run(steps), in_long.run(steps);
    const Configuration a = in_short.now(), b = in_long.now();
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3<double> expected = unwrapped(a, i), found = unwrapped(b, i);
      for (int axis = 0; axis < 3; ++axis)
        ASSERT_NEAR(found[axis], expected[axis], (steps + 1) * 1e8 * 0x1p-41 + 1e-5)
            << kind << ", particle " << i << ", axis " << axis;
    }
  }
}

TEST(LangevinThreads, NumberOfThreadsDoesNotMatter) {
  const Configuration c = at_rest(3000, 8, 2);
  for (const std::string& json : jobs()) {
    const Device one = Device::cpu(1), three = Device::cpu(3);
    Rig a(one, c, trap(one, 1, 2), json), b(three, c, trap(three, 1, 2), json);
    a.run(5), b.run(5);
    EXPECT_TRUE(equal(a.now(), b.now())) << json;
  }
}

TEST_P(LangevinUse, ResumesBitForBit) {
  const Configuration c = at_rest(500, 8);
  for (const std::string& json : jobs()) {
    Rig whole(device(), c, trap(device(), 1), json);
    whole.run(7);
    Archive saved = Archive::saving();
    whole.simulation.state(saved);
    whole.mover->state(saved);
    whole.run(7);

    Rig resumed(device(), c, trap(device(), 1), json);
    Archive restored = Archive::restoring(saved.records());
    resumed.simulation.state(restored);
    resumed.mover->begin(resumed.simulation);
    resumed.mover->state(restored);
    resumed.run(7);
    EXPECT_TRUE(equal(whole.now(), resumed.now())) << json;
    EXPECT_EQ(whole.mover->heat(whole.simulation), resumed.mover->heat(resumed.simulation)) << json;
  }
}

TEST_P(LangevinUse, AnotherStageHasOtherNoise) {
  // A stream that does not follow the step has a seed of the stage's own.
  for (const auto& g : generators()) {
    const std::string json = with_generator(kinds[2], g);
    Rig rig(device(), at_rest(100), {}, json);
    rig.run(1);
    const auto first = rig.now().position;
    auto second = integrator(device(), rig.now(), json, 1);
    second->begin(rig.simulation);
    rig.simulation.advance(*second, 1);
    const auto both = rig.now().position;
    int same = 0;
    for (std::size_t i = 0; i < first.size(); ++i)
      same += std::abs(both[i].x - 2 * first[i].x) < 1e-5 ? 1 : 0;
    EXPECT_LE(same, 1) << json;
  }
}

TEST_P(LangevinUse, TypesAndAxesThatStayOut) {
  for (const char* kind : kinds) {
    std::string json = kind;
    json.pop_back();
    Configuration c = at_rest(200, 20, 2);
    thermalize(c, 1, 4);
    for (std::size_t i = 0; i < c.type.size(); ++i) c.position[i] = {0.01 * double(i), -1, 2};
    Rig rig(device(), c, trap(device(), 1, 2), json + R"(, "types": ["B"], "axes": "xz"})");
    const Configuration start = rig.now();
    rig.run(20);
    const Configuration end = rig.now();
    const bool overdamped = json.find("brownian") != std::string::npos;
    for (std::size_t i = 0; i < c.type.size(); ++i) {
      EXPECT_EQ(end.position[i].y, start.position[i].y);
      EXPECT_EQ(end.position[i].x == start.position[i].x, c.type[i] == 0) << json;
      EXPECT_EQ(end.position[i].z == start.position[i].z, c.type[i] == 0);
      EXPECT_EQ(end.velocity[i] == start.velocity[i], c.type[i] == 0 || overdamped);
      EXPECT_EQ(end.velocity[i].y == 0, !overdamped);
      EXPECT_EQ(end.velocity[i].x == 0, !overdamped && c.type[i] == 0);
    }
    // A trap holds them: no momentum is conserved. Overdamped motion leaves all velocities alone,
    // and what moves counts.
    EXPECT_EQ(rig.simulation.degrees_of_freedom().number(), 2 * 100);
  }
}

std::unique_ptr<Force> harmonic_bonds(const Device& device, const Configuration& c) {
  Registry registry("forces");
  register_forces(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device;
  return make_component<Force>(
      registry, R"({"type": "bond_harmonic", "bonds": {"b": {"stiffness": 30, "length": 1}}})",
      context);
}

/// Of M dimers, and of single particles, in a volume that Brownian dynamics lets fluctuate:
/// positions give V^M exp(-PV/kT), the gamma distribution of shape M + 1: mean (M + 1) kT/P,
/// variance (M + 1) (kT/P)². Bonds take part by their virial.
TEST_P(LangevinUse, VolumesOfAnOverdampedGasAreGammaDistributed) {
  constexpr double kt = 1.5, pressure = 0.5, unit = kt / pressure;
  for (const int size : {1, 2}) {
    SCOPED_TRACE(size);
    constexpr int molecules = 300;
    const double volume = (molecules + 1) * unit;
    Configuration c;
    c.box.length = std::cbrt(volume) * Vec3<double>{1, 1, 1};
    c.types = {"A"};
    c.topology.bond_types = {"b"};
    std::mt19937 random(3);
    std::uniform_real_distribution<double> u;
    for (int m = 0; m < molecules; ++m) {
      const Vec3<double> f{u(random), u(random), u(random)};
      for (int k = 0; k < size; ++k)
        c.position.push_back(c.box.point({f.x, f.y, std::fmod(f.z + k / c.box.length.z, 1)}));
      if (size == 2) c.topology.bonds.push_back({unsigned(2 * m), unsigned(2 * m + 1), 0});
    }
    c.type.assign(c.position.size(), 0), c.mass.assign(c.position.size(), 1);
    const Device here = device().is_cuda() ? device() : Device::cpu(1);
    Forces forces;
    if (size == 2) forces.push_back(harmonic_bonds(here, c));
    Rig rig(here, c, std::move(forces),
            R"({"type": "brownian", "timestep": 0.002, "temperature": 1.5, "friction": 1,
                "method": "leimkuhler_matthews",
                "barostat": {"pressure": 0.5, "tau": 0.1, "stride": 4, "compressibility": 4}})");
    std::vector<double> volumes, squares;
    for (int k = 0; k < 4000; ++k) {
      rig.run(8);
      const double v = rig.simulation.particles().box().volume();
      if (k >= 100) volumes.push_back(v), squares.push_back((v - volume) * (v - volume));
    }
    const Estimate mean = estimate(volumes), variance = estimate(squares);
    EXPECT_NEAR(mean.mean, volume, sigmas * mean.error);
    EXPECT_NEAR(variance.mean, (molecules + 1) * unit * unit, sigmas * variance.error);
    EXPECT_GT(mean.independent, 30);
  }
}

TEST_P(LangevinUse, FusedTrapIsTheTrap) {
  const std::string head =
      R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1, )";
  const Configuration c = at_rest(1000, 20);
  Rig fused(device(), c, trap(device(), 2), head + R"("fuse": true})");
  Rig plain(device(), c, trap(device(), 2), head + R"("fuse": false})");
  Rig bare(device(), c, trap(device(), 2), head + R"("keep_forces": false})");
  fused.run(30), plain.run(30), bare.run(30);
  const Configuration a = fused.now(), b = plain.now();
  const auto f = fused.simulation.particles().force().to_host();
  EXPECT_TRUE(equal(a, bare.now()));
  EXPECT_TRUE(std::isnan(bare.simulation.particles().force().to_host(0).x));
  for (std::size_t i = 0; i < a.position.size(); ++i) {
    EXPECT_NEAR(a.position[i].x, b.position[i].x, 1e-5);  // roundings of floats near 1
    EXPECT_NEAR(double(f[i].x), -2 * a.position[i].x, 1e-5);
  }
}

TEST_P(LangevinUse, FusedTrapPullsToTheNearestImageInATiltedBox) {
  const std::string head =
      R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 10, )";
  Configuration c = at_rest(1000, 20);
  c.box.xy = 10, c.box.xz = -9, c.box.yz = 8;
  for (std::size_t i = 0; i < c.position.size(); ++i)  // a lattice that fills the box
    c.position[i] =
        c.box.point(Vec3<double>{double(i % 10) / 10 + 0.031, double(i / 10 % 10) / 10 + 0.023,
                                 double(i / 100) / 10 + 0.017});
  Rig fused(device(), c, trap(device(), 2), head + R"("fuse": true})");
  Rig plain(device(), c, trap(device(), 2), head + R"("fuse": false})");
  fused.run(5), plain.run(5);
  const auto f = fused.simulation.particles().force().to_host();
  const auto p = plain.simulation.particles().force().to_host();
  for (std::size_t i = 0; i < f.size(); ++i) {
    EXPECT_NEAR(double(f[i].x), double(p[i].x), 1e-4);
    EXPECT_NEAR(double(f[i].y), double(p[i].y), 1e-4);
    EXPECT_NEAR(double(f[i].z), double(p[i].z), 1e-4);
  }
}

TEST_P(LangevinUse, TheShortKernelIsTheGeneralOne) {
  // Naming all types says nothing new, but is not the plain case. On CUDA once with two particles
  // to a thread.
  for (const int n : {3000, device().is_cuda() ? (1 << 21) + 77 : 1})
    for (const char* noise : {"gaussian", "uniform"})
      for (const bool trapped : {false, true}) {
        Configuration c = at_rest(n, 4);
        for (auto& r : c.position) r.x = 1.9;  // close to the periodic face
        const auto forces = [&] { return trapped ? trap(device(), 2) : Forces{}; };
        const std::string json = R"({"type": "brownian", "timestep": 0.005, "temperature": 1,
                                     "friction": 1, "noise": ")" +
                                 std::string(noise) + "\"";
        Rig plain(device(), c, forces(), json + "}");
        Rig general(device(), c, forces(), json + R"(, "types": ["A"]})");
        plain.run(40), general.run(40);
        const Configuration a = plain.now(), b = general.now();
        std::size_t crossed = 0;
        double worst = 0;
        for (std::size_t i = 0; i < a.position.size(); ++i) {
          const auto d = unwrapped(a, i) - unwrapped(b, i);
          worst = std::max(worst, dot(d, d));
          crossed += a.image[i] == Image{} ? 0 : 1;
        }
        EXPECT_LT(std::sqrt(worst), 1e-4)
            << n << noise << trapped;  // 40 roundings of floats near 2
        if (!trapped && n > 1) {
          EXPECT_GT(crossed, a.position.size() / 10);
        }
      }
}

TEST(LangevinSettings, Mistakes) {
  const Configuration c = at_rest(10, 10, 2);
  const auto message = [&](const std::string& rest) -> std::string {
    try {
      integrator(Device::cpu(1), c,
                 R"({"type": "langevin", "timestep": 0.1, "temperature": 1, )" + rest + "}");
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(R"("friction": 1)"), "");
  EXPECT_NE(message(R"("axes": "xy")").find("friction"), std::string::npos);
  EXPECT_NE(message(R"("frictions": {"A": 1})").find("\"B\""), std::string::npos);
  EXPECT_EQ(message(R"("frictions": {"A": 1}, "types": ["A"])"), "");
  EXPECT_NE(message(R"("frictions": {"C": 1})").find("C"), std::string::npos);
  EXPECT_NE(message(R"("viscosity": 1)").find("diameter"), std::string::npos);
  EXPECT_NE(message(R"("viscosity": 1, "friction": 1)").find("either"), std::string::npos);
  EXPECT_NE(message(R"("friction": 1, "rng": "ran2", "scheme": "phillips")").find("per_particle"),
            std::string::npos);
  EXPECT_NE(message(R"("friction": 1, "final_temperature": 2)").find("ramp_steps"),
            std::string::npos);
  EXPECT_NE(message(R"("friction": 1, "rng": "mersenne")").find("mt607"), std::string::npos);
  EXPECT_NE(message(R"("friction": 1, "normals": "polar", "noise": "uniform")").find("gaussian"),
            std::string::npos);
  EXPECT_NE(message(R"("friction": 1, "normals": "ziggurat", "method": "velocity_verlet")")
                .find("gaussian"),
            std::string::npos);
  EXPECT_NE(
      message(R"("friction": 1, "normals": "polar", "rng": "lagged_fibonacci")").find("box_muller"),
      std::string::npos);
  EXPECT_EQ(message(R"("friction": 1, "normals": "box_muller", "rng": "lagged_fibonacci")"), "");
  EXPECT_EQ(message(R"("friction": 1, "normals": "inversion")").empty(), sizeof(Real) == 4);
}

TEST(LangevinSettings, AnExhaustedGeneratorIsAnError) {
  // LCG: a period of 2^32, 4 numbers (6 in the double build) a step. The step is what counts.
  const Configuration c = at_rest(10);
  Rig rig(
      Device::cpu(1), c, {},
      R"({"type": "brownian", "timestep": 0.1, "temperature": 1, "friction": 1, "rng": "lcg"})");
  EXPECT_NO_THROW(rig.mover->finished(rig.simulation));
  Archive saved = Archive::saving();
  rig.simulation.state(saved);
  auto records = saved.records();
  auto& step = records.at("simulation/step");
  const std::uint64_t late = std::uint64_t(1) << 31;
  std::memcpy(step.bytes.data(), &late, sizeof late);
  Archive restored = Archive::restoring(records);
  rig.simulation.state(restored);
  EXPECT_THROW(rig.mover->finished(rig.simulation), RunError);
}

PERRIN_INSTANTIATE_DEVICES(LangevinUse);

}  // namespace
}  // namespace perrin
