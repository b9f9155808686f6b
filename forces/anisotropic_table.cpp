// The force "anisotropic_table": tabulated energies of particles with axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "forces/anisotropic/anisotropic_force.h"
#include "forces/anisotropic/axial_table.h"
#include "forces/force_with_tables.h"
#include "forces/register.h"

namespace perrin {

struct TabulatedAxial {
  struct Settings {
    std::string file;
    std::shared_ptr<const AxialTable> table;  // of the file, once it is read
    std::string first;                        // the type of particle 1
  };
  using Coefficients = AxialTableView;
  static constexpr const char* type = "anisotropic_table";
  static constexpr const char* help =
      "tabulated energy of particles with axes, x of their own frames: a spline through rows \"r "
      "cos_1 cos_2 energy\" of a text file, or \"r cos_1 energy\" where particle 2 has no "
      "direction; cos_1 is between the axis of particle 1 and the direction to particle 2, cos_2 "
      "likewise; ends at the last row, below the first the force is that of the first row; needs "
      "\"orientations\"";

  static double default_cutoff(const Settings& s) { return s.table->end(); }

  template <class T>
  PERRIN_HD static AxialEnergy<T> evaluate(T r, T cos_1, T cos_2, T /*cos_12*/,
                                           const Coefficients& c) {
    AxialEnergy<T> e = c.evaluate(r, c.exchanged ? cos_2 : cos_1, c.exchanged ? cos_1 : cos_2);
    if (c.exchanged) {
      const T by_1 = e.by_cos_1;
      e.by_cos_1 = e.by_cos_2, e.by_cos_2 = by_1;
    }
    return e;
  }
};

template <class D>
void describe(D& d, TabulatedAxial::Settings& s) {
  d.required("file", s.file, Any{},
             "text file of the table, relative to the job file: all combinations of distances and "
             "cosines in equal steps, cosines from -1 to 1, the last column but the energy "
             "fastest; particle 1 is of the first of \"types\"");
}

namespace {

/// Two particles of one type have no order.
void check_symmetry(const AxialGrid& grid, const std::string& key, Setup& setup) {
  if (grid.c2 > 1 && grid.c1 != grid.c2)
    return setup.error(key, fmt::format("two particles of one type have as many values of cos_1 as "
                                        "of cos_2, got {} and {}",
                                        grid.c1, grid.c2));
  const double largest =
      std::abs(*std::ranges::max_element(grid.energy, {}, [](double e) { return std::abs(e); }));
  for (std::size_t i = 0; i < grid.r; ++i)
    for (std::size_t j = 0; j < grid.c1; ++j)
      for (std::size_t k = 0; k < grid.c1; ++k) {
        const bool fits = grid.c1 == grid.c2;
        const double one = fits ? grid.at(i, j, k) : grid.at(i, j, 0),
                     other = fits ? grid.at(i, k, j) : grid.at(i, k, 0);
        const double bound = 1e-5 * (std::abs(one) + std::abs(other)) + 1e-7 * largest;
        if (std::abs(one - other) <= bound) continue;
        const double step = 2 / double(grid.c1 - 1);
        return setup.error(
            key, fmt::format("the energy of two particles of one type must not change when cos_1 "
                             "and cos_2 are exchanged, got {:.7g} and {:.7g} at r = {:.6g} for "
                             "{:.4g} and {:.4g}",
                             one, other, grid.start + grid.width * double(i), -1 + step * double(j),
                             -1 + step * double(k)));
      }
}

/// Reads the file of pairs[k]. False after an error, which is reported.
bool load(PairSettings<TabulatedAxial>::Pair& pair, std::size_t k, Setup& setup) {
  const std::string key = fmt::format("pairs[{}].file", k);
  TabulatedAxial::Settings& s = pair.parameters;
  s.first = pair.types[0];
  const auto path = setup.input_file(s.file, key);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || !std::ifstream(path)) return false;
  try {
    const AxialGrid grid = read_axial_grid(path.string());
    if (pair.types[0] == pair.types[1]) check_symmetry(grid, key, setup);
    s.table = std::make_shared<const AxialTable>(setup.device(), grid);
    for (const std::string& what : swings(grid)) setup.warn(key, what);
  } catch (const UserError& e) {
    setup.error(key, e.what());
    return false;
  }
  return true;
}

/// Reports cut-offs beyond the tables.
void check_cutoffs(const PairSettings<TabulatedAxial>& s, detail::PairTable<TabulatedAxial>& table,
                   Setup& setup) {
  std::vector<detail::PairEnd> ends;
  for (std::size_t a = 0; a < table.types(); ++a)
    for (std::size_t b = a; b < table.types(); ++b)
      if (const auto& e = table.at(a, b))
        ends.push_back({TabulatedAxial::default_cutoff(e->parameters), e->cutoff, e->own_cutoff});
  detail::check_ends(setup, TabulatedAxial::type, s.truncation, false, s.cutoff, ends);
}

std::unique_ptr<Force> make_anisotropic_table(const OrientedPairSettings<TabulatedAxial>& given,
                                              Setup& setup) {
  OrientedPairSettings<TabulatedAxial> s = given;
  ForceWithTables<AxialTable>::Tables tables;
  bool good = true;
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    good = load(s.pairs[k], k, setup) && good;
    tables.push_back(s.pairs[k].parameters.table);
  }
  if (!good) return nullptr;
  detail::PairTable<TabulatedAxial> table(s, setup);
  check_cutoffs(s, table, setup);
  check_sites(table, setup, [&](std::size_t a, std::size_t b) {
    const TabulatedAxial::Settings& pair = table.at(a, b)->parameters;
    return pair.table->view(false).last_c2 > 0 || setup.configuration().types[a] == pair.first;
  });
  const std::vector<std::string>& names = setup.configuration().types;
  auto force = make_anisotropic_force<AxialPair<TabulatedAxial>>(
      TabulatedAxial::type, s, table, setup, [&](std::size_t a, std::size_t b) {
        const TabulatedAxial::Settings& pair = table.at(a, b)->parameters;
        return pair.table->view(a != b && names[a] != pair.first);
      });
  if (!force) return nullptr;
  return std::make_unique<ForceWithTables<AxialTable>>(std::move(force), std::move(tables));
}

}  // namespace

void register_anisotropic_table(Registry& registry) {
  registry.add<Force, OrientedPairSettings<TabulatedAxial>>(
      TabulatedAxial::type, TabulatedAxial::help, make_anisotropic_table);
}

}  // namespace perrin
