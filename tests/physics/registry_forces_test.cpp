// The forces of Perrin itself and of plugins/example_force: each is minus the derivative of its
// energy.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "engine/dynamics/simulation.h"
#include "engine/job/plugin.h"
#include "engine/job/plugin_api.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "forces/register.h"
#include "neighbor/neighbors.h"

extern "C" const perrin::PluginDescription* perrin_plugin();  // plugins/example_force, linked in

namespace perrin {
namespace {

Configuration small_system() {
  Configuration c;
  c.box.length = {7.7, 7.7, 7.7};
  c.box.origin = {-3.85, -3.85, -3.85};
  c.types = {"A"};
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> u(-0.04, 0.04);
  for (int z = 0; z < 7; ++z)
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 7; ++x)
        c.position.push_back({1.1 * x - 3.3 + u(generator), 1.1 * y - 3.3 + u(generator),
                              1.1 * z - 3.3 + u(generator)});
  c.type.assign(c.position.size(), 0);
  for (std::size_t i = 0; i + 1 < c.position.size(); ++i) c.charge.push_back(i % 2 == 0 ? 2 : -2);
  c.charge.push_back(0);
  c.topology.bond_types = {"b"};
  c.topology.angle_types = {"a"};
  c.topology.dihedral_types = {"d"};
  c.topology.improper_types = {"i"};
  for (std::uint32_t i = 0; i + 8 < c.position.size(); i += 7) {
    if (i / 7 % 7 == 6) continue;  // i + 8 is not next to i + 1 at the end of a layer
    c.topology.bonds.push_back({i, i + 1, 0});
    c.topology.bonds.push_back({i + 1, i + 8, 0});
    c.topology.angles.push_back(
        {i, i + 1, i + 8, 0});  // near 90 degrees: harmonic angles have a kink at 180
    if (i + 57 >= c.position.size()) continue;
    c.topology.dihedrals.push_back({i, i + 1, i + 8, i + 57, 0});
    c.topology.impropers.push_back({i + 1, i, i + 8, i + 50, 0});
  }
  return c;
}

/// What ends smoothly by itself is not cut and not shifted.
std::string pair(const std::string& type, const std::string& parameters) {
  const bool ends = type == "wca" || type == "soft_dpd";
  return R"({"type": ")" + type + R"(", )" +
         (ends ? "" : R"("cutoff": 2.5, "truncation": "force_shift", )") +
         R"("pairs": [{"types": ["A", "A"], )" + parameters + "}]}";
}

/// The path of a table, in quotes: rows of a function of x.
template <class E>
std::string table_of(const std::string& name, double from, double to, int n, const E& energy) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("perrin-registry-" + std::to_string(getpid()) + name);
  std::ofstream out(path);
  for (int k = 0; k < n; ++k) {
    const double x = from + (to - from) * k / (n - 1);
    out << x << " " << energy(x) << "\n";
  }
  return "\"" + path.string() + "\"";
}
/// Of two particles with axes, whose second derivatives end at 2.5.
std::string axial_table() {
  const auto path = std::filesystem::temp_directory_path() /
                    ("perrin-registry-" + std::to_string(getpid()) + "axial");
  std::ofstream out(path);
  out.precision(12);
  for (int i = 0; i <= 80; ++i)
    for (int j = 0; j <= 12; ++j)
      for (int k = 0; k <= 12; ++k) {
        const double r = 0.9 + 0.02 * i, c = -1 + j / 6.0, d = -1 + k / 6.0;
        const double energy = std::pow(2.5 - r, 3) * (1 + c + d + 2 * c * d * (c + d));
        out << r << " " << c << " " << d << " " << energy << "\n";
      }
  return "\"" + path.string() + "\"";
}

/// Lennard-Jones where q is 0, with mixing of two types.
constexpr const char* pair_formula = "4*epsilon*((sigma/r)^12 - (sigma/r)^6) + q*exp(-r)/r";

/// Dipoles as a formula, and something that is not the same for both particles.
std::string dipole_formula(int uneven) {
  return R"j({"type": "anisotropic_formula", "cutoff": 2.5, "truncation": "switch",
      "switch_on": 1.5, "energy": "s*(cos_12 + 3*cos_1*cos_2)/r^3 + w*cos_1*exp(-r)",
      "pairs": [{"types": ["A", "A"], "s": 2, "w": )j" +
         std::to_string(uneven) + "}]}";
}

std::map<std::string, std::string> jobs() {
  const auto wave = [](double degrees) { return 5 + 5 * std::cos(2 * degrees * M_PI / 180 - 1); };
  return {
      {"lennard_jones", pair("lennard_jones", R"("epsilon": 1, "sigma": 1)")},
      {"wca", pair("wca", R"("epsilon": 1, "sigma": 1.1)")},
      {"morse", pair("morse", R"("depth": 1, "steepness": 3, "distance": 1.1)")},
      {"yukawa", pair("yukawa", R"("amplitude": 2, "kappa": 1)")},
      {"gaussian_core", pair("gaussian_core", R"("epsilon": 2, "sigma": 1)")},
      {"soft_dpd", pair("soft_dpd", R"("repulsion": 25, "range": 1.5)")},
      {"mie", pair("mie", R"("epsilon": 1, "sigma": 1, "repulsive": 14.5)")},
      {"buckingham", pair("buckingham", R"("amplitude": 1e5, "rho": 0.09, "dispersion": 3)")},
      {"pair_table",
       pair("pair_table", R"("file": )" + table_of("pair", 0.5, 2.5, 2000,
                                                   [](double r) { return 2 * std::exp(-r * r); }))},
      {"bond_table",
       R"({"type": "bond_table", "bonds": {"b": {"file": )" +
           table_of("bond", 0.2, 3, 500, [](double r) { return 25 * (r - 1) * (r - 1); }) + "}}}"},
      {"angle_table", R"({"type": "angle_table", "angles": {"a": {"file": )" +
                          table_of("angle", 0, 180, 361, wave) + "}}}"},
      {"dihedral_table", R"({"type": "dihedral_table", "dihedrals": {"d": {"file": )" +
                             table_of("dihedral", -180, 180, 361, wave) + "}}}"},
      {"gay_berne", R"({"type": "gay_berne", "cutoff": 2.5, "truncation": "energy_shift",
        "pairs": [{"types": ["A", "A"], "epsilon": 1.5, "sigma": 0.5, "kappa": 2.2,
                   "kappa_prime": 4, "mu": 1.7, "nu": 1.2}]})"},
      {"dipole", R"({"type": "dipole", "cutoff": 2.5, "truncation": "switch", "switch_on": 1.5,
        "pairs": [{"types": ["A", "A"], "strength": 2}]})"},
      {"dipole_ewald", R"({"type": "dipole_ewald", "cutoff": 2.4, "moments": {"A": 1.3},
        "splitting": 1.6, "k_max": 12, "surface_permittivity": 2})"},
      {"patchy", R"({"type": "patchy", "cutoff": 2.2,
        "patches": {"A": {"directions": [[1, 0.2, 0], [-1, 2, 0]], "half_angle": 50,
                          "steepness": 6}},
        "pairs": [{"types": ["A", "A"], "epsilon": 4, "sigma": 0.9, "core_epsilon": 1,
                   "attraction": "well", "range": 2.1, "width": 0.9}]})"},
      {"anisotropic_table", R"({"type": "anisotropic_table",
        "pairs": [{"types": ["A", "A"], "file": )" +
                                axial_table() + "}]}"},
      {"anisotropic_formula", dipole_formula(0)},
      {"special_pairs", R"({"type": "special_pairs", "scale": 0.5,
        "pairs": [{"types": ["A", "A"], "epsilon": 5, "sigma": 1.5}]})"},
      {"special_coulomb", R"({"type": "special_coulomb", "scale": 0.5})"},
      {"coulomb", R"({"type": "coulomb", "cutoff": 2.5, "truncation": "force_shift"})"},
      {"coulomb_dsf", R"({"type": "coulomb_dsf", "cutoff": 2.5, "damping": 0.3})"},
      {"reaction_field", R"({"type": "reaction_field", "cutoff": 2.5, "permittivity_ratio": 80,
        "smearing": {"cloud": "slater", "width": 0.2}})"},
      {"debye_hueckel", R"({"type": "debye_hueckel", "cutoff": 2.5, "kappa": 1,
        "truncation": "force_shift"})"},
      {"ewald", R"({"type": "ewald", "cutoff": 2.5, "accuracy": 1e-4})"},
      {"exponential_repulsion", pair("exponential_repulsion", R"("amplitude": 10, "lambda": 0.5)")},
      {"bond_harmonic",
       R"({"type": "bond_harmonic", "bonds": {"b": {"stiffness": 50, "length": 1}}})"},
      {"bond_fene", R"({"type": "bond_fene", "bonds": {"b": {}}})"},
      {"angle_harmonic",
       R"({"type": "angle_harmonic", "angles": {"a": {"stiffness": 20, "angle": 120}}})"},
      {"angle_cosine", R"({"type": "angle_cosine", "angles": {"a": {"stiffness": 20}}})"},
      {"angle_cosine_squared",
       R"({"type": "angle_cosine_squared", "angles": {"a": {"stiffness": 20, "angle": 120}}})"},
      {"dihedral_periodic", R"({"type": "dihedral_periodic", "dihedrals": {"d": {"terms": [
        {"stiffness": 3, "multiplicity": 3},
        {"stiffness": 2, "multiplicity": 1, "phase": 20}]}}})"},
      {"dihedral_harmonic",
       R"({"type": "dihedral_harmonic", "dihedrals": {"d": {"stiffness": 10, "angle": 30}}})"},
      {"dihedral_opls", R"({"type": "dihedral_opls", "dihedrals": {"d": {"k": [3, -2, 4, 1]}}})"},
      {"dihedral_ryckaert_bellemans", R"({"type": "dihedral_ryckaert_bellemans",
        "dihedrals": {"d": {"c": [9.28, 12.16, -13.12, -3.06, 26.24, -31.5]}}})"},
      {"improper_harmonic",
       R"({"type": "improper_harmonic", "impropers": {"i": {"stiffness": 10, "angle": 0}}})"},
      {"improper_periodic", R"({"type": "improper_periodic", "impropers": {"i": {"terms": [
        {"stiffness": 3, "multiplicity": 2, "sign": -1}]}}})"},
      {"harmonic_trap", R"({"type": "harmonic_trap", "stiffness": [2, 2, 2]})"},
      {"constant_force", R"({"type": "constant_force", "force": [1, 2, 3]})"},
      {"group_restraint", R"({"type": "group_restraint", "groups": ["all"], "stiffness": 5000,
        "point": [0.2, 0.3, -0.25]})"},
      {"pair_formula", R"({"type": "pair_formula", "energy": ")" + std::string(pair_formula) +
                           R"(", "cutoff": 2.5, "truncation": "force_shift",
           "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1, "q": 0.7}]})"},
      {"many_body_formula", R"j({"type": "many_body_formula", "density": "(1 - r/d)^2",
        "energy": "-a*sqrt(rho)", "pair": "b*(1 - r/d)^2", "cutoff": 2.5,
        "pairs": [{"types": ["A", "A"], "d": 2.5, "b": 7}], "types": {"A": {"a": 9}}})j"},
      // The examples of perrin help, which other tests compile as well, but for the last.
      {"bond_formula", R"j({"type": "bond_formula", "energy": "k/2*(r - r0)^2",
        "bonds": {"b": {"k": 40, "r0": 1}}})j"},
      {"angle_formula", R"j({"type": "angle_formula", "energy": "k*(1 + cos(theta))",
        "angles": {"a": {"k": 9}}})j"},
      {"dihedral_formula", R"j({"type": "dihedral_formula", "energy": "k*(1 + cos(3*phi))",
        "dihedrals": {"d": {"k": 4}}})j"},
      {"external_formula", R"j({"type": "external_formula", "energy": "k/2*(x^2 + y^2)",
        "types": {"A": {"k": 1.5}}})j"},
  };
}

/// The forces of Perrin, and who loads what is made of formulas, from a cache of its own.
struct Forces {
  Registry registry;
  PluginLoader plugins{registry};
  Forces() {
    setenv("PERRIN_CACHE", (::testing::TempDir() + "perrin-formulas").c_str(), 0);
    register_forces(registry);
  }
};

/// Forces that depend on orientations.
bool turns(const std::string& type) {
  return type == "gay_berne" || type == "dipole" || type == "dipole_ewald" || type == "patchy" ||
         type == "anisotropic_formula" || type == "anisotropic_table";
}

/// With an orientation of each, drawn.
Configuration with_orientations(Configuration c) {
  std::mt19937 generator(5);
  std::normal_distribution<double> u;
  for (std::size_t i = 0; i < c.position.size(); ++i)
    c.orientation.push_back(
        normalized(Quaternion{u(generator), u(generator), u(generator), u(generator)}));
  return c;
}

std::unique_ptr<Simulation> simulation_of(Registry& registry, const std::string& job,
                                          const Configuration& c) {
  SetupContext context;
  context.configuration = &c;
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(make_component<Force>(registry, job, context));
  return std::make_unique<Simulation>(Device::cpu(1), c, std::move(forces));
}

/// Turned by an angle about an axis of space.
Quaternion turned(const Quaternion& q, int axis, double angle) {
  Quaternion by{0, 0, 0, std::cos(angle / 2)};
  (axis == 0 ? by.x : axis == 1 ? by.y : by.z) = std::sin(angle / 2);
  return compose(by, q);
}

// The system is not periodic for these forces: all the angular momentum that they give to its
// particles is that of torques and forces, together none.
TEST(RegistryForces, TorquesAreTheDerivativesOfTheirEnergies) {
  Forces all;
  const Configuration start = with_orientations(small_system());
  int tested = 0;
  for (const auto& [type, job] : jobs()) {
    if (!turns(type)) continue;
    SCOPED_TRACE(type);
    ++tested;
    const auto s = simulation_of(all.registry, job, start);
    ASSERT_TRUE(s->forces()[0]->traits().torques);
    s->ensure_forces();
    const auto torque = s->particles().orientations()->torque().to_host();
    const auto index = s->particles().index().to_host();
    const double h = 0.01;
    double largest = 0;
    for (const std::uint32_t id : {0u, 1u, 57u, 171u, 342u})
      for (int axis = 0; axis < 3; ++axis) {
        double energy[2];
        for (const int side : {0, 1}) {
          Configuration c = start;
          c.orientation[id] = turned(c.orientation[id], axis, side ? h : -h);
          energy[side] = simulation_of(all.registry, job, c)->totals().potential;
        }
        const Real4 t = torque[index[id]];
        const double expected = -(energy[1] - energy[0]) / (2 * h);
        const double got = double(axis == 0 ? t.x : axis == 1 ? t.y : t.z);
        largest = std::max(largest, std::abs(got));
        EXPECT_NEAR(got, expected, 0.02 + 0.02 * std::abs(expected)) << id << " " << axis;
      }
    EXPECT_GT(largest, 0.1);
    if (type == "dipole_ewald") continue;  // is periodic
    Configuration open = start;
    open.box.periodic = {false, false, false};
    const auto cluster = simulation_of(all.registry, job, open);
    cluster->ensure_forces();
    const Configuration now = cluster->particles().configuration();
    const auto f = cluster->particles().by_id(cluster->particles().force());
    const auto t = cluster->particles().by_id(cluster->particles().orientations()->torque());
    Vec3<double> sum{};
    double scale = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const Vec3<double> force{double(f[i].x), double(f[i].y), double(f[i].z)};
      const Vec3<double> own{double(t[i].x), double(t[i].y), double(t[i].z)};
      sum += cross(now.position[i], force) + own;
      scale += std::sqrt(dot(own, own));
    }
    EXPECT_LT(std::sqrt(dot(sum, sum)), 1e-4 * scale);
  }
  EXPECT_EQ(tested, 6);
}

TEST(RegistryForces, AreTheDerivativesOfTheirEnergies) {
  Forces all;
  Registry& registry = all.registry;
  perrin_plugin()->register_components(registry);
  const auto table = jobs();
  const Configuration plain = small_system(), oriented = with_orientations(plain);
  for (const CatalogueRow* row : registry.rows("force")) {
    if (row->type == "lj_wall") continue;  // needs an axis that is not periodic: external_test
    if (row->type == "tether") continue;   // has no force where a system begins: groups.py
    SCOPED_TRACE(row->type);
    ASSERT_EQ(table.count(row->type), 1u) << "give this test a job for it";
    const auto simulate = [&](const Configuration& c) {
      return simulation_of(registry, table.at(row->type), c);
    };
    const Configuration& start = turns(row->type) ? oriented : plain;
    const auto s = simulate(start);
    s->ensure_forces();
    const auto force = s->particles().force().to_host();
    const auto index = s->particles().index().to_host();
    // Central differences over 0.02: energies rounded to 10⁻⁷ of some hundreds, and the third
    // derivative of the steepest potentials, leave some hundredths.
    const double h = 0.01;
    double largest = 0;
    for (const std::uint32_t id : {0u, 1u, 57u, 171u, 342u})
      for (int axis = 0; axis < 3; ++axis) {
        double energy[2];
        for (const int side : {0, 1}) {
          Configuration c = start;
          c.position[id][axis] += side ? h : -h;
          energy[side] = simulate(c)->totals().potential;
        }
        const Real4 f = force[index[id]];
        const double expected = -(energy[1] - energy[0]) / (2 * h);
        const double got = double(axis == 0 ? f.x : axis == 1 ? f.y : f.z);
        largest = std::max(largest, std::abs(got));
        EXPECT_NEAR(got, expected, 0.02 + 0.02 * std::abs(expected)) << id << " " << axis;
      }
    EXPECT_GT(largest, 0.1) << "no force at all: nothing was tested";
  }
}

TEST(RegistryForces, ADipoleIsWorthItsFormula) {
  Forces all;
  const Configuration c = with_orientations(small_system());
  const double built_in = simulation_of(all.registry, jobs().at("dipole"), c)->totals().potential;
  const double formula = simulation_of(all.registry, dipole_formula(0), c)->totals().potential;
  EXPECT_NEAR(formula, built_in, 1e-5 * std::abs(built_in));
}

TEST(RegistryForces, AFormulaOfAxesMustBeTheSameForBoth) {
  Forces all;
  const Configuration c = with_orientations(small_system());
  std::string mistake;
  try {
    simulation_of(all.registry, dipole_formula(1), c);
  } catch (const UserError& e) {
    mistake = e.what();
  }
  EXPECT_NE(mistake.find("must not change when cos_1 and cos_2 are exchanged"), std::string::npos)
      << mistake;
}

/// Of a force alone, made from its job.
double potential_of(const Configuration& c, const std::string& job) {
  Forces all;
  SetupContext context;
  context.configuration = &c;
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(make_component<Force>(all.registry, job, context));
  return Simulation(Device::cpu(1), c, std::move(forces)).totals().potential;
}

// Two types, mixed by the rules of Lorentz and Berthelot, written out.
TEST(RegistryForces, AFormulaIsWorthWhatIsBuiltIn) {
  Configuration c = small_system();
  c.types = {"A", "B"};
  for (std::size_t i = 0; i < c.type.size(); i += 3) c.type[i] = 1;
  const auto job = [](const std::string& head, const std::string& q) {
    return "{" + head + R"(, "cutoff": 2.5, "truncation": "force_shift", "pairs": [
        {"types": ["A", "A"], "epsilon": 1, "sigma": 1)" +
           q + R"(},
        {"types": ["B", "B"], "epsilon": 2, "sigma": 0.9)" +
           q + "}]}";
  };
  const double expected =
      potential_of(c, job(R"("type": "lennard_jones", "mixing": "lorentz_berthelot")", ""));
  const double got =
      potential_of(c, job(R"("type": "pair_formula", "energy": ")" + std::string(pair_formula) +
                              R"(", "mixing": {"epsilon": "geometric", "sigma": "arithmetic",
                 "q": "arithmetic"})",
                          R"(, "q": 0)"));
  // Coefficients and sums are rounded to Real, some hundred terms of both signs.
  EXPECT_NEAR(got, expected, 2e-6 * std::abs(expected));
}

TEST(RegistryForces, WithoutACompilerFormulasAreTables) {
  setenv("PERRIN_COMPILER", "/nowhere", 1);
  Configuration c = small_system();
  const auto energy = [&](const std::string& job) { return potential_of(c, job); };
  const auto compare = [&](const std::string& formula, const std::string& built_in) {
    const double expected = energy(built_in);
    EXPECT_NEAR(energy(formula), expected, 5e-6 * std::abs(expected)) << formula;
  };
  compare(R"j({"type": "bond_formula", "energy": "k/2*(r - r0)^2",
               "bonds": {"b": {"k": 50, "r0": 0.9}}})j",
          R"({"type": "bond_harmonic", "bonds": {"b": {"stiffness": 50, "length": 0.9}}})");
  compare(R"j({"type": "angle_formula", "energy": "k*(1 + cos(theta))",
               "angles": {"a": {"k": 20}}})j",
          R"({"type": "angle_cosine", "angles": {"a": {"stiffness": 20}}})");
  compare(R"j({"type": "dihedral_formula", "energy": "k*(1 + cos(3*phi))",
               "dihedrals": {"d": {"k": 2}}})j",
          R"({"type": "dihedral_periodic", "dihedrals": {"d": {"terms": [
              {"stiffness": 2, "multiplicity": 3}]}}})");
  // Pairs of two types, mixed, ending smoothly.
  c.types = {"A", "B"};
  for (std::size_t i = 0; i < c.type.size(); i += 3) c.type[i] = 1;
  const std::string rest = R"("cutoff": 2.5, "truncation": "force_shift", "pairs": [
      {"types": ["A", "A"], "epsilon": 1, "sigma": 1},
      {"types": ["B", "B"], "epsilon": 2, "sigma": 0.9}]})";
  compare(R"j({"type": "pair_formula", "energy": "4*epsilon*((sigma/r)^12 - (sigma/r)^6)",
              "mixing": {"epsilon": "geometric", "sigma": "arithmetic"}, )j" +
              rest,
          R"({"type": "lennard_jones", "mixing": "lorentz_berthelot", )" + rest);
  std::string mistakes;
  try {
    energy(R"j({"type": "external_formula", "energy": "x^2", "types": {"A": {}}})j");
  } catch (const UserError& e) {
    mistakes = e.what();
  }
  EXPECT_NE(mistakes.find("no compiler was found"), std::string::npos) << mistakes;
  unsetenv("PERRIN_COMPILER");
}

TEST(RegistryForces, ParametersOfAFormulaAreSettings) {
  const Configuration c = small_system();
  const auto mistake = [&](const std::string& energy, const std::string& rest) {
    try {
      potential_of(c, R"({"type": "pair_formula", "energy": )" + energy + R"(, "cutoff": 2.5, )" +
                          rest + "}");
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const std::string good = "\"" + std::string(pair_formula) + "\"";
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(mistake(good, R"("truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigm": 1, "q": 0}])"),
      "pairs[0].sigm: unknown key; did you mean \"sigma\"?");
  has(mistake("3", R"("pairs": [])"), "energy: must be text, got 3");
  has(mistake(R"j("4*(r")j", R"("pairs": [])"), "energy: expected \")\"");
  has(mistake(R"("cutoff*r")", R"("pairs": [])"), "\"cutoff\" is a key of this force");
  has(mistake(good, R"("mixing": "geometric", "pairs": [])"), "mixing: must give");
  has(mistake(good, R"("mixing": {"epsilon": "geometric", "sigmaa": "arithmetic",
      "q": "harmonic"}, "pairs": [])"),
      "mixing.sigmaa: is not a parameter of the formula; did you mean \"sigma\"?");
}

// Springs without a length at rest: the energy grows with the square of the edges.
TEST(RegistryForces, EnergiesOfBondsDoNotInheritTheRoundingOfTheEdges) {
  Configuration c = small_system();
  double edge = 7.7;
  while (std::abs(double(float(edge)) / edge - 1) < 3e-8) edge *= 1 + 1e-9;
  const double scale = edge / 7.7;
  c.box.length = scale * c.box.length;
  c.box.origin = scale * c.box.origin;
  for (auto& r : c.position) r = scale * r;
  double expected = 0;
  for (const auto& bond : c.topology.bonds) {
    const Vec3<double> d = c.position[bond.a] - c.position[bond.b];
    expected += 0.5 * 50 * dot(d, d);
  }
  const double potential = potential_of(
      c, R"({"type": "bond_harmonic", "bonds": {"b": {"stiffness": 50, "length": 0}}})");
  EXPECT_NEAR(potential, expected, 2e-8 * expected);
}

// What the switch takes away is smooth and vanishes at both ends, so its virial is three times its
// energy (integration by parts): U ~ 1/V.
TEST(RegistryForces, TailsCountWhatTheSwitchTakesAway) {
  const Configuration c = small_system();
  const auto job = [](const std::string& truncation, bool tail) {
    return R"({"type": "lennard_jones", "cutoff": 3, "truncation": ")" + truncation + R"(", )" +
           (truncation == "switch" ? R"("switch_on": 2, )" : "") + R"("tail": )" +
           (tail ? "true" : "false") +
           R"(, "pairs": [{"types": ["A", "A"], "epsilon": 1.5, "sigma": 1.1}]})";
  };
  double integral =
      0;  // of r² (E - S E) from 2 to 3, and of r² E beyond, by the midpoint rule in 1/r
  constexpr int n = 200000;
  for (int k = 0; k < n; ++k) {
    const double u = (k + 0.5) / n / 2, r = 1 / u, s6 = std::pow(1.1 * u, 6);
    const double x = r - 2, s = r < 3 ? 1 - x * x * x * (10 - x * (15 - 6 * x)) : 0;
    integral += 4 * 1.5 * s6 * (s6 - 1) * (1 - s) * r * r * r * r / n / 2;
  }
  const double number = double(c.position.size());
  const double expected = 2 * M_PI * number * number / c.box.volume() * integral;
  const double with = potential_of(c, job("switch", true));
  EXPECT_NEAR(with - potential_of(c, job("switch", false)), expected, 1e-6 * std::abs(with));
  Forces all;
  SetupContext context;
  context.configuration = &c;
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(make_component<Force>(all.registry, job("switch", true), context));
  Simulation s(Device::cpu(1), c, std::move(forces));
  const ForceCorrection tail = s.forces()[0]->correction(c.box);
  EXPECT_NEAR(tail.energy, expected, 1e-6 * std::abs(expected));
  EXPECT_NEAR(tail.virial, 3 * expected, 3e-6 * std::abs(expected));
  for (const char* shift : {"energy_shift", "force_shift"}) {
    std::string mistakes;
    try {
      potential_of(c, job(shift, true));
    } catch (const UserError& e) {
      mistakes = e.what();
    }
    EXPECT_NE(
        mistakes.find("tail: is for the truncations cut and switch, got " + std::string(shift)),
        std::string::npos)
        << mistakes;
  }
}

}  // namespace
}  // namespace perrin
