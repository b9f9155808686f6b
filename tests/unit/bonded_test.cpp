// Bonds, angles and dihedrals against a brute-force sum in double precision, differentiated
// numerically.
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "engine/dynamics/simulation.h"
#include "forces/angle_force.h"
#include "forces/angle_potentials.h"
#include "forces/bond_force.h"
#include "forces/bond_potentials.h"
#include "forces/dihedral_force.h"
#include "forces/dihedral_potentials.h"
#include "forces/register.h"
#include "tests/devices.h"

namespace perrin {
namespace {

using Points = std::vector<Vec3<double>>;

/// Bent chains of five beads, wrapped into a tilted periodic box, with two types of bonds,
/// angles, dihedrals and impropers.
Configuration chains(int count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  Configuration c;
  c.box.length = {7, 8, 9};
  c.box.xy = 1.5, c.box.xz = -0.7, c.box.yz = 0.9;
  c.box.origin = {-3, 1, 0.5};
  c.types = {"A"};
  c.topology.bond_types = {"stiff", "loose"};
  c.topology.angle_types = {"wide", "narrow"};
  c.topology.dihedral_types = {"one", "two"};
  c.topology.improper_types = {"flat", "steep"};
  for (int chain = 0; chain < count; ++chain) {
    Vec3<double> r{4 * u(random), 4 * u(random), 4 * u(random)};
    for (int k = 0; k < 5; ++k) {
      const auto id = std::uint32_t(c.position.size());
      c.position.push_back(r);
      c.type.push_back(0);
      if (k >= 1) c.topology.bonds.push_back({id - 1, id, std::uint32_t(k % 2)});
      if (k >= 2) c.topology.angles.push_back({id - 2, id - 1, id, std::uint32_t(k % 2)});
      if (k >= 3)
        c.topology.dihedrals.push_back({id - 3, id - 2, id - 1, id, std::uint32_t(k % 2)});
      if (k >= 3)
        c.topology.impropers.push_back({id - 2, id - 3, id - 1, id, std::uint32_t(k % 2)});
      Vec3<double> step{u(random), u(random), u(random)};
      r += (0.95 + 0.2 * u(random)) / std::sqrt(dot(step, step)) * step;
    }
  }
  for (auto& p : c.position) {  // where forces see them: without remainders
    const Position seen = c.box.fixed(p, 0);
    p = c.box.point(Position{seen.x, seen.y, seen.z, 0});
  }
  return c;
}

/// The shortest of the vectors from b to a, over the nearest images.
Vec3<double> nearest(const Box& box, Vec3<double> a, Vec3<double> b) {
  Vec3<double> best{1e9, 0, 0};
  const auto edges = box.edges();
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = -1; k <= 1; ++k) {
        const auto d = a - b + double(i) * edges[0] + double(j) * edges[1] + double(k) * edges[2];
        if (dot(d, d) < dot(best, best)) best = d;
      }
  return best;
}

using Energy = std::function<double(const Configuration&, const Points&)>;

/// A homogeneous deformation r → (1 + strain) r, for the virial: every vector is multiplied.
thread_local std::array<double, 6> strain{};  // xx yy zz xy xz yz, symmetric

Vec3<double> deformed(Vec3<double> d) {
  const auto& e = strain;
  return d + Vec3<double>{e[0] * d.x + e[3] * d.y + e[4] * d.z,
                          e[3] * d.x + e[1] * d.y + e[5] * d.z,
                          e[4] * d.x + e[5] * d.y + e[2] * d.z};
}

double bond_energies(const Configuration& c, const Points& r,
                     const std::function<double(double, std::uint32_t)>& e) {
  double sum = 0;
  for (const auto& b : c.topology.bonds) {
    const auto d = deformed(nearest(c.box, r[b.a], r[b.b]));
    sum += e(std::sqrt(dot(d, d)), b.type);
  }
  return sum;
}

double angle_energies(const Configuration& c, const Points& r,
                      const std::function<double(double, std::uint32_t)>& e) {
  double sum = 0;
  for (const auto& a : c.topology.angles) {
    const auto u = deformed(nearest(c.box, r[a.a], r[a.b])),
               v = deformed(nearest(c.box, r[a.c], r[a.b]));
    sum += e(std::acos(dot(u, v) / std::sqrt(dot(u, u) * dot(v, v))), a.type);
  }
  return sum;
}

/// The angle between the planes by the vectors along the chain: another formula than the kernel's.
double torsion(Vec3<double> ab, Vec3<double> bc, Vec3<double> cd) {
  const auto m = cross(ab, bc), n = cross(bc, cd);
  return std::atan2(std::sqrt(dot(bc, bc)) * dot(ab, n), dot(m, n));
}

double torsion_energies(const Configuration& c, const Points& r,
                        const std::vector<Topology::Dihedral>& members,
                        const std::function<double(double, std::uint32_t)>& e) {
  double sum = 0;
  for (const auto& g : members)
    sum += e(
        torsion(deformed(nearest(c.box, r[g.b], r[g.a])), deformed(nearest(c.box, r[g.c], r[g.b])),
                deformed(nearest(c.box, r[g.d], r[g.c]))),
        g.type);
  return sum;
}

/// Compares energy, forces, momentum and virial with the reference. `stiffness` sets the scale.
void compare(const Device& device, const Configuration& c, std::unique_ptr<Force> force,
             const Energy& reference, double stiffness) {
  const std::size_t n = c.position.size();
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::move(force));
  Simulation simulation(device, c, std::move(forces));
  simulation.ensure_forces();
  const auto f = simulation.particles().force().to_host();

  // Float: positions differences carry 6e-8 of their length, so forces 6e-8 k r and a few
  // roundings.
  const double tolerance = (sizeof(Real) == 4 ? 4e-6 : 1e-7) * stiffness;
  Vec3<double> momentum{};
  for (std::size_t i = 0; i < n; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double h = 1e-5;
      Points r = c.position;
      r[i][axis] += h;
      double slope = reference(c, r);
      r[i][axis] -= 2 * h;
      slope = (slope - reference(c, r)) / (2 * h);
      const double mine = axis == 0 ? double(f[i].x) : axis == 1 ? double(f[i].y) : double(f[i].z);
      ASSERT_NEAR(mine, -slope, tolerance) << "particle " << i << " axis " << axis;
      momentum[axis] += mine;
    }
  }
  for (int axis = 0; axis < 3; ++axis)
    EXPECT_NEAR(momentum[axis], 0, tolerance * std::sqrt(double(n)) / 4);

  const Totals& totals = simulation.totals();
  const double energy = reference(c, c.position);
  EXPECT_NEAR(totals.potential, energy, (sizeof(Real) == 4 ? 2e-6 : 1e-8) * std::abs(energy));
  double scale = 0;
  std::array<double, 6> virial{};
  for (std::size_t k = 0; k < 6; ++k) {
    const double h = 1e-6;
    // A symmetric shear moves xy and yx: half of the derivative belongs to each.
    const double share = k < 3 ? 1 : 0.5;
    strain[k] = h;
    double slope = reference(c, c.position);
    strain[k] = -h;
    slope = (slope - reference(c, c.position)) / (2 * h);
    strain[k] = 0;
    virial[k] = -share * slope;
    scale = std::max(scale, std::abs(virial[k]));
  }
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_NEAR(totals.virial[k], virial[k], 2e-6 * (scale + stiffness)) << "component " << k;
}

class Bonded : public DeviceTest {};

TEST_P(Bonded, HarmonicBonds) {
  const auto c = chains(20);
  auto force = std::make_unique<BondForce<BondHarmonic>>(
      device(), c,
      std::map<std::string, BondHarmonic::Settings>{{"stiff", {300, 0.9}}, {"loose", {40, 1.1}}});
  compare(
      device(), c, std::move(force),
      [](const Configuration& x, const Points& r) {
        return bond_energies(x, r, [](double d, std::uint32_t t) {
          return t == 0 ? 150 * (d - 0.9) * (d - 0.9) : 20 * (d - 1.1) * (d - 1.1);
        });
      },
      300);
}

TEST_P(Bonded, FeneBondsWithAndWithoutRepulsion) {
  const auto c = chains(20);
  auto force = std::make_unique<BondForce<BondFene>>(
      device(), c,
      std::map<std::string, BondFene::Settings>{{"stiff", {30, 1.5, 1, 1}},
                                                {"loose", {20, 1.8, 0, 1}}});
  compare(
      device(), c, std::move(force),
      [](const Configuration& x, const Points& r) {
        return bond_energies(x, r, [](double d, std::uint32_t t) {
          if (t == 1) return -10 * 1.8 * 1.8 * std::log(1 - d * d / (1.8 * 1.8));
          const double s6 = std::pow(d, -6);
          return -15 * 1.5 * 1.5 * std::log(1 - d * d / 2.25) +
                 (s6 > 0.5 ? 4 * s6 * (s6 - 1) + 1 : 0.0);
        });
      },
      // Repulsion at 0.75 sigma: the force is about 24 · 2 · 0.75^-13 and rounding grows by r F'/F
      // = 13.
      4e3);
}

TEST_P(Bonded, HarmonicAngles) {
  const auto c = chains(20);
  auto force = std::make_unique<AngleForce<AngleHarmonic>>(
      device(), c,
      std::map<std::string, AngleHarmonic::Settings>{{"wide", {15, 120}}, {"narrow", {8, 70}}});
  compare(
      device(), c, std::move(force),
      [](const Configuration& x, const Points& r) {
        return angle_energies(x, r, [](double theta, std::uint32_t t) {
          const double bend = theta - (t == 0 ? 120 : 70) * std::numbers::pi / 180;
          return (t == 0 ? 7.5 : 4) * bend * bend;
        });
      },
      // Near 0 and 180 degrees the torque is divided by a small sine.
      200);
}

TEST_P(Bonded, CosineAngles) {
  const auto c = chains(20);
  auto force = std::make_unique<AngleForce<AngleCosine>>(
      device(), c, std::map<std::string, AngleCosine::Settings>{{"wide", {5}}, {"narrow", {3}}});
  compare(
      device(), c, std::move(force),
      [](const Configuration& x, const Points& r) {
        return angle_energies(x, r, [](double theta, std::uint32_t t) {
          return (t == 0 ? 5 : 3) * (1 + std::cos(theta));
        });
      },
      20);
}

TEST_P(Bonded, CosineSquaredAngles) {
  const auto c = chains(20);
  auto force = std::make_unique<AngleForce<AngleCosineSquared>>(
      device(), c,
      std::map<std::string, AngleCosineSquared::Settings>{{"wide", {15, 120}},
                                                          {"narrow", {8, 180}}});
  compare(
      device(), c, std::move(force),
      [](const Configuration& x, const Points& r) {
        return angle_energies(x, r, [](double theta, std::uint32_t t) {
          const double away = std::cos(theta) - (t == 0 ? -0.5 : -1);
          return (t == 0 ? 7.5 : 4) * away * away;
        });
      },
      40);
}

constexpr double degree = std::numbers::pi / 180;

/// Forces of a kind of dihedrals or impropers against the energies `e(phi, type)`.
template <class P>
void compare_torsions(const Device& device,
                      const std::map<std::string, typename P::Settings>& settings,
                      const std::function<double(double, std::uint32_t)>& e) {
  SCOPED_TRACE(P::type);
  const auto c = chains(20);
  compare(
      device, c, std::make_unique<DihedralForce<P>>(device, c, settings),
      [&](const Configuration& x, const Points& r) {
        return torsion_energies(x, r, Torsions<P::kind>::members(x.topology), e);
      },
      // Where three particles are nearly in line forces and their rounding grow.
      300);
}

TEST_P(Bonded, PeriodicDihedralsAndImpropers) {
  const DihedralPeriodic::Settings several{{{3, 1, 1, 0}, {2, 3, -1, 30}, {0.5, 0, 1, 60}}},
      one{{{4, 6, 1, -45}}};
  const auto energy = [](double phi, std::uint32_t t) {
    if (t == 1) return 4 * (1 + std::cos(6 * phi + 45 * degree));
    return 3 * (1 + std::cos(phi)) + 2 * (1 - std::cos(3 * phi - 30 * degree)) + 0.75;
  };
  compare_torsions<DihedralPeriodic>(device(), {{"one", several}, {"two", one}}, energy);
  compare_torsions<ImproperPeriodic>(device(), {{"flat", several}, {"steep", one}}, energy);
}

TEST_P(Bonded, HarmonicDihedralsAndImpropers) {
  const auto energy = [](double phi, std::uint32_t t) {
    double away = phi - (t == 0 ? 170 : -35) * degree;
    away -= 360 * degree * std::rint(away / (360 * degree));
    return (t == 0 ? 5 : 3) * away * away;
  };
  compare_torsions<DihedralHarmonic>(device(), {{"one", {10, 170}}, {"two", {6, -35}}}, energy);
  compare_torsions<ImproperHarmonic>(device(), {{"flat", {10, 170}}, {"steep", {6, -35}}}, energy);
}

TEST_P(Bonded, DihedralsByPowersAndByMultiplesOfThePhase) {
  // Coefficients of butane: Ryckaert, Bellemans, in kJ/mol.
  const DihedralRyckaertBellemans::Settings butane{{9.28, 12.16, -13.12, -3.06, 26.24, -31.5}};
  const auto powers = [](double phi, std::uint32_t) {
    const double x = std::cos(phi - 180 * degree);
    return 9.28 + x * (12.16 + x * (-13.12 + x * (-3.06 + x * (26.24 - x * 31.5))));
  };
  compare_torsions<DihedralRyckaertBellemans>(device(), {{"one", butane}, {"two", butane}}, powers);
  const DihedralOpls::Settings opls{{7.1, -0.66, 13.4, 2.2}};
  compare_torsions<DihedralOpls>(
      device(), {{"one", opls}, {"two", opls}}, [](double phi, std::uint32_t) {
        return 3.55 * (1 + std::cos(phi)) - 0.33 * (1 - std::cos(2 * phi)) +
               6.7 * (1 + std::cos(3 * phi)) + 1.1 * (1 - std::cos(4 * phi));
      });
}

/// Four particles with this dihedral angle.
Configuration four(double phi) {
  Configuration c;
  c.box.length = {10, 10, 10};
  c.types = {"A"};
  // From b to c along z, a along x: a positive angle turns d clockwise, from x towards y.
  c.position = {{1, 0, -0.3}, {0, 0, 0}, {0, 0, 1}, {std::cos(phi), std::sin(phi), 1.3}};
  c.type.assign(4, 0);
  c.topology.dihedral_types = {"t"};
  c.topology.dihedrals = {{0, 1, 2, 3, 0}};
  return c;
}

template <class P>
double energy_at(const Device& device, double degrees, const typename P::Settings& settings) {
  const auto c = four(degrees * degree);
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::make_unique<DihedralForce<P>>(
      device, c, std::map<std::string, typename P::Settings>{{"t", settings}}));
  return Simulation(device, c, std::move(forces)).totals().potential;
}

TEST_P(Bonded, DihedralsCountAsIupacAndThePeersDo) {
  // Ryckaert's and Bellemans's butane: trans 0, gauche 2.93, cis 44.8 kJ/mol.
  const DihedralRyckaertBellemans::Settings butane{{9.28, 12.16, -13.12, -3.06, 26.24, -31.5}};
  const auto rb = [&](double phi) {
    return energy_at<DihedralRyckaertBellemans>(device(), phi, butane);
  };
  EXPECT_NEAR(rb(180), 0, 2e-5);
  EXPECT_NEAR(rb(60), 2.927, 1e-3);
  EXPECT_NEAR(rb(-60), 2.927, 1e-3);
  EXPECT_NEAR(rb(0), 44.8, 1e-4);
  // GROMACS's manual: C0 = F2 + (F1 + F3)/2, C1 = (3 F3 - F1)/2, C2 = 4 F4 - F2, C3 = -2 F3,
  // C4 = -4 F4 make Ryckaert-Bellemans of OPLS.
  const std::array<double, 4> f{7.1, -0.66, 13.4, 2.2};
  const DihedralRyckaertBellemans::Settings same{
      {f[1] + (f[0] + f[2]) / 2, (3 * f[2] - f[0]) / 2, 4 * f[3] - f[1], -2 * f[2], -4 * f[3], 0}};
  for (const double phi : {-170.0, -100.0, -45.0, 0.0, 30.0, 90.0, 135.0, 180.0})
    EXPECT_NEAR(energy_at<DihedralOpls>(device(), phi, {f}),
                energy_at<DihedralRyckaertBellemans>(device(), phi, same), 2e-5)
        << phi;
  // The sign of phi, and the shorter way around.
  EXPECT_NEAR(energy_at<DihedralHarmonic>(device(), 90, {2, 90}), 0, 1e-6);
  EXPECT_NEAR(energy_at<DihedralHarmonic>(device(), 90, {2, -90}), std::pow(180 * degree, 2), 1e-4);
  EXPECT_NEAR(energy_at<DihedralHarmonic>(device(), -170, {2, 170}), std::pow(20 * degree, 2),
              1e-6);
  // LAMMPS's dihedral_style harmonic, K = 80, d = -1, n = 2; charmm, K = 0.2, n = 1, d = 180.
  EXPECT_NEAR(energy_at<DihedralPeriodic>(device(), 30, {{{80, 2, -1, 0}}}), 40, 1e-4);
  EXPECT_NEAR(energy_at<DihedralPeriodic>(device(), 60, {{{0.2, 1, 1, 180}}}), 0.1, 1e-6);
}

TEST_P(Bonded, ThreeInLineLeaveDihedralForcesFinite) {
  for (const double off : {0.0, 1e-7, 1e-4, 0.01}) {
    Configuration c = four(1);
    c.position[0] = {off, 0, -1};  // in line with b and c
    std::vector<std::unique_ptr<Force>> forces;
    forces.push_back(std::make_unique<DihedralForce<DihedralOpls>>(
        device(), c, std::map<std::string, DihedralOpls::Settings>{{"t", {{1, 1, 1, 1}}}}));
    Simulation simulation(device(), c, std::move(forces));
    simulation.ensure_forces();
    Vec3<double> sum{};
    double largest = 0;
    for (const auto& f : simulation.particles().force().to_host()) {
      const Vec3<double> one{double(f.x), double(f.y), double(f.z)};
      sum += one;
      largest = std::max(largest, std::sqrt(dot(one, one)));
    }
    EXPECT_LT(largest, 20 / std::max(off, 1e-6)) << off;
    EXPECT_LT(std::sqrt(dot(sum, sum)), 1e-6 * (1 + largest)) << off;
  }
}

/// A crystal with a dihedral here and there, of which some ends are bonded.
Configuration crystal() {
  Configuration c;
  c.box.length = {5.5, 5.5, 5.5};
  c.types = {"A"};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(-0.05, 0.05);
  for (int k = 0; k < 125; ++k)
    c.position.push_back(
        {1.1 * (k % 5) + u(random), 1.1 * (k / 5 % 5) + u(random), 1.1 * (k / 25) + u(random)});
  c.type.assign(125, 0);
  c.topology.dihedral_types = c.topology.bond_types = c.topology.angle_types = {"t"};
  c.topology.dihedrals = {{0, 1, 6, 31, 0},
                          {31, 6, 1, 0, 0},
                          {40, 41, 46, 71, 0},
                          {2, 3, 8, 7, 0},
                          {60, 61, 66, 67, 0}};
  c.topology.bonds = {{2, 7, 0}};
  c.topology.angles = {{60, 66, 67, 0}};
  for (auto& p : c.position) {
    const Position seen = c.box.fixed(p, 0);
    p = c.box.point(Position{seen.x, seen.y, seen.z, 0});
  }
  return c;
}

TEST_P(Bonded, SpecialPairsAreTheEndsOfDihedralsOrThoseOfAList) {
  const auto c = crystal();
  Registry registry;
  register_forces(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device();
  const auto energies = [](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
    return [pairs](const Configuration& x, const Points& r) {
      double sum = 0;
      for (const auto& [a, b] : pairs) {
        const auto d = deformed(nearest(x.box, r[a], r[b]));
        const double s6 = std::pow(1.5, 6) / std::pow(dot(d, d), 3);
        sum += 0.5 * 4 * 1.7 * s6 * (s6 - 1);
      }
      return sum;
    };
  };
  const std::string rest = R"("scale": 0.5,
      "pairs": [{"types": ["A", "A"], "epsilon": 1.7, "sigma": 1.5}]})";
  const std::string of_dihedrals = R"({"type": "special_pairs", )" + rest;
  compare(device(), c, make_component<Force>(registry, of_dihedrals, context),
          energies({{0, 31}, {40, 71}}), 300);
  const std::string of_list =
      R"({"type": "special_pairs", "from": "list", "list": [[0, 2], [7, 19], [13, 1]], )" + rest;
  compare(device(), c, make_component<Force>(registry, of_list, context),
          energies({{0, 2}, {7, 19}, {1, 13}}), 300);
}

/// What is said of special pairs of a list.
std::string special_pairs_mistake(const std::string& list) {
  const auto c = chains(1);
  Registry registry;
  register_forces(registry);
  SetupContext context;
  context.configuration = &c;
  try {
    make_component<Force>(registry,
                          R"({"type": "special_pairs", "from": "list", "list": )" + list +
                              R"(, "pairs": [{"types": ["A", "A"], "epsilon": 1,
                                        "sigma": 1}]})",
                          context);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(SpecialPairs, RefuseWhatIsNoPair) {
  const auto expect = [](const std::string& list, const std::string& what) {
    const std::string said = special_pairs_mistake(list);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  expect("[[0, 5]]", "list[0]: must name particles from 0 to 4, got 0 and 5");
  expect("[[0, 1], [2, 2]]", "list[1]: must name two particles, got 2 twice");
  expect("[[0, 1], [1, 0]]", "list[1]: the pair 1, 0 is given twice");
  expect("[]", "list: must have at least one pair");
}

TEST_P(Bonded, StretchedAnglesAreAtRest) {
  Configuration c;
  c.box.length = {10, 10, 10};
  c.types = {"A"};
  c.position = {{-1, 0.1, 0.2}, {0, 0.1, 0.2}, {1.1, 0.1, 0.2}};
  c.type = {0, 0, 0};
  c.topology.angle_types = {"a"};
  c.topology.angles = {{0, 1, 2, 0}};
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::make_unique<AngleForce<AngleHarmonic>>(
      device(), c, std::map<std::string, AngleHarmonic::Settings>{{"a", {100, 180}}}));
  Simulation simulation(device(), c, std::move(forces));
  simulation.ensure_forces();
  for (const auto& f : simulation.particles().force().to_host()) {
    EXPECT_NEAR(double(f.x), 0, 1e-4);
    EXPECT_NEAR(double(f.y), 0, 1e-4);
    EXPECT_NEAR(double(f.z), 0, 1e-4);
  }
}

TEST_P(Bonded, ForcesAddUpAndLeaveTypesToOthers) {
  const auto c = chains(6);
  const auto make = [&](bool stiff, bool loose, bool angles) {
    std::map<std::string, BondHarmonic::Settings> bonds;
    std::vector<std::unique_ptr<Force>> forces;
    if (stiff) bonds["stiff"] = {300, 0.9};
    if (loose) bonds["loose"] = {40, 1.1};
    // Angles first: the bonds then add to what is there.
    if (angles)
      forces.push_back(std::make_unique<AngleForce<AngleCosine>>(
          device(), c,
          std::map<std::string, AngleCosine::Settings>{{"wide", {5}}, {"narrow", {3}}}));
    if (!bonds.empty())
      forces.push_back(std::make_unique<BondForce<BondHarmonic>>(device(), c, bonds));
    return std::make_unique<Simulation>(device(), c, std::move(forces));
  };
  auto all = make(true, true, true);
  auto stiff = make(true, false, false), loose = make(false, true, false),
       angles = make(false, false, true);
  const double sum =
      stiff->totals().potential + loose->totals().potential + angles->totals().potential;
  EXPECT_GT(stiff->totals().potential, 0);
  EXPECT_GT(loose->totals().potential, 0);
  EXPECT_NEAR(all->totals().potential, sum, 1e-6 * sum);
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_NEAR(all->totals().virial[k],
                stiff->totals().virial[k] + loose->totals().virial[k] + angles->totals().virial[k],
                1e-4);
}

TEST_P(Bonded, ResultsGoByIdWhateverTheOrderInMemory) {
  const auto c = chains(20);
  const auto by_id = [&](bool shuffled) {
    std::vector<std::unique_ptr<Force>> forces;
    forces.push_back(std::make_unique<BondForce<BondHarmonic>>(
        device(), c,
        std::map<std::string, BondHarmonic::Settings>{{"stiff", {300, 0.9}},
                                                      {"loose", {40, 1.1}}}));
    forces.push_back(std::make_unique<AngleForce<AngleHarmonic>>(
        device(), c,
        std::map<std::string, AngleHarmonic::Settings>{{"wide", {15, 120}}, {"narrow", {8, 70}}}));
    Simulation simulation(device(), c, std::move(forces));
    if (shuffled) {
      std::vector<std::uint32_t> order(c.position.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::uint32_t(i);
      std::shuffle(order.begin(), order.end(), std::mt19937(3));
      simulation.particles().memory_order().reorder(Buffer<std::uint32_t>(device(), order));
    }
    simulation.ensure_forces();
    const auto f = simulation.particles().force().to_host();
    const auto id = simulation.particles().id().to_host();
    std::vector<std::array<Real, 3>> result(f.size());
    for (std::size_t i = 0; i < f.size(); ++i) result[id[i]] = {f[i].x, f[i].y, f[i].z};
    return result;
  };
  EXPECT_EQ(by_id(false), by_id(true));  // bit for bit
}

TEST_P(Bonded, ABondThatBreaksStopsTheRun) {
  Configuration c;
  c.box.length = {10, 10, 10};
  c.types = {"A"};
  c.position = {{0, 0, 0}, {1.6, 0, 0}};
  c.type = {0, 0};
  c.topology.bond_types = {"fene"};
  c.topology.bonds = {{0, 1, 0}};
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::make_unique<BondForce<BondFene>>(
      device(), c, std::map<std::string, BondFene::Settings>{{"fene", {}}}));
  Simulation simulation(device(), c, std::move(forces));
  try {
    simulation.ensure_forces();
    FAIL() << "no fault";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("bond 0 (type \"fene\") of particles 0 and 1 is 1.6 long, "
                                         "the limit is 1.5"),
              std::string::npos)
        << e.what();
  }
}
PERRIN_INSTANTIATE_DEVICES(Bonded);

/// Mistakes as check_bonded_types() reports them: "path: what".
std::vector<std::string> mistakes(const std::vector<std::string>& given,
                                  const std::vector<std::string>& skip) {
  std::vector<std::string> result;
  SetupContext context;
  const auto c = chains(1);
  context.configuration = &c;
  context.report = [&](const std::string& path, const std::string& what) {
    result.push_back(path + ": " + what);
  };
  Setup setup(context, "forces[0]");
  check_bonded_types(setup, "bond", "bonds", given, skip, c.topology.bond_types,
                     types_in_use(c.topology.bonds, 2));
  return result;
}

TEST(BondTypes, AreAllAccountedFor) {
  EXPECT_TRUE(mistakes({"stiff", "loose"}, {}).empty());
  EXPECT_TRUE(mistakes({"stiff"}, {"loose"}).empty());
  const auto missing = mistakes({"stiff"}, {});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_NE(missing[0].find("no coefficients for bond type 'loose'"), std::string::npos);
  const auto unknown = mistakes({"stiff", "loose", "lose"}, {});
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_NE(unknown[0].find("bonds.lose"), std::string::npos);
  EXPECT_NE(unknown[0].find("known bond types: stiff, loose"), std::string::npos);
  EXPECT_EQ(mistakes({"stiff", "loose"}, {"stiff"}).size(), 1u);
  EXPECT_EQ(mistakes({"stiff", "loose"}, {"other"}).size(), 1u);
}

/// The derivative of each bond's energy, in double.
template <class P>
void expect_derivative(const typename P::Settings& s, double from, double to) {
  const auto c = P::coefficients(s);
  for (double r = from; r < to; r += 0.013) {
    const double h = 1e-5;
    const double slope =
        (P::evaluate((r + h) * (r + h), c).energy - P::evaluate((r - h) * (r - h), c).energy) /
        (2 * h);
    EXPECT_NEAR(P::evaluate(r * r, c).force_over_r * r, -slope, 1e-6 * (1 + std::abs(slope)))
        << P::type << " r = " << r;
  }
}

TEST(BondPotential, ForceIsMinusTheDerivativeOfTheEnergy) {
  expect_derivative<BondHarmonic>({200, 1.1}, 0.5, 2);
  expect_derivative<BondFene>({30, 1.5, 0, 1}, 0.5, 1.45);
  expect_derivative<BondFene>({30, 1.5, 1, 1}, 0.8, 1.45);
  // The minimum of the Kremer-Grest bond lies near 0.9609 (bonded beads, epsilon = sigma = 1).
  const auto c = BondFene::coefficients({30, 1.5, 1, 1});
  double best = 0, lowest = 1e9;
  for (double r = 0.9; r < 1.1; r += 1e-5)
    if (const double e = BondFene::evaluate(r * r, c).energy; e < lowest) lowest = e, best = r;
  EXPECT_NEAR(best, 0.9609, 2e-4);
}

}  // namespace
}  // namespace perrin
