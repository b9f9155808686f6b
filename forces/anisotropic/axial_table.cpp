#include "forces/anisotropic/axial_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

#include "engine/base/error.h"

namespace perrin {
namespace {

/// A row of the file.
struct Row {
  std::size_t line;
  std::vector<double> number;
};

std::vector<Row> rows_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<Row> rows;
  std::string text;
  for (std::size_t line = 1; std::getline(in, text); ++line) {
    std::istringstream words(text.substr(0, text.find('#')));
    Row row{line, {}};
    for (std::string word; words >> word;) {
      char* end = nullptr;
      const double number = std::strtod(word.c_str(), &end);  // one too small for a double is 0
      if (*end != 0 || end == word.c_str() || !std::isfinite(number))
        throw UserError(fmt::format("{}:{}: expected a number, got \"{}\"", file, line, word));
      row.number.push_back(number);
    }
    if (row.number.empty()) continue;
    const std::size_t columns = rows.empty() ? row.number.size() : rows.front().number.size();
    if (row.number.size() != columns || columns < 3 || columns > 4)
      throw UserError(fmt::format("{}:{}: expected {}, got {} numbers", file, line,
                                  rows.empty()
                                      ? "r cos_1 energy or r cos_1 cos_2 energy"
                                      : fmt::format("{} numbers as in the first row", columns),
                                  row.number.size()));
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    throw UserError(fmt::format("{}: expected rows r cos_1 energy or r cos_1 cos_2 energy", file));
  return rows;
}

/// How many rows there are before this column changes.
std::size_t rows_before_change(const std::vector<Row>& rows, std::size_t column) {
  std::size_t n = 1;
  while (n < rows.size() && rows[n].number[column] == rows[0].number[column]) ++n;
  return n;
}

/// Derivative at the first of points in steps of 1, by the polynomial through up to six.
template <class At>
double end_slope(std::size_t n, const At& at) {
  static constexpr std::array<std::array<double, 6>, 3> weights{
      {{-11.0 / 6, 3, -3.0 / 2, 1.0 / 3, 0, 0},
       {-25.0 / 12, 4, -3, 4.0 / 3, -1.0 / 4, 0},
       {-137.0 / 60, 5, -5, 10.0 / 3, -5.0 / 4, 1.0 / 5}}};
  const std::size_t used = std::min<std::size_t>(n, 6);
  double slope = 0;
  for (std::size_t k = 0; k < used; ++k) slope += weights[used - 4][k] * at(k);
  return slope;
}

/// The n + 2 coefficients of the spline through n numbers, with the slopes of polynomials at both
/// ends; of a single number four that are alike.
std::vector<double> coefficients(const std::vector<double>& f) {
  const std::size_t n = f.size();
  if (n == 1) return std::vector<double>(4, f[0]);
  const double left = end_slope(n, [&](std::size_t k) { return f[k]; });
  const double right = -end_slope(n, [&](std::size_t k) { return f[n - 1 - k]; });
  // b[k - 1] + 4 b[k] + b[k + 1] = 6 f[k], b[1] - b[-1] = 2 left, b[n] - b[n - 2] = 2 right
  std::vector<double> above(n), b(n + 2);
  double* const inner = b.data() + 1;
  for (std::size_t k = 0; k < n; ++k) {
    const bool first = k == 0, last = k + 1 == n;
    const double below = first ? 0 : last ? 2 : 1, next = first ? 2 : last ? 0 : 1;
    const double wanted = 6 * f[k] + (first ? 2 * left : last ? -2 * right : 0);
    const double pivot = 4 - (first ? 0 : below * above[k - 1]);
    above[k] = next / pivot;
    inner[k] = (wanted - (first ? 0 : below * inner[k - 1])) / pivot;
  }
  for (std::size_t k = n - 1; k-- > 0;) inner[k] -= above[k] * inner[k + 1];
  b[0] = inner[1] - 2 * left;
  b[n + 1] = inner[n - 2] + 2 * right;
  return b;
}

/// Coefficients along one of three axes in place of numbers.
std::vector<double> fit(const std::vector<double>& from, std::array<std::size_t, 3>& n, int axis) {
  std::array<std::size_t, 3> to = n;
  to[std::size_t(axis)] = n[std::size_t(axis)] == 1 ? 4 : n[std::size_t(axis)] + 2;
  std::vector<double> all(to[0] * to[1] * to[2]);
  const auto stride = [axis](const std::array<std::size_t, 3>& of) {
    return axis == 2 ? 1 : axis == 1 ? of[2] : of[1] * of[2];
  };
  const std::size_t inner = stride(n), outer = from.size() / (n[std::size_t(axis)] * inner);
  std::vector<double> line(n[std::size_t(axis)]);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t k = 0; k < line.size(); ++k)
        line[k] = from[(o * line.size() + k) * inner + i];
      const std::vector<double> b = coefficients(line);
      for (std::size_t k = 0; k < b.size(); ++k) all[(o * b.size() + k) * inner + i] = b[k];
    }
  n = to;
  return all;
}

}  // namespace

AxialGrid read_axial_grid(const std::string& file) {
  const std::vector<Row> rows = rows_of(file);
  const bool two = rows.front().number.size() == 4;
  AxialGrid grid;
  grid.c2 = two ? rows_before_change(rows, 1) : 1;
  const std::size_t of_r = rows_before_change(rows, 0);
  if (of_r % grid.c2 != 0)
    throw UserError(
        fmt::format("{}:{}: expected {} rows for each cos_1, the last of r = {:.7g} "
                    "has {}",
                    file, rows[of_r - 1].line, grid.c2, rows[0].number[0], of_r % grid.c2));
  grid.c1 = of_r / grid.c2;
  grid.r = 1;
  for (std::size_t k = 1; k < rows.size(); ++k)
    grid.r += rows[k].number[0] != rows[k - 1].number[0] ? 1 : 0;
  const auto too_few = [&](const char* what, std::size_t n) {
    if (n < 4)
      throw UserError(fmt::format("{}: expected at least 4 values of {}, got {}", file, what, n));
  };
  too_few("cos_1", grid.c1);
  if (two) too_few("cos_2", grid.c2);
  too_few("r", grid.r);
  constexpr std::size_t most = 16u << 20u;
  if (rows.size() > most)
    throw UserError(fmt::format("{}: expected at most {} rows, got {}", file, most, rows.size()));
  grid.start = rows.front().number[0];
  grid.width = (rows.back().number[0] - grid.start) / double(grid.r - 1);
  if (!(grid.start >= 0) || !(grid.width > 0))
    throw UserError(
        fmt::format("{}: expected distances r that are not negative and grow, got {} "
                    "in the first row and {} in the last",
                    file, grid.start, rows.back().number[0]));
  for (std::size_t k = 0; k < std::min(grid.r * of_r, rows.size()); ++k) {
    const auto expect = [&](const char* name, double found, double wanted, double step) {
      if (std::abs(found - wanted) > 1e-4 * step)
        throw UserError(fmt::format(
            "{}:{}: expected {} = {:.7g}, got {:.7g}: rows are all combinations of distances and "
            "cosines in equal steps, cosines from -1 to 1, the last of them fastest",
            file, rows[k].line, name, wanted, found));
    };
    const std::size_t i = k / of_r, j = k % of_r / grid.c2, l = k % grid.c2;
    const double step_1 = 2.0 / double(grid.c1 - 1), step_2 = 2.0 / double(grid.c2 - 1);
    expect("r", rows[k].number[0], grid.start + grid.width * double(i), grid.width);
    expect("cos_1", rows[k].number[1], -1 + step_1 * double(j), step_1);
    if (two) expect("cos_2", rows[k].number[2], -1 + step_2 * double(l), step_2);
    grid.energy.push_back(rows[k].number.back());
  }
  if (rows.size() != grid.r * of_r)
    throw UserError(fmt::format("{}:{}: expected {} rows of {} distances, got {}", file,
                                rows.back().line, grid.r * of_r, grid.r, rows.size()));
  return grid;
}

AxialTable::AxialTable(const Device& device, const AxialGrid& grid) {
  std::array<std::size_t, 3> n{grid.r, grid.c1, grid.c2};
  std::vector<double> all = grid.energy;
  for (int axis = 2; axis >= 0; --axis) all = fit(all, n, axis);
  host_.assign(all.begin(), all.end());
  if (!std::ranges::all_of(host_, [](Real x) { return std::isfinite(x); }))
    throw UserError(fmt::format("an energy is out of the range of this build's numbers, {:.2g}",
                                double(std::numeric_limits<Real>::max())));
  if (device.is_cuda()) device_ = Buffer<Real>(device, std::span<const Real>(host_));
  end_ = grid.end();
  view_ = {.host = host_.data(),
           .device = device_.size() > 0 ? device_.data() : host_.data(),
           .start = Real(grid.start),
           .inverse_width = Real(1 / grid.width),
           .last_r = Real(grid.r - 1),
           .last_c1 = Real(grid.c1 - 1),
           .last_c2 = Real(grid.c2 - 1),
           .of_c1 = std::int32_t(n[1]),
           .of_c2 = std::int32_t(n[2])};
}

AxialTableView AxialTable::view(bool exchanged) const {
  AxialTableView view = view_;
  view.exchanged = exchanged;
  return view;
}

std::string AxialTable::fingerprint() const {
  const std::string_view bytes(reinterpret_cast<const char*>(host_.data()),
                               host_.size() * sizeof(Real));
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x} {:a} {:a}", hash, double(view_.start), double(view_.inverse_width));
}

std::vector<std::string> swings(const AxialGrid& grid) {
  const AxialTable table(Device(), grid);
  const AxialTableView view = table.view(false);
  const auto cosine = [](std::size_t k, std::size_t n) {
    return n == 1 ? 0.0 : -1 + 2 * double(k) / double(n - 1);
  };
  double worst = 1;  // of what is allowed
  std::string text;
  for (std::size_t i = 0; i + 1 < grid.r; ++i) {
    double largest = 0;  // at these distances
    for (std::size_t k = 0; k < 2 * grid.c1 * grid.c2; ++k)
      largest = std::max(largest, std::abs(grid.energy[i * grid.c1 * grid.c2 + k]));
    for (std::size_t j = 0; j < grid.c1; ++j)
      for (std::size_t k = 0; k < grid.c2; ++k) {
        double least = grid.at(i, j, k), most = least;
        for (std::size_t at = i > 0 ? i - 1 : 0; at < std::min(i + 3, grid.r); ++at) {
          least = std::min(least, grid.at(at, j, k));
          most = std::max(most, grid.at(at, j, k));
        }
        const double r = grid.start + grid.width * (double(i) + 0.5);
        const double e = view.evaluate(r, cosine(j, grid.c1), cosine(k, grid.c2)).energy;
        const double beyond =
            std::max(least - e, e - most) / (0.1 * (most - least) + 1e-5 * largest + 1e-30);
        if (beyond <= worst) continue;
        worst = beyond;
        text = fmt::format(
            "distances are too far apart for a smooth energy: between r = {:.6g} and {:.6g} at "
            "cos_1 = {:.4g} it swings to {:.5g}, beyond the rows around, {:.5g} to {:.5g}",
            r - grid.width / 2, r + grid.width / 2, cosine(j, grid.c1), e, least, most);
      }
  }
  return text.empty() ? std::vector<std::string>{} : std::vector{text};
}

}  // namespace perrin
