// The library of named potentials: every entry of its table against its own derivative, against the
// numbers that it names, and where it ends.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "forces/formula/library.h"
#include "forces/formula/source.h"

namespace perrin::formula {
namespace {

/// One set of parameters: energy and slope in double precision, by the evaluator of the host.
class Curve {
 public:
  Curve(const Potential& p, const Sample& s)
      : variable_(variables_of(p.type)[0]),
        energy_(parse(p.energy, variables_of(p.type)).value),
        slope_(derivative(energy_, variable_)),
        values_(p.complete(s.values)) {}

  double energy(double x) { return value(energy_, x); }
  double slope(double x) { return value(slope_, x); }
  /// Where the slope, or the energy, changes its sign between these; by bisection.
  double change(bool of_slope, double a, double b) {
    const auto f = [&](double x) { return of_slope ? slope(x) : energy(x); };
    const bool rises = f(b) > 0;
    for (int k = 0; k < 200; ++k) {
      const double middle = (a + b) / 2;
      (f(middle) > 0) == rises ? b = middle : a = middle;
    }
    return (a + b) / 2;
  }
  const Values& values() const { return values_; }

 private:
  double value(const Expression& e, double x) {
    values_[variable_] = x;
    return evaluate(e, values_);
  }
  std::string variable_;
  Expression energy_, slope_;
  Values values_;
};

/// Calls `test` for every sample of every entry.
void for_each_sample(const std::function<void(const Potential&, const Sample&, Curve&)>& test) {
  for (const Potential& p : potentials())
    for (const Sample& s : p.samples) {
      SCOPED_TRACE(p.name + ": " + s.of);
      Curve curve(p, s);
      test(p, s, curve);
    }
}

/// Where an entry is tested: from well within the repulsion to its end, or to where little is left.
struct Interval {
  double from, to;
};
Interval interval_of(const Potential& p, const Sample& s) {
  if (p.type == "dihedral_formula") return {-std::numbers::pi, std::numbers::pi};
  const Values values = p.complete(s.values);
  const double from = p.from.empty() ? 0 : p.value_of(p.from, values);
  double near = 0;
  for (const Number& n : s.numbers) near = std::max(near, n.at);
  const double to = p.range.empty() ? from + 3 * (near - from) : p.value_of(p.range, values);
  return {from + 0.3 * (std::min(near, to) - from), to};
}

TEST(Library, HasEntriesThatAreComplete) {
  std::set<std::string> names;
  const std::set<std::string> reserved{"types", "cutoff", "mixing", "skip"};
  for (const Potential& p : potentials()) {
    SCOPED_TRACE(p.name);
    EXPECT_TRUE(names.insert(p.name).second) << "twice";
    EXPECT_EQ(find_potential(p.name), &p);
    EXPECT_FALSE(p.title.empty() || p.source.empty() || p.samples.empty());
    EXPECT_LT(p.energy.size(), 400u) << "help shows it";
    // Its parameters are those of the formula and of its range, no more and no less.
    std::set<std::string> used, declared;
    const auto use = [&](const std::string& text, const std::vector<std::string>& variables) {
      if (text.empty()) return;
      for (const auto& key : parse(text, variables).parameters) used.insert(key);
    };
    use(p.energy, variables_of(p.type)), use(p.range, {}), use(p.from, {});
    for (const Parameter& q : p.parameters) {
      EXPECT_TRUE(declared.insert(q.name).second) << q.name << " twice";
      EXPECT_FALSE(q.meaning.empty()) << q.name;
      EXPECT_FALSE(reserved.contains(q.name)) << q.name;
      EXPECT_TRUE(q.above.empty() || p.parameter(q.above)) << q.name;
    }
    EXPECT_EQ(declared, used);
    for (const Sample& s : p.samples) {
      EXPECT_FALSE(s.numbers.empty()) << s.of << ": nothing to hold it against";
      for (const auto& [key, value] : s.values) EXPECT_NE(p.parameter(key), nullptr) << key;
      const Values values = p.complete(s.values);
      for (const Parameter& q : p.parameters) {
        ASSERT_TRUE(values.contains(q.name)) << s.of << " without " << q.name;
        const double value = values.at(q.name);
        EXPECT_TRUE(q.check.kind != Check::Kind::positive || value > 0) << s.of << " " << q.name;
        EXPECT_TRUE(q.check.kind != Check::Kind::non_negative || value >= 0) << s.of << q.name;
        EXPECT_TRUE(q.above.empty() || value > values.at(q.above)) << s.of << " " << q.name;
      }
    }
  }
  EXPECT_GE(names.size(), 22u) << "an entry is lost";
}

TEST(Library, ForcesAreTheDerivativesOfTheEnergies) {
  for_each_sample([](const Potential& p, const Sample& s, Curve& curve) {
    const auto [from, to] = interval_of(p, s);
    double energies = 0, slopes = 0;
    constexpr int n = 100;
    for (int k = 1; k < n; ++k) {
      const double x = from + (to - from) * (k + 0.3234567) / n, h = 1e-4 * (to - from);
      const auto e = [&](double d) { return curve.energy(x + d); };
      const double expected = (e(-2 * h) - 8 * e(-h) + 8 * e(h) - e(2 * h)) / (12 * h);
      // What is left is h^4 E^(5)/30, and the rounding of energies over h.
      EXPECT_NEAR(curve.slope(x), expected,
                  1e-7 * std::abs(expected) + 1e-11 * (std::abs(e(0)) + 1) / h)
          << "at " << x;
      energies = std::max(energies, std::abs(e(0))), slopes = std::max(slopes, std::abs(expected));
    }
    EXPECT_GT(slopes, 1e-3 * energies / (to - from)) << "no force at all: nothing was tested";
  });
}

TEST(Library, HasTheNumbersOfItsSources) {
  for_each_sample([](const Potential&, const Sample& s, Curve& curve) {
    for (const Number& n : s.numbers) {
      const double allowed = n.tolerance * std::max(1.0, std::abs(n.value));
      const double before = n.at - n.near, after = n.at + n.near;
      switch (n.kind) {
        case Number::Kind::energy_at:
          EXPECT_NEAR(curve.energy(n.at), n.value, allowed) << "energy at " << n.at;
          break;
        case Number::Kind::slope_at:
          EXPECT_NEAR(curve.slope(n.at), n.value, allowed) << "slope at " << n.at;
          break;
        case Number::Kind::minimum:
          EXPECT_LT(curve.slope(before), 0) << "minimum at " << n.at;
          EXPECT_GT(curve.slope(after), 0) << "minimum at " << n.at;
          EXPECT_NEAR(curve.energy(curve.change(true, before, after)), n.value, allowed)
              << "depth at " << n.at;
          break;
        case Number::Kind::zero:
          EXPECT_LT(curve.energy(before) * curve.energy(after), 0) << "zero at " << n.at;
          break;
      }
    }
  });
}

// Energy zero at the range, and the force where the table says so: beside the largest of half of
// the interval. The digits of Zetterling's r_c leave 3e-5 of a slope of some 5.
TEST(Library, EndsAsItSays) {
  int smooth = 0;
  for_each_sample([&](const Potential& p, const Sample& s, Curve& curve) {
    if (p.range.empty()) {
      EXPECT_FALSE(p.smooth);
      return;
    }
    const auto [from, to] = interval_of(p, s);
    double energy = 0, slope = 0;
    for (int k = 0; k < 100; ++k) {
      const double x = from + (to - from) * k / 100;
      energy = std::max(energy, std::abs(curve.energy(x)));
      if (k > 50) slope = std::max(slope, std::abs(curve.slope(x)));
    }
    ASSERT_GT(energy, 0);
    EXPECT_NEAR(curve.energy(to), 0, 1e-7 * energy);
    if (!p.smooth) return;
    ++smooth;
    EXPECT_NEAR(curve.slope(to), 0, 2e-5 * slope);
  });
  EXPECT_GT(smooth, 5);
}

// Girifalco's energy is that of two spheres with as many atoms, which attract with A/r^6 and repel
// with B/r^12: alpha = N^2 A/12 and beta = N^2 B/90 where the diameter is 1.
TEST(Library, GirifalcoAveragesOverTwoSpheres) {
  const Potential& p = *find_potential("girifalco");
  const double a = 0.5;
  // Of 1/r^n, between a sphere and a point at the distance t of its centre.
  const auto of_point = [&](double t, int n) {
    return (std::pow(t - a, 2 - n) - std::pow(t + a, 2 - n)) / (2 * a * t * (n - 2));
  };
  const auto of_sphere = [&](double r, int n) {
    constexpr int intervals = 2000;  // of Simpson's rule
    double sum = 0;
    for (int k = 0; k <= intervals; ++k) {
      const double t = r - a + 2 * a * k / intervals;
      sum += (k == 0 || k == intervals ? 1 : k % 2 ? 4 : 2) * t * of_point(t, n);
    }
    return sum * 2 * a / intervals / 3 / (2 * a * r);
  };
  Curve attraction(p, {"", {{"alpha", 1}, {"beta", 0}, {"diameter", 1}}, {}});
  Curve repulsion(p, {"", {{"alpha", 0}, {"beta", 1}, {"diameter", 1}}, {}});
  for (const double r : {1.4, 2.0, 3.0}) {
    EXPECT_NEAR(attraction.energy(r) / (-12 * of_sphere(r, 6)), 1, 1e-8) << r;
    EXPECT_NEAR(repulsion.energy(r) / (90 * of_sphere(r, 12)), 1, 1e-6) << r;
  }
}

// Rock salt of Tosi and Fumi's ions at rest: 2.789 angstrom between neighbours at 0 K and 2.820 at
// 298 K, where the table was fitted; 787 kJ/mol by the cycle of Born and Haber (CRC Handbook). The
// model has no vibrations: 1 % of the distance and 2 % of the energy.
TEST(Library, TosiAndFumiMakeRockSalt) {
  const Potential& p = *find_potential("bmhtf");
  ASSERT_EQ(p.samples.size(), 3u);
  Curve like_sodium(p, p.samples[0]), unlike(p, p.samples[1]), like_chlorine(p, p.samples[2]);
  const auto lattice = [&](double r) {
    double energy = -1.7475645946 * 1389.35458 / r;  // Madelung's constant; e^2/(4 pi epsilon_0)
    for (int x = -6; x <= 6; ++x)
      for (int y = -6; y <= 6; ++y)
        for (int z = -6; z <= 6; ++z) {
          const double d = r * std::sqrt(x * x + y * y + z * z);
          if (d == 0) continue;
          energy += (x + y + z) % 2 != 0 ? unlike.energy(d)
                                         : (like_sodium.energy(d) + like_chlorine.energy(d)) / 2;
        }
    return energy;
  };
  double best = 0, lowest = 0;
  for (double r = 2.6; r < 3.1; r += 0.002)
    if (const double e = lattice(r); e < lowest) lowest = e, best = r;
  EXPECT_NEAR(best, 2.805, 0.028);
  EXPECT_NEAR(lowest, -787, 0.02 * 787);
}

}  // namespace
}  // namespace perrin::formula
