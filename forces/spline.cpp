#include "forces/spline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "engine/core/error.h"

namespace perrin {
namespace {

/// The derivative at the first of the (up to six) points from `at` in the direction `step`, of the
/// polynomial through them (Newton's divided differences).
double end_slope(const TableRows& rows, std::ptrdiff_t at, std::ptrdiff_t step) {
  const auto n = std::min<std::ptrdiff_t>(6, std::ptrdiff_t(rows.x.size()));
  std::array<double, 6> x{}, d{};
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    x[std::size_t(k)] = rows.x[std::size_t(at + k * step)];
    d[std::size_t(k)] = rows.energy[std::size_t(at + k * step)];
  }
  double slope = 0, product = 1;
  for (std::size_t order = 1; order < std::size_t(n); ++order) {
    for (std::size_t k = std::size_t(n) - 1; k >= order; --k)
      d[k] = (d[k] - d[k - 1]) / (x[k] - x[k - order]);
    slope += d[order] * product;
    product *= x[0] - x[order];
  }
  return slope;
}

/// Slopes of the cubic spline with continuous second derivative, given those at both ends.
std::vector<double> spline_slopes(const TableRows& rows) {
  const std::size_t n = rows.x.size();
  std::vector<double> m(n), diagonal(n, 1), right(n, 0);
  m[0] = end_slope(rows, 0, 1);
  m[n - 1] = end_slope(rows, std::ptrdiff_t(n) - 1, -1);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double a = rows.x[k] - rows.x[k - 1], b = rows.x[k + 1] - rows.x[k];
    const double low = b, high = a;
    m[k] = 3 * (b * (rows.energy[k] - rows.energy[k - 1]) / a +
                a * (rows.energy[k + 1] - rows.energy[k]) / b);
    const double factor = low / diagonal[k - 1];
    diagonal[k] = 2 * (a + b) - factor * right[k - 1];
    right[k] = high;
    m[k] -= factor * m[k - 1];
  }
  for (std::size_t k = n - 1; k-- > 1;) m[k] = (m[k] - right[k] * m[k + 1]) / diagonal[k];
  return m;
}

/// The same around a turn: what the ends do has died away over a turn on both sides, by a factor of
/// four for each point.
std::vector<double> periodic_slopes(const TableRows& rows) {
  const std::size_t n = rows.x.size() - 1;  // the last is the first
  const std::size_t turns = 32 / n + 1;
  TableRows around;
  for (std::size_t k = 0; k <= (2 * turns + 1) * n; ++k) {
    const auto turn = k / n;
    around.x.push_back(rows.x[k % n] + (rows.x[n] - rows.x[0]) * double(turn));
    around.energy.push_back(rows.energy[k % n]);
  }
  const auto all = spline_slopes(around);
  return {all.begin() + std::ptrdiff_t(turns * n),
          all.begin() + std::ptrdiff_t((turns + 1) * n + 1)};
}

/// Coefficients of the cubic with these values and slopes at both ends of an interval.
std::array<double, 4> cubic(double e0, double e1, double m0, double m1, double width) {
  const double rise = e1 - e0;
  return {e0, width * m0, 3 * rise - width * (2 * m0 + m1), width * (m0 + m1) - 2 * rise};
}

/// Points at equal distances, on the cubics through those of the file.
TableRows equidistant(const TableRows& rows) {
  const double range = rows.x.back() - rows.x.front();
  double least = range, most = 0;
  for (std::size_t k = 1; k < rows.x.size(); ++k) {
    least = std::min(least, rows.x[k] - rows.x[k - 1]);
    most = std::max(most, rows.x[k] - rows.x[k - 1]);
  }
  // Files round to six digits.
  if (most - least <= 1e-4 * most + 2e-6 * rows.x.back()) return rows;
  const auto n = std::size_t(std::min(std::ceil(range / least), 65536.0));
  TableRows out;
  std::size_t at = 1;
  for (std::size_t k = 0; k <= n; ++k) {
    const double x = rows.x.front() + range * double(k) / double(n);
    while (at + 1 < rows.x.size() && rows.x[at] < x) ++at;
    const double width = rows.x[at] - rows.x[at - 1], t = (x - rows.x[at - 1]) / width;
    const auto c =
        cubic(rows.energy[at - 1], rows.energy[at], rows.slope[at - 1], rows.slope[at], width);
    out.x.push_back(x);
    out.energy.push_back(c[0] + t * (c[1] + t * (c[2] + t * c[3])));
    out.slope.push_back((c[1] + t * (2 * c[2] + 3 * t * c[3])) / width);
  }
  return out;
}

}  // namespace

Spline::Spline(const Device& device, const TableRows& given, bool periodic) {
  TableRows rows = given;
  if (rows.slope.empty()) rows.slope = periodic ? periodic_slopes(rows) : spline_slopes(rows);
  rows = equidistant(rows);
  const std::size_t n = rows.x.size() - 1;
  start_ = rows.x.front();
  width_ = (rows.x.back() - rows.x.front()) / double(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto c =
        cubic(rows.energy[k], rows.energy[k + 1], rows.slope[k], rows.slope[k + 1], width_);
    host_.push_back({Real(c[0]), Real(c[1]), Real(c[2]), Real(c[3])});
    for (const double number : c)
      if (!std::isfinite(Real(number)))
        throw UserError(fmt::format("energy {} at {} leaves the range of this build's numbers",
                                    rows.energy[k], rows.x[k]));
  }
  if (device.is_cuda()) device_ = Buffer<Real4>(device, host_);
}

SplineView Spline::view() const {
  return {host_.data(), device_.size() > 0 ? device_.data() : host_.data(), Real(start_),
          Real(1 / width_), Real(host_.size() - 1)};
}

std::string Spline::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  const auto add = [&](const void* data, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; ++k)
      hash = (hash ^ static_cast<const unsigned char*>(data)[k]) * 0x100000001b3u;
  };
  add(&start_, sizeof start_);
  add(&width_, sizeof width_);
  add(host_.data(), host_.size() * sizeof(Real4));
  return fmt::format("{:016x}", hash);
}

bool TableSettings::load(Setup& setup, const std::string& key, TableKind kind) {
  const auto path = setup.input_file(file, key + ".file");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || !std::ifstream(path)) return false;
  try {
    spline = std::make_shared<const Spline>(setup.device(), read_table(path, keyword, kind),
                                            kind == TableKind::dihedral);
  } catch (const UserError& e) {
    setup.error(key + ".file", e.what());
    return false;
  }
  return true;
}

}  // namespace perrin
