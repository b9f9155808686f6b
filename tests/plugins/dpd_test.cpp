// Plug-in dpd: the noise of pairs, the force, the integrators. Statistical tests have fixed seeds;
// "5 sigma" is five standard errors that theory gives, or that blocks of the run give where it says
// so.
#include <cmath>
#include <functional>
#include <random>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "plugins/dpd/groot_warren.h"
#include "plugins/dpd/noise.h"
#include "plugins/dpd/register.h"
#include "plugins/dpd/split.h"
#include "tests/devices.h"

namespace perrin {
namespace {

using namespace dpd;

// ---- noise ----

/// Number k of a pattern: which step and pair the noise is drawn for.
struct Draw {
  enum Pattern { partners, pairs, steps, far_ids } pattern;
  std::uint64_t step;
  PERRIN_HD void key(std::int64_t k, std::uint64_t& s, std::uint32_t& a, std::uint32_t& b) const {
    s = step, a = 7, b = std::uint32_t(k) + 8;
    if (pattern == pairs) a = std::uint32_t(k & 511), b = 1000 + std::uint32_t(k >> 9);
    if (pattern == steps) s = step + std::uint64_t(k), b = 8;
    // beyond 65 536, where ids packed as i + N j overflow
    if (pattern == far_ids)
      a = 100000 + std::uint32_t(k & 511), b = 3000000000u + std::uint32_t(k >> 9);
  }
};

template <class Noise>
struct DrawAll {
  Noise noise;
  Draw draw;
  bool swapped;
  Real* out;
  PERRIN_HD void operator()(std::int64_t k) const {
    std::uint64_t s;
    std::uint32_t a, b;
    draw.key(k, s, a, b);
    out[k] = swapped ? noise(s, b, a) : noise(s, a, b);
  }
};

constexpr std::int64_t draws = 1 << 17;

template <class Noise>
std::vector<Real> drawn(const Device& device, const Noise& noise, Draw draw, bool swapped = false) {
  Buffer<Real> out(device, draws);
  for_each(device, "draw", draws, DrawAll<Noise>{noise, draw, swapped, out.data()});
  return out.to_host();
}

double mean_product(const std::vector<Real>& x, const std::vector<Real>& y, std::size_t lag = 0) {
  double sum = 0;
  for (std::size_t k = 0; k + lag < x.size(); ++k) sum += double(x[k]) * double(y[k + lag]);
  return sum / double(x.size() - lag);
}

/// 5 sigma of a mean of independent numbers of variance 1.
const double bound = 5 / std::sqrt(double(draws));

/// `neighbour`: noise of the next seed; nullptr where the keys are known to relate seeds and steps.
template <class Noise>
void check_noise(const Device& device, const Noise& noise, const Noise* neighbour,
                 double kurtosis) {
  for (const auto pattern : {Draw::partners, Draw::pairs, Draw::steps, Draw::far_ids}) {
    SCOPED_TRACE(pattern);
    const auto x = drawn(device, noise, {pattern, 1000});
    double mean = 0;
    for (const Real v : x) mean += double(v) / draws;
    EXPECT_LT(std::abs(mean), bound);
    EXPECT_LT(std::abs(mean_product(x, x) - 1), bound * std::sqrt(kurtosis - 1));
    // The next partner, pair or step; and those a little further.
    for (const std::size_t lag : {1, 2, 3, 16, 512})
      EXPECT_LT(std::abs(mean_product(x, x, lag)), bound) << "lag " << lag;
    if (pattern != Draw::steps) {
      for (const std::uint64_t next : {1001, 1002, 1016})
        EXPECT_LT(std::abs(mean_product(x, drawn(device, noise, {pattern, next}))), bound);
    }
    // Bits of the step beyond 32 count, too, with Perrin's keys.
    if (neighbour) {
      const auto later = drawn(device, noise, {pattern, 1000 + (std::uint64_t(1) << 32)});
      EXPECT_LT(std::abs(mean_product(x, later)), bound);
      EXPECT_LT(std::abs(mean_product(x, drawn(device, *neighbour, {pattern, 1000}))), bound);
      const auto both = drawn(device, *neighbour, {pattern, 1001});
      EXPECT_LT(std::abs(mean_product(x, both)), bound);
    }
    EXPECT_EQ(x, drawn(device, noise, {pattern, 1000}, true));
  }
}

class DpdTest : public DeviceTest {
 protected:
  /// For runs of many short steps: one thread on the CPU (the results do not depend on it).
  Device single() const { return device().is_cuda() ? device() : Device::cpu(1); }
};

template <class G>
void check_default(const Device& device) {
  const UniformNoise<DefaultKeys<G>> uniform{DefaultKeys<G>(5)}, next{DefaultKeys<G>(6)};
  check_noise(device, uniform, &next, 1.8);
}

TEST_P(DpdTest, NoiseOfSaru) { check_default<Saru>(device()); }
TEST_P(DpdTest, NoiseOfTea) { check_default<Tea>(device()); }
TEST_P(DpdTest, NoiseOfSaruTea) { check_default<SaruTea>(device()); }
TEST_P(DpdTest, NoiseOfPhilox) { check_default<Philox>(device()); }
TEST_P(DpdTest, NormalNoise) {
  const AnyNoise normal({Generator::saru, false, true}, 5), next({Generator::saru, false, true}, 6);
  check_noise(device(), normal, &next, 3);
}
TEST_P(DpdTest, NoiseOfThePapersKeys) {
  const UniformNoise<PaperKeys<Saru>> saru{PaperKeys<Saru>(5)};
  check_noise<UniformNoise<PaperKeys<Saru>>>(device(), saru, nullptr, 1.8);
  const UniformNoise<PaperKeys<SaruTea>> sarutea{PaperKeys<SaruTea>(5)};
  check_noise<UniformNoise<PaperKeys<SaruTea>>>(device(), sarutea, nullptr, 1.8);
}

// ---- systems ----

Configuration cube(double length, const std::vector<std::string>& types = {"A"}) {
  Configuration c;
  c.box.length = {length, length, length};
  c.box.origin = -0.5 * c.box.length;
  c.types = types;
  return c;
}

Configuration fluid(double length, unsigned seed) {
  Configuration c = cube(length);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-length / 2, length / 2);
  std::normal_distribution<double> normal;
  const auto n = std::size_t(std::lround(3 * length * length * length));
  Vec3<double> sum{};
  for (std::size_t k = 0; k < n; ++k) {
    c.position.push_back({u(random), u(random), u(random)});
    c.velocity.push_back({normal(random), normal(random), normal(random)});
    sum += c.velocity.back();
  }
  for (auto& v : c.velocity) v -= (1.0 / double(n)) * sum;
  c.type.assign(n, 0);
  return c;
}

constexpr int pairs = 256;

/// Pairs of particles at random distances below 1, each pair out of reach of the others.
Configuration isolated_pairs(double mass, double speed) {
  Configuration c = cube(24, {"A", "B"});
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(-0.55, 0.55);
  std::normal_distribution<double> normal;
  for (int k = 0; k < pairs; ++k) {
    const Vec3<double> at{3.0 * (k % 8) - 10.5, 3.0 * (k / 8 % 8) - 10.5, 3.0 * (k / 64) - 10.5};
    c.position.push_back(at);
    c.position.push_back(at + Vec3<double>{u(random), u(random), u(random)});
    for (int half = 0; half < 2; ++half) {
      c.velocity.push_back(speed * Vec3<double>{normal(random), normal(random), normal(random)});
      c.mass.push_back(mass);
      c.type.push_back(std::uint32_t(random() & 1));
    }
  }
  return c;
}

std::unique_ptr<Force> force(const Device& device, const Configuration& c,
                             const std::string& json) {
  Registry registry;
  register_dpd(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device;
  return make_component<Force>(registry, json, context);
}

Simulation simulation(const Device& device, const Configuration& c, const std::string& json,
                      std::uint64_t seed = 1) {
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(force(device, c, json));
  return Simulation(device, c, std::move(forces), seed);
}

std::string standard(double repulsion = 25, double temperature = 1, const std::string& more = "") {
  return R"({"type": "dpd", "temperature": )" + std::to_string(temperature) + more +
         R"(, "pairs": [{"types": ["A", "A"], "gamma": 4.5, "repulsion": )" +
         std::to_string(repulsion) + "}]}";
}
std::string two_types(double repulsion, double temperature, const std::string& more = "") {
  std::string text =
      R"({"type": "dpd", "temperature": )" + std::to_string(temperature) + more + R"(, "pairs": [)";
  for (const char* types : {R"(["A", "A"])", R"(["A", "B"])", R"(["B", "B"])"}) {
    text += std::string(text.back() == '[' ? "" : ", ") + R"({"types": )" + types +
            R"(, "gamma": 4.5, "repulsion": )" + std::to_string(repulsion) + "}";
  }
  return text + "]}";
}

/// Forces by id at the start, as the first half of a step uses them.
std::vector<Real4> forces_of(Simulation& s, const Integrator& integrator) {
  s.prepare(integrator);
  s.ensure_forces();
  const auto force = s.particles().force().to_host();
  const auto id = s.particles().id().to_host();
  std::vector<Real4> by_id(force.size());
  for (std::size_t k = 0; k < force.size(); ++k) by_id[id[k]] = force[k];
  return by_id;
}

struct Geometry {
  double r, w;
  Vec3<double> e;
};
Geometry geometry(const Configuration& c, std::size_t k) {
  const Vec3<double> d = c.position[2 * k] - c.position[2 * k + 1];
  const double r = std::sqrt(dot(d, d));
  return {r, r < 1 ? 1 - r : 0, (1 / r) * d};
}

Vec3<double> wide(const Real4& f) { return {double(f.x), double(f.y), double(f.z)}; }

// ---- the force ----

TEST_P(DpdTest, ForcesOfAPairAreExactlyOpposite) {
  const Configuration c = isolated_pairs(1, 1);
  const VelocityVerlet integrator({0.01});
  for (const char* more : {"", R"(, "rng": "philox")", R"(, "rng": "tea", "noise": "normal")",
                           R"(, "rng": "sarutea", "keys": "phillips")", R"(, "exponent": 0.5)"}) {
    SCOPED_TRACE(more);
    Simulation s = simulation(device(), c, two_types(25, 1, more));
    const auto f = forces_of(s, integrator);
    int acting = 0;
    for (std::size_t k = 0; k < pairs; ++k) {
      EXPECT_EQ(f[2 * k].x, -f[2 * k + 1].x);
      EXPECT_EQ(f[2 * k].y, -f[2 * k + 1].y);
      EXPECT_EQ(f[2 * k].z, -f[2 * k + 1].z);
      acting += f[2 * k].x != 0;
    }
    EXPECT_GT(acting, pairs / 2);
  }
}

TEST_P(DpdTest, RepulsionAndFrictionFollowTheirFormulas) {
  const Configuration c = isolated_pairs(1, 1);
  const VelocityVerlet integrator({0.01});
  for (const double exponent : {1.0, 0.5}) {
    Simulation s =
        simulation(device(), c, two_types(25, 0, R"(, "exponent": )" + std::to_string(exponent)));
    const auto f = forces_of(s, integrator);
    double energy = 0;
    Vec3<double> virial{};
    for (std::size_t k = 0; k < pairs; ++k) {
      const Geometry g = geometry(c, k);
      const double speed = dot(g.e, c.velocity[2 * k] - c.velocity[2 * k + 1]);
      const Vec3<double> wanted = (25 * g.w - 4.5 * std::pow(g.w, 2 * exponent) * speed) * g.e;
      const Vec3<double> error = wanted - wide(f[2 * k]);
      EXPECT_LT(std::sqrt(dot(error, error)), 2e-4) << g.r;
      energy += 12.5 * g.w * g.w;
      for (int a = 0; a < 3; ++a) virial[a] += g.r * g.e[a] * wanted[a];
    }
    EXPECT_NEAR(s.totals().potential, energy, 1e-4 * energy);
    for (int a = 0; a < 3; ++a)
      EXPECT_NEAR(s.totals().virial[std::size_t(a)], virial[a], 1e-3 * std::abs(virial[a]) + 1e-3);
  }
}

/// theta = F / (w sqrt(2 gamma kT / dt)) has mean 0 and variance 1 over pairs and seeds.
TEST_P(DpdTest, NoiseHasTheStrengthOfTheTheorem) {
  const Configuration c = isolated_pairs(1, 0);
  for (const bool normal : {false, true}) {
    const double kt = 1.7, dt = 0.02;
    const VelocityVerlet integrator({dt});
    double sum = 0, squares = 0, count = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      Simulation s =
          simulation(device(), c, two_types(0, kt, normal ? R"(, "noise": "normal")" : ""), seed);
      const auto f = forces_of(s, integrator);
      for (std::size_t k = 0; k < pairs; ++k) {
        const Geometry g = geometry(c, k);
        if (g.w < 0.01) continue;
        const double theta = dot(g.e, wide(f[2 * k])) / (g.w * std::sqrt(2 * 4.5 * kt / dt));
        sum += theta, squares += theta * theta, ++count;
      }
    }
    EXPECT_LT(std::abs(sum / count), 5 / std::sqrt(count));
    EXPECT_LT(std::abs(squares / count - 1), 5 * std::sqrt((normal ? 2 : 0.8) / count));
  }
}

/// What is measured between steps has the random force that the step had. Heavy particles at rest:
/// their velocities, and with them the friction, are 10^-6 of the noise.
TEST_P(DpdTest, MeasuringSeesTheNoiseOfTheStep) {
  const Configuration c = isolated_pairs(1e8, 0);
  Simulation s = simulation(device(), c, two_types(25, 1));
  VelocityVerlet integrator({0.01});
  s.prepare(integrator);
  integrator.begin(s);
  s.advance(integrator, 3);
  const auto n = s.particles().size();
  Buffer<Real4> measured(device(), n);
  Buffer<Real> virial(device(), 6 * n);
  const auto in_step = s.particles().force().to_host();
  s.forces()[0]->compute(s, {measured.data(), virial.data(), false, true});
  const auto again = measured.to_host();
  double scale = 0;
  for (std::size_t k = 0; k < in_step.size(); ++k) {
    EXPECT_NEAR(in_step[k].x, again[k].x, 1e-3);
    EXPECT_NEAR(in_step[k].y, again[k].y, 1e-3);
    scale = std::max(scale, double(std::abs(in_step[k].x)));
  }
  EXPECT_GT(scale, 10);
}

/// Two forces with noise in one job push the same pairs in the same steps. At rest and without
/// repulsion the force of each is its noise, and the noises of some 150 pairs in range are
/// independent: the mean of their products is 0 within 1/√150 of the mean square.
TEST_P(DpdTest, TwoForcesHaveNoiseOfTheirOwn) {
  const Configuration c = isolated_pairs(1, 0);
  Registry registry;
  register_dpd(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device();
  std::vector<std::unique_ptr<Force>> forces;
  for (const char* path : {"forces[0]", "forces[1]"}) {
    auto settings = parse_component_text(registry, "force", two_types(0, 1), context);
    settings.path = path;
    forces.push_back(make_component<Force>(settings, context));
  }
  Simulation s(device(), c, std::move(forces), 1);
  s.prepare(VelocityVerlet({0.01}));
  s.ensure_forces();
  Buffer<Real4> force(device(), s.particles().size());
  std::vector<Real4> noise[2];
  for (std::size_t k = 0; k < 2; ++k) {
    s.forces()[k]->compute(s, {force.data(), nullptr, false, false});
    noise[k] = force.to_host();
  }
  double product = 0, square = 0;
  for (std::size_t i = 0; i < noise[0].size(); ++i) {
    product += dot(wide(noise[0][i]), wide(noise[1][i]));
    square += dot(wide(noise[0][i]), wide(noise[0][i]));
  }
  EXPECT_GT(square, 0);
  EXPECT_NEAR(product / square, 0, 5 / std::sqrt(150.0));
}

TEST_P(DpdTest, ThermostatAloneHasNoRepulsion) {
  const Configuration c = isolated_pairs(1, 0);
  const VelocityVerlet integrator({0.01});
  Simulation s = simulation(device(), c, R"({"type": "dpd_thermostat", "temperature": 0, "pairs": [
      {"types": ["A", "A"], "gamma": 2}, {"types": ["A", "B"], "gamma": 2},
      {"types": ["B", "B"], "gamma": 2}]})");
  for (const Real4& f : forces_of(s, integrator)) EXPECT_EQ(std::abs(f.x) + std::abs(f.y), 0);
}

TEST_P(DpdTest, LennardJonesWithFriction) {
  Configuration c = cube(10);
  c.position = {{-4.9, 0, 0}, {4.9 - 0.9, 0, 0}};  // 1.1 apart, across the face
  c.velocity = {{0.5, 0, 0}, {-0.5, 0, 0}};
  c.type = {0, 0};
  const VelocityVerlet integrator({0.01});
  Simulation s = simulation(device(), c, R"({"type": "dpd_lj", "temperature": 0, "cutoff": 2.0,
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1, "gamma": 3, "lj_cutoff": 2.5}]})");
  const auto f = forces_of(s, integrator);
  const double i6 = std::pow(1.1, -6), w = 1 - 1.1 / 2,
               shift = 4 * (std::pow(2.5, -12) - std::pow(2.5, -6));
  const double wanted = 24 / 1.1 * i6 * (2 * i6 - 1) - 3 * w * w * 1.0;
  EXPECT_NEAR(f[0].x, wanted, 1e-4);
  EXPECT_EQ(f[0].x, -f[1].x);
  EXPECT_NEAR(s.totals().potential, 4 * i6 * (i6 - 1) - shift, 1e-5);
}

// ---- integrators ----

struct Series {
  std::vector<double> temperature, pressure;
  std::vector<std::array<double, 6>> tensor;
  double momentum = 0;
};
Series run(Simulation& s, Integrator& integrator, std::int64_t warm, std::int64_t steps,
           std::int64_t stride) {
  s.prepare(integrator);
  integrator.begin(s);
  s.advance(integrator, warm);
  Series series;
  for (std::int64_t done = 0; done < steps; done += stride) {
    s.advance(integrator, stride);
    series.temperature.push_back(s.now().temperature);
    series.pressure.push_back(s.now().pressure());
    series.tensor.push_back(s.now().pressure_tensor());
    const auto p = s.totals().momentum;
    series.momentum = std::max({series.momentum, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  }
  return series;
}

struct Estimate {
  double mean, error;
};
/// From ten blocks.
Estimate estimate(const std::vector<double>& x) {
  double mean = 0, squares = 0;
  for (std::size_t b = 0; b < 10; ++b) {
    double sum = 0;
    const std::size_t first = x.size() * b / 10, end = x.size() * (b + 1) / 10;
    for (std::size_t k = first; k < end; ++k) sum += x[k];
    mean += sum / double(end - first) / 10;
    squares += sum * sum / double((end - first) * (end - first)) / 10;
  }
  return {mean, std::sqrt((squares - mean * mean) / 9)};
}

/// The kinetic temperature of N particles has the relative standard deviation sqrt(2 / 3N) at one
/// moment, and forgets within 1/(2 · 1.9) of time (twice the friction that a particle feels, gamma
/// rho 4 pi / 30): over a time t its mean has the error sqrt(2 / 3N · 2 · 0.26 / t).
double temperature_error(std::int64_t n, double time) {
  return std::sqrt(2.0 / (3.0 * double(n)) * 2 * 0.26 / time);
}

/// What comes on top of 5 sigma: the deviation that docs/guide/dpd.md has for the integrator.
void check_fluid(const Device& device, Integrator& integrator, double time, double systematic) {
  const Configuration c = fluid(5, 1);
  Simulation s = simulation(device, c, standard());
  const double dt = integrator.timestep();
  const auto warm = std::int64_t(4 / dt), steps = std::int64_t(time / dt);
  const Series series = run(s, integrator, warm, steps / 10 * 10, std::int64_t(0.1 / dt + 0.5));
  const auto n = s.particles().size();
  const Estimate t = estimate(series.temperature);
  EXPECT_LT(std::abs(t.mean - 1), 5 * temperature_error(n, time) + systematic);
  // 23.65 ± 0.05 after extrapolation; at these time steps within 0.1.
  const Estimate p = estimate(series.pressure);
  EXPECT_NEAR(p.mean, 23.68, 0.1 + 5 * p.error);
  // The tensor is isotropic: 5 sigma of blocks.
  for (const std::size_t component : {0u, 1u, 2u, 3u, 4u, 5u}) {
    std::vector<double> x;
    for (const auto& tensor : series.tensor)
      x.push_back(component < 3 ? tensor[component] - (tensor[0] + tensor[1] + tensor[2]) / 3
                                : tensor[component]);
    const Estimate e = estimate(x);
    EXPECT_LT(std::abs(e.mean), 5 * e.error) << component;
  }
  // Each step rounds each velocity, of size 1 to 4, and a force of some tens times dt: below
  // 2^-23 · 2 together, at random.
  EXPECT_LT(series.momentum, 6 * 0x1p-22 * std::sqrt(double(n) * double(warm + steps)));
}

TEST_P(DpdTest, VelocityVerletFluid) {
  VelocityVerlet integrator({0.01});
  check_fluid(single(), integrator, 10, 0.005);
}
TEST_P(DpdTest, GrootWarrenFluid) {
  GrootWarren integrator({0.02, 0.65});
  check_fluid(single(), integrator, 16, 0.01);
}
TEST_P(DpdTest, SplitFluid) {
  Split integrator({0.04, 0.66});
  check_fluid(single(), integrator, 30, 0.005);
}

TEST_P(DpdTest, IdealGasHasIdealPressure) {
  const Configuration c = fluid(4, 2);
  VelocityVerlet verlet({0.02});
  Split split({0.04, 0.66});
  for (Integrator* integrator : std::initializer_list<Integrator*>{&verlet, &split}) {
    Simulation s = simulation(single(), c, standard(0));
    const Series series = run(s, *integrator, 100, 1500, 5);
    const Estimate p = estimate(series.pressure), t = estimate(series.temperature);
    // rho kT with the kT of the run; one degree of freedom per axis is the centre of mass's.
    const double wanted = 3 * t.mean * (1 - 1.0 / double(s.particles().size()));
    EXPECT_NEAR(p.mean, wanted, 5 * p.error);
    EXPECT_LT(p.error, 0.15);
    EXPECT_NEAR(t.mean, 1,
                5 * temperature_error(s.particles().size(), 1500 * integrator->timestep()) + 0.025);
  }
}

TEST_P(DpdTest, HalfLambdaIsVelocityVerlet) {
  const Configuration c = fluid(4, 3);
  VelocityVerlet verlet({0.02});
  GrootWarren half({0.02, 0.5});
  Simulation a = simulation(device(), c, standard()), b = simulation(device(), c, standard());
  run(a, verlet, 0, 20, 20);
  run(b, half, 0, 20, 20);
  const auto x = a.particles().configuration().position, y = b.particles().configuration().position;
  EXPECT_EQ(x, y);
}

/// Particles that meet nobody, in a box of which a step is a share of 10^-9 and less: every step is
/// right to 2^-41 of the edge.
TEST_P(DpdTest, LongBoxesTakeNothingFromDisplacements) {
  constexpr double edge = 1e6;
  constexpr int n = 30, steps = 50;
  Configuration c = cube(edge);
  for (int k = 0; k < n; ++k) {
    c.position.push_back({(k - n / 2) * 1000.0, 1.0 * k, -3.0 * k});
    c.velocity.push_back({0.05 * std::cos(k), -0.01 * k / n, 0.002 * (k - n / 2)});
  }
  c.type.assign(n, 0);
  Split split({0.02, 0.66});
  GrootWarren groot_warren({0.02, 0.65});
  for (Integrator* integrator : std::initializer_list<Integrator*>{&split, &groot_warren}) {
    Simulation s = simulation(single(), c, standard());
    s.prepare(*integrator);
    integrator->begin(s);
    s.advance(*integrator, steps);
    const Configuration end = s.particles().configuration();
    for (std::size_t k = 0; k < n; ++k)
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_NEAR(end.position[k][axis] - c.position[k][axis], steps * 0.02 * c.velocity[k][axis],
                    (steps + 1) * edge * 0x1p-41 + 1e-8)
            << "particle " << k << ", axis " << axis;
  }
}

/// From rest, one step gives every degree of freedom the variance 2 gamma kT dt sum w² e_x² of the
/// noise, whose mean is 2 · 4.5 · 3 · (4 pi / 30) / 3 · dt for particles placed at random (velocity
/// Verlet: two half kicks with independent noise, half of that); the friction takes a few per cent
/// of it. Then it goes to 1.
TEST_P(DpdTest, HeatsAColdFluid) {
  Configuration c = fluid(6, 4);
  for (auto& v : c.velocity) v = {};
  Split split({0.02, 0.66});
  GrootWarren groot_warren({0.02, 0.65});
  for (Integrator* integrator : std::initializer_list<Integrator*>{&split, &groot_warren}) {
    Simulation s = simulation(single(), c, standard(0));
    s.prepare(*integrator);
    integrator->begin(s);
    s.advance(*integrator, 1);
    const double first =
        3 * 4.5 * 2 * (4 * M_PI / 30) / 3 * 0.02 * (integrator == &split ? 1 : 0.5);
    const double sigma = std::sqrt(2.0 / (3 * double(s.particles().size())));
    EXPECT_NEAR(s.now().temperature / first, 0.98, 5 * sigma + 0.02);
    s.advance(*integrator, 300);
    EXPECT_NEAR(s.now().temperature, 1, 5 * sigma);
  }
}

/// A run that goes on from a checkpoint is the same, bit by bit.
TEST_P(DpdTest, ResumesExactly) {
  const Configuration c = fluid(4, 5);
  Split split({0.04, 0.66});
  GrootWarren groot_warren({0.04, 0.65});
  for (Integrator* integrator : std::initializer_list<Integrator*>{&split, &groot_warren}) {
    Simulation s = simulation(device(), c, standard());
    integrator->begin(s);
    s.advance(*integrator, 25);
    Archive saved = Archive::saving();
    s.state(saved);
    s.advance(*integrator, 25);

    Simulation resumed = simulation(device(), c, standard());
    Archive archive = Archive::restoring(saved.records());
    resumed.state(archive);
    integrator->begin(resumed);
    resumed.advance(*integrator, 25);
    EXPECT_EQ(s.particles().configuration().position, resumed.particles().configuration().position);
    EXPECT_EQ(s.particles().configuration().velocity, resumed.particles().configuration().velocity);
  }
}

TEST_P(DpdTest, PeriodicShearIsASine) {
  Configuration c = cube(8);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> u(-4, 4);
  for (int k = 0; k < 300; ++k) c.position.push_back({u(random), u(random), u(random)});
  c.type.assign(300, 0);
  const VelocityVerlet integrator({0.01});
  for (const std::string form : {"sine", "half"}) {
    Simulation s = simulation(device(), c,
                              R"({"type": "periodic_shear", "amplitude": 2, "flow": "y",
        "gradient": "z", "periods": 2, "form": ")" +
                                  form + R"("})");
    const auto f = forces_of(s, integrator);
    for (std::size_t k = 0; k < 300; ++k) {
      const double sine = std::sin(2 * M_PI * 2 * (c.position[k].z + 4) / 8);
      if (form == "half" && std::abs(sine) < 1e-3) continue;
      EXPECT_NEAR(f[k].y, form == "sine" ? 2 * sine : sine > 0 ? 2 : -2, 1e-5);
      EXPECT_EQ(f[k].x, 0);
    }
  }
}

// ---- mistakes ----

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(DpdSettingsTest, MistakesAreNamed) {
  const Configuration c = isolated_pairs(1, 0);
  const Device cpu = Device::cpu(1);
  const auto error = [&](const std::string& json) {
    return message_of([&] { force(cpu, c, json); });
  };
  EXPECT_NE(error(standard()).find("no parameters for the types A and B"), std::string::npos);
  EXPECT_NE(error(two_types(25, 1, R"(, "rng": "philox", "keys": "phillips")"))
                .find("phillips is available for saru, tea and sarutea"),
            std::string::npos);
  EXPECT_EQ(error(two_types(25, 1)), "");
  EXPECT_NE(error(R"({"type": "periodic_shear", "amplitude": 1, "flow": "z"})").find("must differ"),
            std::string::npos);

  Simulation s = simulation(cpu, c, R"({"type": "periodic_shear", "amplitude": 1})");
  Split split({0.04, 0.66});
  EXPECT_NE(message_of([&] { split.begin(s); }).find("no force has pairwise friction"),
            std::string::npos);
}

PERRIN_INSTANTIATE_DEVICES(DpdTest);

}  // namespace
}  // namespace perrin
