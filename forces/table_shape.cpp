#include "forces/table_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perrin {
namespace {

/// Files round: of this share nothing is known.
constexpr double rounding = 1e-5;
/// Energies that change by more than this factor from step to step are not resolved.
constexpr double steepest = 8;

/// Both slopes lead down with the energy (or up), and one so steeply that a cubic overshoots.
bool overshoots(double rise, double a, double b) {
  if (!(a * rise >= 0 && b * rise >= 0)) return false;
  return a * a + b * b > 9 * rise * rise;
}

double unknown(const TableRows& rows, std::size_t k) {
  return rounding * std::max(std::abs(rows.energy[k]), std::abs(rows.energy[k + 1]));
}

TableNote too_coarse(std::size_t first, std::size_t last, const TableRows& rows) {
  return {
      first, last,
      fmt::format("rows are too far apart for energies that change from {:.4g} to {:.4g}: the "
                  "energy between them is undetermined, and the interpolated force is less than "
                  "that of the rows; use more closely spaced rows, or begin at a larger distance",
                  rows.energy[first], rows.energy[last])};
}

TableNote jump_note(std::size_t k, const TableRows& rows) {
  const bool cut = k + 2 == rows.x.size() && rows.energy[k + 1] == 0;
  return {
      k, k + 1,
      fmt::format("the energy goes from {:.6g} to {:.6g}, without a force that accounts for it: "
                  "treated as a jump, with linear interpolation of the force between the rows{}",
                  rows.energy[k], rows.energy[k + 1],
                  cut ? ". If the last row only marks the cut-off, remove it, or shift the "
                        "energies so that they end at 0"
                      : "")};
}

std::vector<TableNote> with_forces(TableRows& rows, bool& agree) {
  const std::size_t n = rows.x.size() - 1;
  const auto& m = rows.slope;
  rows.jump.assign(n, 0);
  std::vector<TableNote> notes;
  std::size_t off = 0, all = 0, coarse_from = n;
  for (std::size_t k = 0; k < n; ++k) {
    const double width = rows.x[k + 1] - rows.x[k], rise = rows.energy[k + 1] - rows.energy[k];
    const double a = width * m[k], b = width * m[k + 1], least = unknown(rows, k);
    // As the slope changes from a to b, so the energy does not change by less than either.
    const bool coarse = std::abs(rise) > least && overshoots(rise, a, b) &&
                        std::abs(rise) > 0.9 * std::min(std::abs(a), std::abs(b));
    if (coarse && coarse_from == n) coarse_from = k;
    if (!coarse && coarse_from < n) {
      notes.push_back(too_coarse(coarse_from, k, rows));
      coarse_from = n;
    }
    if (std::abs(rise) + std::abs(a) + std::abs(b) > least) ++all;
    if (coarse) continue;
    // Slopes within the interval are between those of its ends, or as far beyond as they change
    // nearby.
    const double low = std::min(a, b), high = std::max(a, b);
    double change = 0;
    if (k > 0) change = std::abs(m[k] - m[k - 1]);
    if (k + 2 <= n) change = std::max(change, std::abs(m[k + 2] - m[k + 1]));
    const double margin = 0.5 * (high - low) + 0.5 * width * change +
                          0.1 * std::max(std::abs(a), std::abs(b)) + least;
    if (rise >= low - margin && rise <= high + margin) continue;
    rows.jump[k] = 1;
    ++off;
  }
  if (coarse_from < n) notes.push_back(too_coarse(coarse_from, n, rows));
  agree = 2 * off <= all;
  for (std::size_t k = 0; k < n && agree; ++k)
    if (rows.jump[k]) notes.push_back(jump_note(k, rows));
  return notes;
}

std::vector<TableNote> without_forces(TableRows& rows) {
  const std::size_t n = rows.x.size() - 1;
  rows.jump.assign(n, 0);
  std::vector<TableNote> notes;
  const auto rise = [&](std::size_t k) { return rows.energy[k + 1] - rows.energy[k]; };
  // (Near an extremum one step alone is small.)
  for (std::size_t& k = rows.steep; k + 3 < n; ++k) {
    const double here = rise(k), next = rise(k + 1), after = rise(k + 2);
    if (!(here * next > 0 && next * after > 0)) break;
    if (!(std::abs(here) > steepest * std::abs(next) && std::abs(next) > 2 * std::abs(after)))
      break;
  }
  if (rows.steep > 0) notes.push_back(too_coarse(0, rows.steep, rows));
  for (std::size_t k = rows.steep + 2; k < n; ++k) {
    const bool last = k + 1 == n, level = last || std::abs(rise(k + 1)) <= unknown(rows, k + 1);
    if (!level || (last && rows.energy[n] != 0)) continue;
    const double near = std::max(std::abs(rise(k - 1)), std::abs(rise(k - 2)));
    if (std::abs(rise(k)) <= steepest * near + unknown(rows, k)) continue;
    rows.jump[k] = 1;
    notes.push_back(jump_note(k, rows));
  }
  return notes;
}

/// The derivative at the first of the (up to six) rows from `at` on in the direction `step`, of the
/// polynomial through them (Newton's divided differences); `count` rows there are.
double end_slope(const TableRows& rows, std::size_t at, std::ptrdiff_t step, std::size_t count) {
  const auto n = std::min<std::size_t>(6, count);
  std::array<double, 6> x{}, d{};
  for (std::size_t k = 0; k < n; ++k) {
    const auto row = std::size_t(std::ptrdiff_t(at) + std::ptrdiff_t(k) * step);
    x[k] = rows.x[row];
    d[k] = rows.energy[row];
  }
  double slope = 0, product = 1;
  for (std::size_t order = 1; order < n; ++order) {
    for (std::size_t k = n - 1; k >= order; --k) d[k] = (d[k] - d[k - 1]) / (x[k] - x[k - order]);
    slope += d[order] * product;
    product *= x[0] - x[order];
  }
  return slope;
}

/// Of rows `first` to `last`, between jumps.
void slopes_between(const TableRows& rows, std::size_t first, std::size_t last,
                    std::vector<double>& m) {
  const std::size_t n = last - first + 1;
  if (n == 1) {
    m[first] = 0;
    return;
  }
  std::vector<double> diagonal(n, 1), right(n, 0);
  double* const s = m.data() + first;
  const double *const x = rows.x.data() + first, *const energy = rows.energy.data() + first;
  s[0] = end_slope(rows, first, 1, n);
  s[n - 1] = end_slope(rows, last, -1, n);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double a = x[k] - x[k - 1], b = x[k + 1] - x[k];
    const double low = b, high = a;
    s[k] = 3 * (b * (energy[k] - energy[k - 1]) / a + a * (energy[k + 1] - energy[k]) / b);
    const double factor = low / diagonal[k - 1];
    diagonal[k] = 2 * (a + b) - factor * right[k - 1];
    right[k] = high;
    s[k] -= factor * s[k - 1];
  }
  for (std::size_t k = n - 1; k-- > 1;) s[k] = (s[k] - right[k] * s[k + 1]) / diagonal[k];
}

}  // namespace

std::vector<TableNote> find_shape(TableRows& rows, bool& agree) {
  agree = true;
  return rows.slope.empty() ? without_forces(rows) : with_forces(rows, agree);
}

std::array<double, 4> table_cubic(double e0, double e1, double m0, double m1, double width,
                                  bool jump) {
  const double rise = e1 - e0;
  if (jump) return {e0, width * m0, width * (m1 - m0) / 2, 0};
  const double a = width * m0, b = width * m1;
  if (std::abs(rise) > rounding * std::max(std::abs(e0), std::abs(e1)) && overshoots(rise, a, b)) {
    const double less = 3 * std::abs(rise) / std::sqrt(a * a + b * b);
    m0 *= less, m1 *= less;
  }
  return {e0, width * m0, 3 * rise - width * (2 * m0 + m1), width * (m0 + m1) - 2 * rise};
}

std::vector<double> spline_slopes(const TableRows& rows) {
  std::vector<double> m(rows.x.size());
  std::size_t first = rows.steep;
  for (std::size_t k = rows.steep; k < rows.x.size(); ++k) {
    const bool last = k + 1 == rows.x.size() || (!rows.jump.empty() && rows.jump[k]);
    if (!last) continue;
    slopes_between(rows, first, k, m);
    first = k + 1;
  }
  for (std::size_t k = 0; k < rows.steep; ++k) {
    const auto slope = [&](std::size_t i) {
      return (rows.energy[i + 1] - rows.energy[i]) / (rows.x[i + 1] - rows.x[i]);
    };
    const double above = slope(k), below = k > 0 ? slope(k - 1) : above;
    m[k] = above * below > 0 ? 2 * above * below / (above + below) : 0;
  }
  return m;
}

}  // namespace perrin
