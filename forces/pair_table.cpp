// Tabulated pair potentials.
#include "forces/force_with_tables.h"
#include "forces/pair_force.h"
#include "forces/spline.h"

namespace perrin {
namespace {

/// The energy of a table: ends with it, unless a cut-off is nearer.
struct TabulatedPair {
  using Settings = TableSettings;
  using Coefficients = SplineView;
  static constexpr const char* type = "pair_table";
  static constexpr const char* help =
      "tabulated pair potential: a cubic spline through rows \"r energy [force]\" of a text file, "
      "or "
      "a section of a file in LAMMPS's format; ends at the last row, below the first the force is "
      "that of the first row";

  static Coefficients coefficients(const Settings& s) { return s.spline->view(); }
  static double default_cutoff(const Settings& s) { return s.spline->end(); }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const auto e = c.evaluate(distance.r);
    return {-e.slope * distance.inverse, e.energy};
  }
};

std::unique_ptr<Force> make_pair_table(const PairSettings<TabulatedPair>& given, Setup& setup) {
  PairSettings<TabulatedPair> s = given;
  ForceWithTables<Spline>::Tables splines;
  bool good = true;
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    auto& table = s.pairs[k].parameters;
    good = table.load(setup, fmt::format("pairs[{}]", k), TableKind::pair) && good;
    splines.push_back(table.spline);
  }
  auto force = good ? detail::make_pair_force<TabulatedPair>(s, setup) : nullptr;
  if (!force) return nullptr;
  return std::make_unique<ForceWithTables<Spline>>(std::move(force), std::move(splines));
}

}  // namespace

void register_table(Registry& registry) {
  registry.add<Force, PairSettings<TabulatedPair>>(TabulatedPair::type, TabulatedPair::help,
                                                   make_pair_table);
}

}  // namespace perrin
