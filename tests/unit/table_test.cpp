// Tabulated energies: the error of their splines against the source function, both ends, the
// formats of the files and what is wrong with them, forces of whole systems.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>

#include "engine/dynamics/simulation.h"
#include "engine/job/plugin_api.h"
#include "forces/register.h"
#include "forces/spline.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;
constexpr double degree = std::numbers::pi / 180;

class Tables : public ::testing::Test {
 protected:
  Tables() : folder_(fs::temp_directory_path() / ("perrin-table-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    context_.job_directory = folder_;
    register_forces(registry_);
  }
  ~Tables() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  /// Rows of a function at these points, with its force where it is given.
  template <class E, class F = std::nullptr_t>
  void write_rows(const std::string& name, const std::vector<double>& x, const E& energy,
                  const F& force = nullptr) {
    std::string text = "# x energy force\n";
    for (const double at : x) {
      text += fmt::format("{} {}", at, energy(at));
      if constexpr (!std::is_same_v<F, std::nullptr_t>) text += fmt::format(" {}", force(at));
      text += "\n";
    }
    write(name, text);
  }
  Spline spline(const std::string& name, TableKind kind = TableKind::pair,
                const std::string& keyword = "") {
    return Spline(Device::cpu(1), read_table(folder_ / name, keyword, kind),
                  kind == TableKind::dihedral);
  }
  std::unique_ptr<Simulation> simulate(const Configuration& c, const std::string& job,
                                       const NeighborSettings& neighbors = {}) {
    context_.configuration = &c;
    std::vector<std::unique_ptr<Force>> forces;
    forces.push_back(make_component<Force>(registry_, job, context_));
    return std::make_unique<Simulation>(Device::cpu(2), c, std::move(forces), 1, neighbors);
  }
  /// What is said of a file.
  std::string mistake(const std::string& text, TableKind kind = TableKind::pair,
                      const std::string& keyword = "") {
    write("wrong.table", text);
    try {
      read_table(folder_ / "wrong.table", keyword, kind);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }

  fs::path folder_;
  Registry registry_;
  SetupContext context_;
};

std::vector<double> points(double from, double to, int n) {
  std::vector<double> x;
  for (int k = 0; k < n; ++k) x.push_back(from + (to - from) * k / (n - 1));
  return x;
}

double lj(double r) { return 4 * (std::pow(r, -12) - std::pow(r, -6)); }
double lj_force(double r) { return 4 * (12 * std::pow(r, -13) - 6 * std::pow(r, -7)); }

TEST_F(Tables, ErrorsAreThoseOfCubicSplines) {
  const int n = 501;
  write_rows("both", points(0.9, 2.5, n), lj, lj_force);
  write_rows("energies", points(0.9, 2.5, n), lj);
  std::vector<double> uneven;  // equidistant in r²
  for (const double r2 : points(0.81, 6.25, n)) uneven.push_back(std::sqrt(r2));
  write_rows("uneven", uneven, lj, lj_force);
  const double h = 1.6 / (n - 1);
  const double fourth = 4 * (12 * 13 * 14 * 15 * std::pow(0.9, -16));  // at most, of E
  // Energies h⁴/384 E⁗ and forces h³/(72 √3) E⁗ where slopes are exact; coefficients are rounded.
  const double rounding = sizeof(Real) == 4 ? 4e-8 : 1e-15;  // of the first point
  const double energy_error =
      std::pow(h, 4) / 384 * fourth + 4e-7 * lj(0.9) + rounding * lj_force(0.9);
  const double force_error = std::pow(h, 3) / 125 * fourth + 4e-7 * lj_force(0.9);
  for (const auto& [name, factor] :
       {std::pair("both", 1.0), std::pair("energies", 16.0), std::pair("uneven", 16.0)}) {
    const Spline s = spline(name);
    const SplineView view = s.view();
    double worst_energy = 0, worst_force = 0;
    for (double r = 0.9; r < 2.5; r += 0.000317) {
      const auto f = view.evaluate(r);
      worst_energy = std::max(worst_energy, std::abs(f.energy - lj(r)));
      worst_force = std::max(worst_force, std::abs(f.slope + lj_force(r)));
    }
    EXPECT_LT(worst_energy, factor * energy_error) << name;
    EXPECT_LT(worst_force, factor * force_error) << name;
    EXPECT_NEAR(s.end(), 2.5, 1e-12);
  }
}

TEST_F(Tables, EnergyAndForceAreContinuousAndGoOnBelowTheFirstPoint) {
  write_rows("lj", points(0.8, 2.5, 120), lj, lj_force);
  const Spline s = spline("lj");
  const SplineView view = s.view();
  const double h = 1.7 / 119;
  for (int k = 0; k <= 119; ++k) {
    const double r = 0.8 + h * k;
    const auto below = view.evaluate(r - 1e-9), above = view.evaluate(r + 1e-9);
    const double scale = std::abs(lj(r)) + 1, slopes = std::abs(lj_force(r)) + 1;
    EXPECT_NEAR(below.energy, above.energy, 2e-6 * scale) << r;
    EXPECT_NEAR(below.slope, above.slope, 2e-5 * slopes) << r;
  }
  for (const double r : {0.79, 0.5, 0.1, 0.0}) {
    const auto f = view.evaluate(r);
    EXPECT_NEAR(f.slope, -lj_force(0.8), 1e-6 * lj_force(0.8));
    EXPECT_NEAR(f.energy, lj(0.8) + lj_force(0.8) * (0.8 - r), 1e-6 * lj(0.8) + 1e-6 * f.energy);
  }
  EXPECT_NEAR(view.evaluate(2.5).energy, lj(2.5), 1e-6);
  EXPECT_NEAR(view.evaluate(2.5).slope, -lj_force(2.5), 1e-5);
}

TEST_F(Tables, DihedralsCloseTheTurn) {
  const auto energy = [](double phi) { return 3 * (1 + std::cos(3 * phi * degree - 0.4)); };
  const auto force = [](double phi) { return 9 * degree * std::sin(3 * phi * degree - 0.4); };
  for (const bool with_forces : {false, true})
    for (const double from : {-180.0, 0.0})
      for (const bool closed : {false, true}) {
        const int n = 72;
        const auto x = points(from, closed ? from + 360 : from + 360 - 360.0 / n, n + closed);
        with_forces ? write_rows("turn", x, energy, force) : write_rows("turn", x, energy);
        const Spline s = spline("turn", TableKind::dihedral);
        const SplineView view = s.view();
        EXPECT_NEAR(s.end() - s.start(), 360 * degree, 1e-12);
        for (double phi = from + 0.1; phi < from + 360; phi += 1.7) {
          const auto f = view.evaluate(phi * degree);
          EXPECT_NEAR(f.energy, energy(phi), 2e-4) << phi;
          EXPECT_NEAR(f.slope, -force(phi) / degree, 1e-2) << phi;
        }
        const auto first = view.evaluate(s.start()), last = view.evaluate(s.end());
        EXPECT_NEAR(first.energy, last.energy, 1e-5);
        EXPECT_NEAR(first.slope, last.slope, 2e-5);
      }
}

TEST_F(Tables, FilesOfLammps) {
  std::string rows, squared;
  const int n = 60;
  for (int k = 0; k < n; ++k) {
    const double r = 0.9 + 1.6 * k / (n - 1), q = std::sqrt(0.81 + (6.25 - 0.81) * k / (n - 1));
    rows += fmt::format("{} {:.3f} {} {}\n", k + 1, r, lj(r), lj_force(r));
    squared += fmt::format("{} {:.3f} {} {}\n", k + 1, q, lj(q), lj_force(q));
  }
  write("two.table", "# DATE: 2026\n# a comment\n\nLJ_R   # first\nN 60 R 0.9 2.5 FPRIME -1 0\n\n" +
                         rows + "\nLJ_RSQ\nN 60 RSQ 0.9 2.5\n\n" + squared);
  const auto r = read_table(folder_ / "two.table", "LJ_R", TableKind::pair);
  const auto q = read_table(folder_ / "two.table", "LJ_RSQ", TableKind::pair);
  ASSERT_EQ(r.x.size(), 60u);
  EXPECT_DOUBLE_EQ(r.x[1], 0.9 + 1.6 / 59);  // by R, not by the rounded rows
  EXPECT_DOUBLE_EQ(q.x[1], std::sqrt(0.81 + 5.44 / 59));
  EXPECT_DOUBLE_EQ(r.slope[3], -lj_force(0.9 + 1.6 * 3 / 59));
  EXPECT_NEAR(spline("two.table", TableKind::pair, "LJ_RSQ").view().evaluate(1.3).energy, lj(1.3),
              1e-3);
  // dihedral_style table of radians, without forces.
  std::string turn = "DIH\nN 36 RADIANS NOF\n\n";
  for (int k = 0; k < 36; ++k)
    turn += fmt::format("{} {} {}\n", k + 1, (k * 10 - 180) * degree, std::cos(k * 10 * degree));
  write("turn.table", turn);
  const auto t = read_table(folder_ / "turn.table", "", TableKind::dihedral);
  EXPECT_EQ(t.x.size(), 37u);
  EXPECT_NEAR(t.x[9], -90 * degree, 1e-12);
  EXPECT_TRUE(t.slope.empty());
}

TEST_F(Tables, SayWhatIsWrongAndWhere) {
  const auto expect = [](const std::string& said, const std::string& place,
                         const std::string& what) {
    EXPECT_NE(said.find("wrong.table" + place), std::string::npos) << said;
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  expect(mistake(""), ": ", "no rows");
  expect(mistake("1 2\n\n2 x\n"), ":3: ", "expected an energy, got \"x\"");
  expect(mistake("1 2\n2 nan\n"), ":2: ", "expected an energy, got \"nan\"");
  expect(mistake("1 2\n2 1 0\n"), ":2: ", "expected 2 numbers, got 3");
  expect(mistake("1 2\n2 1\n2 0\n"), ":3: ", "expected more than 2");
  expect(mistake("1 2\n"), ": ", "expected at least two");
  expect(mistake("A\nN 3\n\n1 1 2 1\n2 2 1 1\n3 3 0 1\n4 4 0 0\n"),
         ":7: ", "N is 3 on line 2, and another row follows");
  expect(mistake("-1 2\n1 2\n"), ":1: ", "expected a distance from 0");
  expect(mistake("1\n2\n"), ":1: ", "expected 2 or 3 columns, got 1");
  expect(mistake("1 4 -3\n2 1 -3\n3 -2 -3\n"), ": ", "not minus the derivative");
  expect(mistake("0 1\n90 2\n", TableKind::pair, "A"), ":1: ", "a plain table, expected");
  expect(mistake("some words\n"), ":1: ", "expected rows of numbers, or a keyword");
  expect(mistake("A\nN 3\n1 1 1 1\n2 2 1 1\n"), ":2: ", "N is 3, but 2 rows follow");
  expect(mistake("A\nN 2 BITMAP 1 2\n1 1 1 1\n2 2 1 1\n"), ":2: ", "unknown parameter \"BITMAP\"");
  expect(mistake("A\nN 2 R 1 3\n1 1 1 0\n2 1.9 1 0\n"), ":4: ", "the distance is 1.9, but 3");
  const std::string two = "A\nN 2\n1 1 1 0\n2 2 1 0\nB\nN 2\n1 1 1 0\n2 2 1 0\n";
  expect(mistake(two), ": ", "several sections: choose one with \"keyword\": A, B");
  expect(mistake(two, TableKind::pair, "C"), ": ", "no section \"C\"; the file has A, B");
  expect(mistake("1 1\n180 2\n", TableKind::angle), ":1: ", "expected angles from 0");
  expect(mistake("0 1\n90 2\n", TableKind::angle), ":2: ", "expected angles up to 180");
  expect(mistake("0 1\n90 2\n180 1\n", TableKind::dihedral), ":3: ", "around 360 degrees");
  // In a job: where the file is named.
  Configuration c;
  c.box.length = {9, 9, 9};
  c.types = {"A"};
  c.position = {{1, 1, 1}, {2, 2, 2}};
  c.type = {0, 0};
  context_.configuration = &c;
  try {
    make_component<Force>(
        registry_,
        R"({"type": "pair_table", "pairs": [{"types": ["A", "A"], "file": "nowhere.table"}]})",
        context_);
    FAIL() << "no error";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("pairs[0].file: cannot read"), std::string::npos)
        << e.what();
  }
}

/// A fluid of two types.
Configuration fluid() {
  Configuration c;
  c.box.length = {9, 9, 9};
  c.types = {"A", "B"};
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-0.05, 0.05);
  for (int k = 0; k < 512; ++k) {
    c.position.push_back({1.125 * (k % 8) + u(random), 1.125 * (k / 8 % 8) + u(random),
                          1.125 * (k / 64) + u(random)});
    c.type.push_back(k % 3 == 0);
  }
  return c;
}

TEST_F(Tables, PairsAreThoseOfTheFunctionInEveryTraversal) {
  write_rows("aa.table", points(0.8, 2.5, 800), lj, lj_force);
  write_rows("ab.table", points(0.7, 2.2, 800), [](double r) { return 1.5 * lj(r / 0.9); });
  const std::string end = R"("truncation": "energy_shift", "pairs": [
      {"types": ["A", "A"], "file": "aa.table"}, {"types": ["A", "B"], "file": "ab.table"},
      {"types": ["B", "B"], "file": "aa.table", "cutoff": 2}]})";
  const std::string formula = R"({"type": "lennard_jones", "truncation": "energy_shift", "pairs": [
      {"types": ["A", "A"], "epsilon": 1, "sigma": 1, "cutoff": 2.5},
      {"types": ["A", "B"], "epsilon": 1.5, "sigma": 0.9, "cutoff": 2.2},
      {"types": ["B", "B"], "epsilon": 1, "sigma": 1, "cutoff": 2}]})";
  const Configuration c = fluid();
  for (const char* traversal : {"clusters", "verlet_list", "cells"}) {
    NeighborSettings neighbors;
    neighbors.traversal = traversal;
    const auto expected = simulate(c, formula, neighbors);
    const auto got = simulate(c, R"({"type": "pair_table", )" + end, neighbors);
    for (const auto& s : {expected.get(), got.get()}) s->ensure_forces();
    const auto f = expected->particles().force().to_host(), g = got->particles().force().to_host();
    const auto at = expected->particles().index().to_host(),
               where = got->particles().index().to_host();
    double largest = 0;
    for (std::size_t id = 0; id < f.size(); ++id) {
      const Real4 a = f[at[id]], b = g[where[id]];
      largest = std::max(largest, std::abs(double(a.x)));
      EXPECT_NEAR(double(a.x), double(b.x), 2e-3) << traversal << " " << id;
      EXPECT_NEAR(double(a.y), double(b.y), 2e-3) << traversal << " " << id;
      EXPECT_NEAR(double(a.z), double(b.z), 2e-3) << traversal << " " << id;
    }
    EXPECT_GT(largest, 5);
    const double energy = expected->totals().potential;
    EXPECT_NEAR(got->totals().potential, energy, 1e-5 * std::abs(energy)) << traversal;
  }
}

TEST_F(Tables, BondsAnglesAndDihedralsAreThoseOfTheirFunctions) {
  write_rows("bond.table", points(0.5, 2, 1500), [](double r) { return 25 * (r - 1) * (r - 1); });
  write_rows("angle.table", points(0, 180, 361),
             [](double a) { return 5 * std::pow((a - 110) * degree, 2); });
  write_rows("dihedral.table", points(-180, 179, 360), [](double phi) {
    return 2 * (1 + std::cos(3 * phi * degree)) + 1 - std::cos(phi * degree);
  });
  Configuration c = fluid();
  c.topology.bond_types = c.topology.angle_types = c.topology.dihedral_types = {"t"};
  for (std::uint32_t i = 0; i + 73 < 512; i += 8) {
    c.topology.bonds.push_back({i, i + 1, 0});
    c.topology.angles.push_back({i, i + 1, i + 9, 0});
    c.topology.dihedrals.push_back({i, i + 1, i + 9, i + 73, 0});
  }
  const auto compare = [&](const std::string& table, const std::string& formula) {
    const auto a = simulate(c, table), b = simulate(c, formula);
    a->ensure_forces(), b->ensure_forces();
    const auto f = a->particles().force().to_host(), g = b->particles().force().to_host();
    for (std::size_t k = 0; k < f.size(); ++k) {
      EXPECT_NEAR(double(f[k].x), double(g[k].x), 1e-3) << table;
      EXPECT_NEAR(double(f[k].y), double(g[k].y), 1e-3) << table;
      EXPECT_NEAR(double(f[k].z), double(g[k].z), 1e-3) << table;
    }
    EXPECT_NEAR(a->totals().potential, b->totals().potential, 1e-3) << table;
    EXPECT_GT(b->totals().potential, 1) << table;
  };
  compare(R"({"type": "bond_table", "bonds": {"t": {"file": "bond.table"}}})",
          R"({"type": "bond_harmonic", "bonds": {"t": {"stiffness": 50, "length": 1}}})");
  compare(R"({"type": "angle_table", "angles": {"t": {"file": "angle.table"}}})",
          R"({"type": "angle_harmonic", "angles": {"t": {"stiffness": 10, "angle": 110}}})");
  compare(R"({"type": "dihedral_table", "dihedrals": {"t": {"file": "dihedral.table"}}})",
          R"({"type": "dihedral_periodic", "dihedrals": {"t": {"terms": [
            {"stiffness": 2, "multiplicity": 3},
            {"stiffness": 1, "multiplicity": 1, "sign": -1}]}}})");
  // A bond beyond the table.
  write_rows("short.table", points(0.5, 0.9, 50), [](double r) { return r; });
  const auto broken =
      simulate(c, R"({"type": "bond_table", "bonds": {"t": {"file": "short.table"}}})");
  EXPECT_THROW(broken->ensure_forces(), RunError);
}

TEST_F(Tables, CheckpointsKnowTheContents) {
  const Configuration c = fluid();
  const std::string job = R"({"type": "pair_table", "pairs": [
      {"types": ["A", "A"], "file": "t"}, {"types": ["A", "B"], "file": "t"},
      {"types": ["B", "B"], "file": "t"}]})";
  const auto fingerprint = [&] { return simulate(c, job)->forces()[0]->traits().fingerprint; };
  write_rows("t", points(0.8, 2.5, 100), lj);
  const std::string first = fingerprint();
  EXPECT_EQ(fingerprint(), first);
  write_rows("t", points(0.8, 2.5, 100), [](double r) { return lj(r) + (r > 2.49 ? 1e-3 : 0); });
  EXPECT_NE(fingerprint(), first);
}

}  // namespace
}  // namespace perrin
