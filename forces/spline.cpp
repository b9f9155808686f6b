#include "forces/spline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "engine/base/error.h"
#include "forces/table_shape.h"

namespace perrin {
namespace {

constexpr double most_intervals = 65536;  // of a table that has fewer rows

/// spline_slopes() around a turn: what the ends do has died away over a turn on both sides, by a
/// factor of four for each point.
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

bool jumps(const TableRows& rows, std::size_t k) { return !rows.jump.empty() && rows.jump[k]; }

/// Points at equal distances, on the cubics through those of the file.
TableRows equidistant(const TableRows& rows) {
  const double range = rows.x.back() - rows.x.front(), mean = range / double(rows.x.size() - 1);
  double least = range, most = 0, away = 0;
  for (std::size_t k = 1; k < rows.x.size(); ++k) {
    least = std::min(least, rows.x[k] - rows.x[k - 1]);
    most = std::max(most, rows.x[k] - rows.x[k - 1]);
    away = std::max(away, std::abs(rows.x[k] - (rows.x.front() + mean * double(k))));
  }
  // Files round to six digits. Where rows are many, distances that differ by no more than that may
  // add up.
  const double rounded = 2e-6 * rows.x.back();
  if (most - least <= 1e-4 * most + rounded && away <= 1e-4 * most + rounded) return rows;
  const auto n = std::size_t(
      std::min(std::ceil(range / least), std::max(most_intervals, double(rows.x.size()))));
  TableRows out;
  std::size_t at = 1, before = 1;
  for (std::size_t k = 0; k <= n; ++k) {
    const double x = rows.x.front() + range * double(k) / double(n);
    while (at + 1 < rows.x.size() && rows.x[at] < x) ++at;
    // A row at which the energy jumps has been passed since the last point.
    bool jump = false;
    for (; before < at; ++before) jump = jump || jumps(rows, before - 1);
    if (k > 0) out.jump.push_back(jump);
    const double width = rows.x[at] - rows.x[at - 1], t = (x - rows.x[at - 1]) / width;
    const auto c = table_cubic(rows.energy[at - 1], rows.energy[at], rows.slope[at - 1],
                               rows.slope[at], width, jumps(rows, at - 1));
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
    const auto c = table_cubic(rows.energy[k], rows.energy[k + 1], rows.slope[k], rows.slope[k + 1],
                               width_, jumps(rows, k));
    host_.push_back({Real(c[0]), Real(c[1]), Real(c[2]), Real(c[3])});
    for (const double number : c)
      if (!std::isfinite(Real(number)))
        throw UserError(fmt::format("energy {} at {} is out of the range of this build's numbers",
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

namespace {

/// Where rows are closer together than intervals can be: an energy that is lost. Empty: none.
std::string lost_energy(const TableRows& rows, const Spline& spline, TableKind kind) {
  const SplineView view = spline.view();
  const double intervals = double(view.last) + 1;
  if (intervals < most_intervals) return "";
  double worst = 0.01;  // of the energies around
  std::size_t at = 0;
  for (std::size_t k = 1; k + 1 < rows.x.size(); ++k) {
    if (jumps(rows, k - 1) || jumps(rows, k)) continue;
    const double around =
        std::abs(rows.energy[k - 1]) + std::abs(rows.energy[k]) + std::abs(rows.energy[k + 1]);
    const double lost = std::abs(double(view.evaluate(Real(rows.x[k])).energy) - rows.energy[k]);
    if (lost > worst * around) worst = lost / around, at = k;
  }
  if (at == 0) return "";
  const bool turned = kind == TableKind::angle || kind == TableKind::dihedral;
  const double unit = turned ? std::numbers::pi / 180 : 1;
  return fmt::format(
      "rows are too close together: they are brought to {} equal distances of {:.4g}, and the "
      "energy at {:.8g} is {:.6g} in place of {:.6g}",
      intervals, (spline.end() - spline.start()) / intervals / unit, rows.x[at] / unit,
      view.evaluate(Real(rows.x[at])).energy, rows.energy[at]);
}

}  // namespace

bool TableSettings::load(Setup& setup, const std::string& key, TableKind kind) {
  const auto path = setup.input_file(file, key + ".file");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || !std::ifstream(path)) return false;
  try {
    const TableRows rows = read_table(path, keyword, kind);
    for (const auto& note : rows.notes) setup.warn(key + ".file", note);
    spline = std::make_shared<const Spline>(setup.device(), rows, kind == TableKind::dihedral);
    if (const auto note = lost_energy(rows, *spline, kind); !note.empty())
      setup.warn(key + ".file", note);
  } catch (const UserError& e) {
    setup.error(key + ".file", e.what());
    return false;
  }
  return true;
}

}  // namespace perrin
