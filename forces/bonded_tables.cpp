// Bonds, angles and dihedrals with tabulated energies.
#include "forces/angle_force.h"
#include "forces/bond_force.h"
#include "forces/dihedral_force.h"
#include "forces/spline.h"

namespace perrin {
namespace {

/// A bond that becomes longer than the table ends the run.
struct BondTable {
  using Settings = TableSettings;
  struct Coefficients {
    SplineView spline;
    Real end2;
  };
  static constexpr const char* type = "bond_table";
  static constexpr const char* help =
      "tabulated bonds: a cubic spline through rows \"r energy [force]\" of a text file, or a "
      "section of a file in LAMMPS's format; below the first row the force is that of the first "
      "row, a bond longer than the last row ends the run";

  static bool load(Settings& s, Setup& setup, const std::string& key) {
    return s.load(setup, key, TableKind::bond);
  }
  static Coefficients coefficients(const Settings& s) {
    return {s.spline->view(), Real(s.spline->end() * s.spline->end())};
  }
  PERRIN_HD static Real breaking_length2(const Coefficients& c) { return c.end2; }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const auto e = c.spline.evaluate(distance.r);
    return {-e.slope * distance.inverse, e.energy};
  }
};

struct AngleTable {
  using Settings = TableSettings;
  using Coefficients = SplineView;
  static constexpr const char* type = "angle_table";
  static constexpr const char* help =
      "tabulated angles: a cubic spline through rows \"degrees energy [force per degree]\" of a "
      "text file, or a section of a file in LAMMPS's format, from 0 to 180";

  static bool load(Settings& s, Setup& setup, const std::string& key) {
    return s.load(setup, key, TableKind::angle);
  }
  static Coefficients coefficients(const Settings& s) { return s.spline->view(); }

  template <class T>
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    const auto e = c.evaluate(std::atan2(sine, cosine));
    const T bounded = sine > T(1e-6) ? sine : T(1e-6);  // as AngleHarmonic's
    return {-e.slope / bounded, e.energy};
  }
};

struct DihedralTable {
  using Settings = TableSettings;
  using Coefficients = SplineView;
  static constexpr Torsion kind = Torsion::dihedral;
  static constexpr const char* type = "dihedral_table";
  static constexpr const char* help =
      "tabulated dihedrals: a periodic cubic spline through rows \"degrees energy [force per "
      "degree]\" of a text file, or a section of a file in LAMMPS's format, once around; 180 is "
      "trans";

  static bool load(Settings& s, Setup& setup, const std::string& key) {
    return s.load(setup, key, TableKind::dihedral);
  }
  static Coefficients coefficients(const Settings& s) { return s.spline->view(); }

  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients& c) {
    constexpr double turn = 6.283185307179586;
    T phi = std::atan2(sine, cosine);
    phi = phi < T(c.start) ? phi + T(turn) : phi;
    phi = phi < T(c.start) + T(turn) ? phi : phi - T(turn);
    const auto e = c.evaluate(phi);
    return {e.slope, e.energy};
  }
};

}  // namespace

void register_bonded_tables(Registry& registry) {
  register_bond<BondTable>(registry);
  register_angle<AngleTable>(registry);
  register_dihedral<DihedralTable>(registry);
}

}  // namespace perrin
