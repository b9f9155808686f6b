// Langevin and Brownian dynamics against exact results, those of the discretised equations where
// they are known. Seeds are fixed; a tolerance is 4.5 standard deviations of the estimate under the
// theory unless it says otherwise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "rng/keyed.h"
#include "tests/fluids.h"
#include "tests/plugins/langevin_rig.h"

namespace perrin {
namespace {

using namespace langevin_tests;

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
  EXPECT_EQ(rig.simulation.degrees_of_freedom().number(), 90000);
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

struct BlockedMean {
  double mean, error;
};
/// The mean, and its standard deviation from 10 blocks, which are longer than what is correlated.
BlockedMean blocked(const std::vector<double>& x) {
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
    Rig rig(device(), c, lennard_jones(device(), 2.5, "force_shift"),
            R"({"type": "langevin", "temperature": 1, "friction": 1, "timestep": )" +
                std::to_string(dt) + "}");
    rig.run(int(8 / dt));
    std::vector<double> kinetic, configurational, curvature;
    const double n = double(c.position.size());
    for (int k = 0; k < 100; ++k) {
      rig.run(int(0.2 / dt));
      double f2 = 0;
      for (const Real4& f : rig.simulation.particles().force().to_host())
        f2 += double(f.x) * f.x + double(f.y) * f.y + double(f.z) * f.z;
      const double l = laplacian(rig.now(), 2.5);
      kinetic.push_back(rig.simulation.now().temperature);
      configurational.push_back(f2 / l);
      curvature.push_back(l / (3 * n));
    }
    const BlockedMean tk = blocked(kinetic), tc = blocked(configurational);
    const double loss = dt * dt / 4 * blocked(curvature).mean;
    EXPECT_LT(tk.error, 0.02);
    EXPECT_LT(tc.error, 0.02);
    EXPECT_NEAR(tk.mean, 1 - loss, sigmas * tk.error + loss * loss) << dt << " loss " << loss;
    EXPECT_NEAR(tc.mean, 1, sigmas * tc.error + loss * loss) << dt;
  }
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

/// The largest distance of the distribution function of `numbers` from that of a normal number of
/// variance 1, times the root of their number (Kolmogorov).
double distance_from_normal(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const double n = double(numbers.size());
  double most = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double below = 0.5 * std::erfc(-numbers[k] / std::sqrt(2.0));
    most = std::max({most, std::abs(below - double(k) / n), std::abs(double(k + 1) / n - below)});
  }
  return most * std::sqrt(n);
}

TEST_P(LangevinPlugin, EveryMethodMakesNormalNumbers) {
  const int n = 20000;
  for (const auto& g : generators())
    for (const std::string& method : methods_of_normals()) {
      if (!fits(method, g)) continue;
      // Free particles: the displacement of a step is sqrt(2 kT dt / xi) = 1 times the number.
      const std::string json = with_normals(
          with_generator(
              R"({"type": "brownian", "timestep": 0.5, "temperature": 1, "friction": 1})", g),
          method);
      Rig rig(device(), at_rest(n), {}, json);
      rig.run(1);
      const Configuration c = rig.now();
      std::vector<double> all;
      double xy = 0, xz = 0, yz = 0;
      for (const auto& r : c.position) {
        all.insert(all.end(), {r.x, r.y, r.z});
        xy += r.x * r.y, xz += r.x * r.z, yz += r.y * r.z;
      }
      // Exceeded once in 10^5 by chance: 2 exp(-2 D^2 n).
      EXPECT_LT(distance_from_normal(all), 2.47) << json;
      const double limit = sigmas * std::sqrt(double(n));
      EXPECT_LT(std::abs(xy), limit) << json;
      EXPECT_LT(std::abs(xz), limit) << json;
      EXPECT_LT(std::abs(yz), limit) << json;
      EXPECT_FALSE(rig.mover->finished(rig.simulation));
    }
}

TEST_P(LangevinPlugin, NormalsAreThoseOfTheGenerator) {
  // Along one, two and three axes: the particle's generator of the step, asked for them in turn.
  const RunKey key(Purpose::brownian, 7);
  for (const std::string axes : {"y", "xz", "xyz"})
    for (const std::string& method : methods_of_normals()) {
      std::string json = with_normals(
          R"({"type": "brownian", "timestep": 0.5, "temperature": 1, "friction": 1,
              "rng": "philox"})",
          method);
      json.pop_back();
      Rig rig(device(), at_rest(500), {}, json + R"(, "axes": ")" + axes + "\"}");
      rig.run(1);
      const Configuration c = rig.now();
      for (std::uint32_t id = 0; id < 500; ++id) {
        auto g = keyed<Philox>(key, 0, id);
        std::vector<double> expected;
        while (expected.size() < axes.size()) {
          if (method == "ziggurat") {
            expected.push_back(double(g.normal_ziggurat<Real>()));
            continue;
          }
          const auto pair = method == "polar" ? g.normal_pair_polar<Real>() : g.normal_pair<Real>();
          expected.insert(expected.end(), {double(pair.first), double(pair.second)});
        }
        std::size_t used = 0;
        for (int axis = 0; axis < 3; ++axis) {
          const bool moves = axes.find("xyz"[axis]) != std::string::npos;
          const double want = moves ? expected[used++] : 0;
          ASSERT_NEAR(c.position[id][axis], want, 2e-6) << method << " " << axes << " " << id;
        }
      }
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
    EXPECT_NEAR(rig.simulation.now().temperature / expected, 1, tolerance);
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

PERRIN_INSTANTIATE_DEVICES(LangevinPlugin);

}  // namespace
}  // namespace perrin
