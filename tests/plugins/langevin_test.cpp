// Langevin and Brownian dynamics against exact results, those of the discretised equations where
// they are known. Seeds are fixed; a tolerance is 4.5 standard deviations of the estimate under the
// theory unless it says otherwise.
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "engine/registry.h"
#include "engine/simulation.h"
#include "forces/harmonic_trap.h"
#include "plugins/langevin/noise.h"
#include "plugins/langevin/register.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

constexpr double sigmas = 4.5;

std::unique_ptr<Integrator> integrator(const Device& device, const Configuration& c,
                                       const std::string& json) {
  Registry registry("langevin");
  langevin::register_langevin(registry);
  langevin::register_brownian(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device;
  return make_component<Integrator>(registry, json, context);
}

/// n particles at the middle of a box, at rest; types in turn.
Configuration at_rest(int n, double length = 100, int types = 1) {
  Configuration c;
  c.box.length = {length, length, length};
  c.box.origin = -0.5 * c.box.length;
  for (int t = 0; t < types; ++t) c.types.push_back(std::string(1, char('A' + t)));
  c.position.assign(std::size_t(n), {});
  c.velocity.assign(std::size_t(n), {});
  for (int i = 0; i < n; ++i) c.type.push_back(std::uint32_t(i % types));
  return c;
}

using Forces = std::vector<std::unique_ptr<Force>>;

Forces trap(const Device& device, double k, std::size_t types = 1) {
  HarmonicTrapSettings s;
  s.stiffness = {k, k, k};
  Forces forces;
  forces.push_back(std::make_unique<HarmonicTrap>(s, device, types, std::vector<std::uint32_t>{}));
  return forces;
}

/// A simulation with an integrator that has begun.
struct Rig {
  Simulation simulation;
  std::unique_ptr<Integrator> mover;

  Rig(const Device& device, const Configuration& c, Forces forces, const std::string& json,
      std::uint64_t seed = 7)
      : simulation(device, c, std::move(forces), seed), mover(integrator(device, c, json)) {
    simulation.prepare(*mover);
    mover->begin(simulation);
  }
  void run(std::int64_t steps) { simulation.advance(*mover, steps); }
  Configuration now() const { return simulation.particles.configuration(); }
};

Vec3<double> unwrapped(const Configuration& c, std::size_t i) {
  Vec3<double> r = c.position[i];
  for (int axis = 0; axis < 3; ++axis) r[axis] += c.image[i][axis] * c.box.length[axis];
  return r;
}

/// Means over particles, axes and `samples` moments, `apart` steps from each other.
struct Moments {
  double x2 = 0, v2 = 0, mean = 0, numbers = 0;
};
Moments sample(Rig& rig, int samples, int apart) {
  Moments m;
  for (int k = 0; k < samples; ++k) {
    rig.run(apart);
    const Configuration c = rig.now();
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      m.x2 += dot(c.position[i], c.position[i]);
      m.v2 += dot(c.velocity[i], c.velocity[i]);
      m.mean += c.position[i].x + c.position[i].y + c.position[i].z;
      m.numbers += 3;
    }
  }
  m.x2 /= m.numbers, m.v2 /= m.numbers, m.mean /= m.numbers;
  return m;
}

/// The stationary covariance of s' = M s + g R, by iteration.
template <std::size_t N>
std::array<std::array<double, N>, N> stationary(const std::array<std::array<double, N>, N>& m,
                                                const std::array<double, N>& g) {
  std::array<std::array<double, N>, N> c{};
  for (int iteration = 0; iteration < 5000; ++iteration) {
    std::array<std::array<double, N>, N> next{};
    for (std::size_t a = 0; a < N; ++a)
      for (std::size_t b = 0; b < N; ++b) {
        next[a][b] = g[a] * g[b];
        for (std::size_t i = 0; i < N; ++i)
          for (std::size_t j = 0; j < N; ++j) next[a][b] += m[a][i] * c[i][j] * m[b][j];
      }
    c = next;
  }
  return c;
}

class LangevinPlugin : public DeviceTest {};

TEST_P(LangevinPlugin, ErmakMcCammonHasItsOwnVarianceInATrap) {
  const double dt = 0.2, k = 1, xi = 1, kt = 1;
  const double expected = kt / k / (1 - k * dt / (2 * xi));  // 1.111
  for (const char* fuse : {"true", "false"}) {
    Rig rig(device(), at_rest(15000), trap(device(), k),
            std::string(R"({"type": "brownian", "timestep": 0.2, "temperature": 1, "friction": 1,
                            "fuse": )") +
                fuse + "}");
    rig.run(60);
    const Moments m = sample(rig, 15, 25);  // 0.8^25 = 0.004: independent
    EXPECT_NEAR(m.x2 / expected, 1, sigmas * std::sqrt(2 / m.numbers)) << fuse;
    EXPECT_NEAR(m.mean, 0, sigmas * std::sqrt(expected / m.numbers)) << fuse;
    EXPECT_EQ(m.v2, 0);  // left alone
  }
}

TEST_P(LangevinPlugin, LeimkuhlerMatthewsHasTheExactVarianceInATrap) {
  Rig rig(device(), at_rest(15000), trap(device(), 2),
          R"({"type": "brownian", "timestep": 0.2, "temperature": 1.5, "friction": 1,
              "method": "leimkuhler_matthews"})");
  rig.run(60);
  const Moments m = sample(rig, 15, 15);  // 0.6^15 = 5e-4. Ermak–McCammon would be off by 25 %.
  EXPECT_NEAR(m.x2 / 0.75, 1, sigmas * std::sqrt(2 / m.numbers));
}

TEST_P(LangevinPlugin, BaoabHasTheExactConfigurationalVariance) {
  const double dt = 0.6, k = 1.5, xi = 1, kt = 2, h = dt / 2, c = std::exp(-xi * dt);
  // Stationary state of the map, which is what Leimkuhler and Matthews give in closed form.
  const double s = std::sqrt(kt * (1 - c * c)), b = 1 - h * h * k, a = -h * k;
  // v1 = v - h k x; x1 = x + h v1; v2 = c v1 + s R; x2 = x1 + h v2; v3 = v2 - h k x2
  const double xx = b + h * c * a, xv = h + h * c, xr = h * s;
  const auto cov =
      stationary<2>({{{xx, xv}, {c * a - h * k * xx, c - h * k * xv}}}, {xr, s - h * k * xr});
  EXPECT_NEAR(cov[0][0], kt / k, 1e-9);
  EXPECT_NEAR(cov[1][1], kt * (1 - k * dt * dt / 4), 1e-9);

  Rig rig(device(), at_rest(15000), trap(device(), k),
          R"({"type": "langevin", "timestep": 0.6, "temperature": 2, "friction": 1})");
  rig.run(60);
  const Moments m = sample(rig, 15, 20);  // exp(-γt/2) = 0.0025: independent
  EXPECT_NEAR(m.x2 / cov[0][0], 1, sigmas * std::sqrt(2 / m.numbers));
  EXPECT_NEAR(m.v2 / cov[1][1], 1, sigmas * std::sqrt(2 / m.numbers));  // 0.865 of kT
}

TEST_P(LangevinPlugin, VelocityVerletFormIsTheMapOfPhillips) {
  const double dt = 0.3, h = dt / 2, k = 1, xi = 1, kt = 1, s = std::sqrt(2 * xi * kt / dt);
  // w = v + h(b - k x); x' = x + dt w; b' = s R - xi w; v' = w + h(b' - k x'). State (x, v, b).
  std::array<std::array<double, 3>, 3> m{};
  const std::array<double, 3> w{-h * k, 1, h};
  for (std::size_t j = 0; j < 3; ++j) {
    m[0][j] = (j == 0 ? 1 : 0) + dt * w[j];
    m[2][j] = -xi * w[j];
    m[1][j] = w[j] + h * (m[2][j] - k * m[0][j]);
  }
  const auto cov = stationary<3>(m, {0, h * s, s});
  Rig rig(device(), at_rest(15000), trap(device(), k),
          R"({"type": "langevin", "timestep": 0.3, "temperature": 1, "friction": 1,
              "method": "velocity_verlet"})");
  rig.run(100);
  const Moments moments = sample(rig, 15, 40);
  EXPECT_NEAR(moments.x2 / cov[0][0], 1, sigmas * std::sqrt(2 / moments.numbers));
  EXPECT_NEAR(moments.v2 / cov[1][1], 1, sigmas * std::sqrt(2 / moments.numbers));
}

TEST_P(LangevinPlugin, FreeParticlesDiffuseThroughThePeriodicBox) {
  // 6 D t = 6 kT/xi t; in a box that they cross often.
  for (const char* noise : {"gaussian", "uniform"}) {
    Rig rig(device(), at_rest(20000, 16), {},
            std::string(R"({"type": "brownian", "timestep": 0.05, "temperature": 2,
                            "friction": 0.5, "noise": ")") +
                noise + "\"}");
    rig.run(200);
    const Configuration c = rig.now();
    double msd = 0;
    int crossed = 0;
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      const auto r = unwrapped(c, i);
      msd += dot(r, r);
      crossed += c.image[i] == Image{} ? 0 : 1;
    }
    const double n = double(c.position.size());
    EXPECT_NEAR(msd / n / (6 * 2 / 0.5 * 10), 1, sigmas * std::sqrt(2 / (3 * n))) << noise;
    EXPECT_GT(crossed, 5000);
  }
}

TEST_P(LangevinPlugin, VelocitiesForgetByFrictionOverMass) {
  // Types with different friction and masses: <v(0) v(t)> = kT/m exp(-xi t/m), which for a free
  // particle BAOAB has exactly.
  Configuration c = at_rest(30000, 100, 3);
  const double mass[3] = {1, 2, 0.5}, xi[3] = {1, 3, 1};
  for (const auto t : c.type) c.mass.push_back(mass[t]);
  Rig rig(device(), c, {},
          R"({"type": "langevin", "timestep": 0.05, "temperature": 1.5, "friction": 1,
              "frictions": {"B": 3}})");
  rig.run(200);
  const Configuration before = rig.now();
  rig.run(10);
  const Configuration after = rig.now();
  for (std::uint32_t t = 0; t < 3; ++t) {
    double square = 0, product = 0, n = 0;
    for (std::size_t i = 0; i < c.type.size(); ++i)
      if (c.type[i] == t) {
        square += dot(before.velocity[i], before.velocity[i]);
        product += dot(before.velocity[i], after.velocity[i]);
        n += 3;
      }
    const double kt = 1.5 / mass[t], decay = std::exp(-xi[t] * 0.5 / mass[t]);
    EXPECT_NEAR(square / n / kt, 1, sigmas * std::sqrt(2 / n)) << t;
    EXPECT_NEAR(product / n / kt, decay, sigmas * std::sqrt((1 + decay * decay) / n)) << t;
  }
  EXPECT_EQ(rig.simulation.degrees_of_freedom, 90000);
}

TEST_P(LangevinPlugin, FrictionFromDiameter) {
  Configuration c = at_rest(20000);
  for (std::size_t i = 0; i < c.type.size(); ++i) c.diameter.push_back(i % 2 ? 1.0 : 3.0);
  Rig rig(device(), c, {},
          R"({"type": "brownian", "timestep": 0.1, "temperature": 1, "viscosity": 0.2})");
  rig.run(50);
  const Configuration now = rig.now();
  for (std::size_t first : {0u, 1u}) {
    double msd = 0;
    for (std::size_t i = first; i < c.type.size(); i += 2) {
      const auto r = unwrapped(now, i);
      msd += dot(r, r);
    }
    const double expected = 6 * 5 / (3 * M_PI * 0.2 * c.diameter[first]);
    EXPECT_NEAR(msd / 10000 / expected, 1, sigmas * std::sqrt(2 / 30000.0)) << first;
  }
}

/// Sum of the Laplacian of the force-shifted Lennard-Jones potential over all particles.
double laplacian(const Configuration& c, double cutoff) {
  const double l = c.box.length.x, rc6 = std::pow(cutoff, -6);
  const double shift = 24 * rc6 * (1 - 2 * rc6) / cutoff;  // U'(r_c)
  double total = 0;
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec3<double> d = c.position[i] - c.position[j];
      for (int a = 0; a < 3; ++a) d[a] -= l * std::nearbyint(d[a] / l);
      const double r2 = dot(d, d);
      if (r2 > cutoff * cutoff) continue;
      const double i6 = 1 / (r2 * r2 * r2), r = std::sqrt(r2);
      const double first = 24 * i6 * (1 - 2 * i6) / r - shift;
      total += 2 * (24 * i6 * (26 * i6 - 7) / r2 + 2 * first / r);
    }
  return total;
}

struct Estimate {
  double mean, error;
};
/// The mean, and its standard deviation from 10 blocks, which are longer than what is correlated.
Estimate blocked(const std::vector<double>& x) {
  const std::size_t blocks = 10, each = x.size() / blocks;
  double mean = 0, square = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const double m = std::accumulate(&x[b * each], &x[b * each] + each, 0.0) / double(each);
    mean += m / double(blocks), square += m * m / double(blocks);
  }
  return {mean, std::sqrt((square - mean * mean) / double(blocks - 1))};
}

TEST_P(LangevinPlugin, EquipartitionInALennardJonesFluid) {
  // Configurational temperature <F²>/<Laplacian of U> (H. H. Rugh, Phys. Rev. Lett. 78, 772, 1997)
  // and kinetic temperature. Of the latter BAOAB is known to lose kT dt² <Laplacian>/(4·3 N m),
  // as in a harmonic trap: about 1 % at dt = 0.01. Tolerance: 4.5 deviations of the block means'
  // mean, and what remains of order dt^4.
  Configuration c = fcc(5, 0.8);
  thermalize(c, 1, 3);
  for (const double dt : {0.005, 0.01}) {
    Rig rig(device(), c, lennard_jones<ForceShift>(device(), 2.5),
            R"({"type": "langevin", "temperature": 1, "friction": 1, "timestep": )" +
                std::to_string(dt) + "}");
    rig.run(int(8 / dt));
    std::vector<double> kinetic, configurational, curvature;
    const double n = double(c.position.size());
    for (int k = 0; k < 100; ++k) {
      rig.run(int(0.2 / dt));
      double f2 = 0;
      for (const Real4& f : rig.simulation.particles.force.to_host())
        f2 += double(f.x) * f.x + double(f.y) * f.y + double(f.z) * f.z;
      const double l = laplacian(rig.now(), 2.5);
      kinetic.push_back(rig.simulation.temperature());
      configurational.push_back(f2 / l);
      curvature.push_back(l / (3 * n));
    }
    const Estimate tk = blocked(kinetic), tc = blocked(configurational);
    const double loss = dt * dt / 4 * blocked(curvature).mean;
    EXPECT_LT(tk.error, 0.02);
    EXPECT_LT(tc.error, 0.02);
    EXPECT_NEAR(tk.mean, 1 - loss, sigmas * tk.error + loss * loss) << dt << " loss " << loss;
    EXPECT_NEAR(tc.mean, 1, sigmas * tc.error + loss * loss) << dt;
  }
}

/// Every generator with every scheme it has.
std::vector<std::array<std::string, 2>> generators() {
  std::vector<std::array<std::string, 2>> all;
  for (const std::string& name : stream_names())
    if (name != "saru_state")
      for (const std::string& scheme : langevin::schemes_of(name)) all.push_back({name, scheme});
  return all;
}
std::string with_generator(std::string json, const std::array<std::string, 2>& g) {
  json.pop_back();
  return json + R"(, "rng": ")" + g[0] + R"(", "scheme": ")" + g[1] + "\"}";
}

TEST_P(LangevinPlugin, EveryGeneratorGivesTheVariance) {
  for (const auto& g : generators()) {
    Rig rig(device(), at_rest(4000), trap(device(), 1),
            with_generator(R"({"type": "brownian", "timestep": 0.2, "temperature": 1,
                               "friction": 1})",
                           g));
    rig.run(40);
    const Moments m = sample(rig, 6, 25);
    EXPECT_NEAR(m.x2 * 0.9, 1, sigmas * std::sqrt(2 / m.numbers)) << g[0] << " " << g[1];
    EXPECT_NEAR(m.mean, 0, sigmas * std::sqrt(1 / 0.9 / m.numbers)) << g[0] << " " << g[1];
    EXPECT_FALSE(rig.mover->finished(rig.simulation));  // the stream has no complaint

    Rig under(device(), at_rest(4000), {},
              with_generator(R"({"type": "langevin", "timestep": 0.5, "temperature": 1,
                                 "friction": 4})",
                             g));
    under.run(10);
    const Moments v = sample(under, 6, 3);
    EXPECT_NEAR(v.v2, 1, sigmas * std::sqrt(2 / v.numbers)) << g[0] << " " << g[1];
  }
}

const char* const kinds[] = {
    R"({"type": "langevin", "timestep": 0.05, "temperature": 1, "friction": 1})",
    R"({"type": "langevin", "timestep": 0.05, "temperature": 1, "friction": 1,
        "method": "velocity_verlet"})",
    R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1})",
    R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1, "fuse": false,
        "tally_heat": true})",
    R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1,
        "method": "leimkuhler_matthews"})"};

bool equal(const Configuration& a, const Configuration& b) {
  return a.position == b.position && a.velocity == b.velocity && a.image == b.image;
}

TEST_P(LangevinPlugin, MemoryOrderDoesNotMatter) {
  const int n = 700;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(2));
  Configuration c = at_rest(n, 8, 2);
  for (std::size_t i = 0; i < c.type.size(); ++i) c.position[i].x = double(i) / n;
  for (const char* kind : kinds)
    for (const auto& g : generators()) {
      const std::string json = with_generator(kind, g);
      Rig plain(device(), c, trap(device(), 1, 2), json),
          mixed(device(), c, trap(device(), 1, 2), json);
      plain.run(5), mixed.run(5);
      mixed.simulation.particles.reorder(Buffer<std::uint32_t>(device(), order));
      mixed.simulation.invalidate();  // forces do not follow
      mixed.simulation.ensure_forces();
      plain.run(5), mixed.run(5);
      EXPECT_TRUE(equal(plain.now(), mixed.now())) << json;
    }
}

TEST(LangevinPluginThreads, NumberOfThreadsDoesNotMatter) {
  const Configuration c = at_rest(3000, 8, 2);
  for (const char* kind : kinds)
    for (const auto& g : generators()) {
      const std::string json = with_generator(kind, g);
      const Device one = Device::cpu(1), three = Device::cpu(3);
      Rig a(one, c, trap(one, 1, 2), json), b(three, c, trap(three, 1, 2), json);
      a.run(5), b.run(5);
      EXPECT_TRUE(equal(a.now(), b.now())) << json;
    }
}

TEST_P(LangevinPlugin, ResumesBitForBit) {
  const Configuration c = at_rest(500, 8);
  for (const char* kind : kinds)
    for (const auto& g : generators()) {
      const std::string json = with_generator(kind, g);
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
      EXPECT_EQ(whole.mover->heat(whole.simulation), resumed.mover->heat(resumed.simulation))
          << json;
    }
}

TEST_P(LangevinPlugin, AnotherStageHasOtherNoise) {
  // A stream that does not follow the step is seeded anew when another stage begins.
  for (const auto& g : generators()) {
    const std::string json = with_generator(kinds[2], g);
    Rig rig(device(), at_rest(100), {}, json);
    rig.run(1);
    const auto first = rig.now().position;
    auto second = integrator(device(), rig.now(), json);
    second->begin(rig.simulation);
    rig.simulation.advance(*second, 1);
    const auto both = rig.now().position;
    int same = 0;
    for (std::size_t i = 0; i < first.size(); ++i)
      same += std::abs(both[i].x - 2 * first[i].x) < 1e-5 ? 1 : 0;
    EXPECT_LE(same, 1) << json;
  }
}

TEST_P(LangevinPlugin, TemperatureRamp) {
  // Friction so strong that velocities are drawn nearly anew: exp(-2·5) = 5e-5.
  Rig rig(device(), at_rest(20000), {},
          R"({"type": "langevin", "timestep": 0.1, "temperature": 1, "friction": 50,
              "final_temperature": 3, "ramp_steps": 40})");
  const double tolerance = sigmas * std::sqrt(2 / 60000.0) + 5e-5;
  for (const double expected : {1.5, 2.0, 2.5, 3.0, 3.0}) {
    rig.run(10);
    EXPECT_NEAR(rig.simulation.temperature() / expected, 1, tolerance);
  }
}

TEST_P(LangevinPlugin, AtTemperatureZeroThereIsOnlyDrag) {
  Configuration c = at_rest(2);
  c.velocity = {{1, -2, 3}, {}};
  Rig rig(device(), c, {},
          R"({"type": "langevin", "timestep": 0.1, "temperature": 0, "friction": 0.5})");
  rig.run(20);
  EXPECT_NEAR(rig.now().velocity[0].z, 3 * std::exp(-1), 2e-6);  // 20 roundings of floats
  EXPECT_EQ(rig.now().velocity[1], Vec3<double>{});
  EXPECT_NEAR(rig.mover->heat(rig.simulation), 7 * (std::exp(-2) - 1), 1e-5);
}

TEST_P(LangevinPlugin, TypesAndAxesThatStayOut) {
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
    EXPECT_EQ(rig.simulation.degrees_of_freedom, overdamped ? 3 * 199 : 2 * 100);
  }
}

TEST_P(LangevinPlugin, TotalEnergyMinusHeatIsConservedToSecondOrder) {
  // Oscillators that set out with no energy. At the moments of the noise, BAOAB without it
  // conserves v²/2 (1 - k dt²/4) + k x²/2 (m = 1), from which: E - Q = -kT dt² k/8 on average for
  // each.
  for (const double dt : {0.2, 0.1}) {
    Rig rig(device(), at_rest(4000), trap(device(), 1),
            R"({"type": "langevin", "temperature": 1, "friction": 1, "timestep": )" +
                std::to_string(dt) + "}");
    EXPECT_EQ(rig.mover->heat(rig.simulation), 0);
    rig.run(int(20 / dt));
    const double heat = rig.mover->heat(rig.simulation);
    const Totals& t = rig.simulation.totals();
    // E fluctuates by kT for each oscillator, and what is left of it by dt²/8 of that.
    EXPECT_NEAR(heat / 12000, 1, sigmas / std::sqrt(12000.0) + dt * dt / 4);
    EXPECT_NEAR((t.kinetic + t.potential - heat) / 12000, -dt * dt / 8,
                dt * dt / 8 * (0.01 + 2 * sigmas / std::sqrt(12000.0)));
  }
  // The velocity-Verlet form: second order shows in the ratio.
  double off[2];
  for (const int k : {0, 1}) {
    Rig rig(device(), at_rest(4000), trap(device(), 1),
            std::string(R"({"type": "langevin", "temperature": 1, "friction": 1,
                "method": "velocity_verlet", "timestep": )") +
                (k == 0 ? "0.2}" : "0.1}"));
    rig.run(k == 0 ? 100 : 200);
    const double heat = rig.mover->heat(rig.simulation);
    off[k] = (rig.simulation.totals().kinetic + rig.simulation.totals().potential - heat) / heat;
  }
  EXPECT_LT(std::abs(off[0]), 0.02);
  EXPECT_NEAR(off[0] / off[1], 4, 1);
}

TEST_P(LangevinPlugin, OverdampedHeatIsTheWorkAgainstTheForces) {
  // In a harmonic trap the mean force of a step is exact, so nothing but rounding is left.
  Configuration c = at_rest(2000);
  for (auto& r : c.position) r = {1, 0, 0};
  Rig rig(device(), c, trap(device(), 1),
          R"({"type": "brownian", "timestep": 0.1, "temperature": 1, "friction": 1,
              "tally_heat": true})");
  const double start = rig.simulation.totals().potential;
  rig.run(100);
  const double change = rig.simulation.totals().potential - start;
  EXPECT_NEAR(change / 2000, 1.5 / 0.95 - 0.5, 0.15);
  EXPECT_NEAR(rig.mover->heat(rig.simulation) / change, 1, 1e-4);
}

TEST_P(LangevinPlugin, FusedTrapIsTheTrap) {
  const std::string head =
      R"({"type": "brownian", "timestep": 0.05, "temperature": 1, "friction": 1, )";
  const Configuration c = at_rest(1000, 20);
  Rig fused(device(), c, trap(device(), 2), head + R"("fuse": true})");
  Rig plain(device(), c, trap(device(), 2), head + R"("fuse": false})");
  Rig bare(device(), c, trap(device(), 2), head + R"("keep_forces": false})");
  fused.run(30), plain.run(30), bare.run(30);
  const Configuration a = fused.now(), b = plain.now();
  const auto f = fused.simulation.particles.force.to_host();
  EXPECT_TRUE(equal(a, bare.now()));
  EXPECT_TRUE(std::isnan(bare.simulation.particles.force.to_host(0).x));
  for (std::size_t i = 0; i < a.position.size(); ++i) {
    EXPECT_NEAR(a.position[i].x, b.position[i].x, 1e-5);  // roundings of floats near 1
    EXPECT_NEAR(double(f[i].x), -2 * a.position[i].x, 1e-5);
  }
}

TEST(LangevinPluginSettings, Mistakes) {
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
}

TEST(LangevinPluginSettings, AnExhaustedGeneratorIsAnError) {
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

PERRIN_INSTANTIATE_DEVICES(LangevinPlugin);

}  // namespace
}  // namespace perrin
