#include "orientational_correlation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/components/registry.h"
#include "engine/device/tasks.h"
#include "engine/dynamics/observation.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "engine/system/site_types.h"

namespace perrin::analysis {
namespace {

constexpr std::int64_t pieces = 64;
/// Sums are of integers in units of 2^-36, so that no order matters: |P_l| is at most 1, and a bin
/// has fewer than 2^26 pairs in a sample.
constexpr double unit = 1.0 / (std::int64_t(1) << 36);

std::vector<io::ObservableColumn> columns(const OrientationalCorrelationSettings& s, Setup& setup) {
  const auto bins = hsize_t(s.bins);
  std::vector<io::ObservableColumn> list{{"r", {bins}, ""}, {"g", {bins}, ""}};
  for (const std::int32_t l : s.l) list.push_back({fmt::format("g_{}", l), {bins}, ""});
  list.push_back({"h110", {bins}, ""});
  if (setup.configuration().box.dimension == 3) list.push_back({"h112", {bins}, ""});
  return list;
}

/// P_l(c); in two dimensions cos(l acos(c)). Both by their recursions.
double polynomial(int l, double c, bool flat) {
  double before = 1, now = c;
  for (int n = 2; n <= l; ++n) {
    const double next =
        flat ? 2 * c * now - before : ((2 * n - 1) * c * now - (n - 1) * before) / n;
    before = now;
    now = next;
  }
  return now;
}

/// Those that are looked at: sites of rigid bodies have no axes.
std::vector<std::string> types_with_axes(const std::vector<std::string>& chosen, Setup& setup) {
  const Configuration& c = setup.configuration();
  const std::vector<std::uint8_t> sites = site_types(c);
  if (std::ranges::count(sites, 0) == std::ptrdiff_t(sites.size())) return chosen;
  std::vector<std::string> found = chosen;
  for (std::size_t k = 0; k < sites.size(); ++k)
    if (sites[k] == 0 && chosen.empty())
      found.push_back(c.types[k]);
    else if (sites[k] != 0 && std::ranges::count(chosen, c.types[k]) > 0)
      setup.error("types", fmt::format("\"{}\" is {}", c.types[k], sites_have_no_axes));
  return found;
}

}  // namespace

OrientationalCorrelation::OrientationalCorrelation(const OrientationalCorrelationSettings& s,
                                                   Setup& setup)
    : SampledObserver(s, columns(s, setup), setup),
      dimension_(setup.configuration().box.dimension),
      orders_(s.l),
      r_max_(s.r_max > 0 ? s.r_max : half_height(setup.configuration().box)),
      bins_(std::size_t(s.bins)),
      neighborhood_(r_max_, types_with_axes(s.types, setup), s.group, setup, "r_max"),
      sums_(bins_ * values()) {
  if (setup.configuration().orientation.empty())
    setup.error("type", "needs particles that have orientations: add \"orientations\" to the job");
  for (std::size_t k = 0; k < orders_.size(); ++k)
    if (std::count(orders_.begin(), orders_.begin() + std::ptrdiff_t(k), orders_[k]) > 0)
      setup.error(fmt::format("l[{}]", k), "is given twice");
  const Box& box = setup.configuration().box;
  for (int axis = 0; axis < dimension_; ++axis)
    if (!box.periodic[std::size_t(axis)]) {
      setup.error("type", fmt::format("needs a box that is periodic along {}, since faces would "
                                      "cut shells",
                                      "xyz"[std::size_t(axis)]));
      return;
    }
}

void OrientationalCorrelation::sample(const Observation& s) {
  const Orientations& turning = *s.particles().orientations();
  const std::vector<Real4> orientation = s.particles().by_id(turning.orientation());
  const PairGrid::View grid = neighborhood_.look(s.particles(), true);
  reach_ = std::min(reach_, half_height(s.particles().box()));
  const auto places = std::size_t(grid.n);
  std::vector<Vec3<double>> axes(places);
  for (std::size_t k = 0; k < places; ++k)
    axes[k] = rotate(to_quaternion(orientation[neighborhood_.ids()[grid.member[k]]]),
                     Vec3<double>{1, 0, 0});
  const std::size_t width = values(), size = bins_ * width;
  std::vector<std::int64_t> parts(std::size_t(pieces) * size);
  const bool flat = dimension_ == 2;
  for_tasks(neighborhood_.host(), pieces, [&](std::int64_t task, int) {
    std::int64_t* const own = parts.data() + std::size_t(task) * size;
    for (std::int64_t k = grid.n * task / pieces; k < grid.n * (task + 1) / pieces; ++k)
      grid.around(k, false, [&](std::int64_t m, const Vec3<double>& d, double d2) {
        const Vec3<double>&u = axes[std::size_t(k)], &v = axes[std::size_t(m)];
        const double r = std::sqrt(d2), c = std::clamp(dot(u, v), -1.0, 1.0);
        const auto bin = std::min(bins_ - 1, std::size_t(r / r_max_ * double(bins_)));
        std::int64_t* const at = own + bin * width;
        const double across = d2 > 0 ? 3 * dot(u, d) * dot(v, d) / d2 - c : 0;
        at[0] += 1, at[1] += 1;
        at[2] += std::llround(c / unit), at[3] += std::llround(across / unit);
        for (std::size_t n = 0; n < orders_.size(); ++n)
          at[4 + n] += std::llround(polynomial(orders_[n], c, flat) / unit);
      });
  });
  const double volume = s.particles().box().volume();
  for (std::size_t bin = 0; bin < bins_; ++bin)
    for (std::size_t n = 0; n < width; ++n) {
      std::int64_t sum = 0;
      for (std::size_t task = 0; task < std::size_t(pieces); ++task)
        sum += parts[task * size + bin * width + n];
      // Of a box that changes each sample counts in its own.
      const bool by_volume = n >= 1 && n <= 3;
      sums_[bin * width + n] += double(sum) * (n < 2 ? 1 : unit) * (by_volume ? volume : 1);
    }
}

std::vector<double> OrientationalCorrelation::row(const Box&) {
  const double bin_width = r_max_ / double(bins_), n = double(neighborhood_.particles());
  const std::size_t width = values();
  std::vector<double> row;
  const auto add = [&](const auto& value) {
    for (std::size_t k = 0; k < bins_; ++k)
      row.push_back(double(k + 1) * bin_width > reach_ * (1 + 1e-12)
                        ? std::numeric_limits<double>::quiet_NaN()
                        : value(k, &sums_[k * width]));
  };
  /// Of the sum over all samples and pairs, for axes without correlations and at random places.
  const auto ideal = [&](std::size_t k) {
    const double inner = double(k) * bin_width, outer = double(k + 1) * bin_width;
    const double shell = dimension_ == 2
                             ? M_PI * (outer * outer - inner * inner)
                             : 4 * M_PI / 3 * (outer * outer * outer - inner * inner * inner);
    return double(samples()) * n * (n - 1) / 2 * shell;
  };
  const auto over = [&](double sum, std::size_t k) { return n > 1 ? sum / ideal(k) : 0.0; };
  for (std::size_t k = 0; k < bins_; ++k) row.push_back((double(k) + 0.5) * bin_width);
  add([&](std::size_t k, const double* at) { return over(at[1], k); });
  for (std::size_t l = 0; l < orders_.size(); ++l)
    add([&](std::size_t, const double* at) {
      return at[0] > 0 ? at[4 + l] / at[0] : std::numeric_limits<double>::quiet_NaN();
    });
  add([&](std::size_t k, const double* at) { return dimension_ * over(at[2], k); });
  if (dimension_ == 3) add([&](std::size_t k, const double* at) { return 1.5 * over(at[3], k); });
  std::fill(sums_.begin(), sums_.end(), 0.0);
  reach_ = std::numeric_limits<double>::max();
  return row;
}

void OrientationalCorrelation::sums(Archive& archive) {
  state_of_sums(archive, sums_);
  archive("reach", reach_);
  archive.require(reach_ > 0, "reach", "a positive length");
}

void register_orientational_correlation(Registry& registry) {
  registry.add<Observer, OrientationalCorrelationSettings>(
      "orientational_correlation",
      "how far the axes of two particles agree by their distance: g_l(r), h110(r), h112(r)",
      [](const OrientationalCorrelationSettings& s, Setup& setup) {
        return std::make_unique<OrientationalCorrelation>(s, setup);
      });
}

}  // namespace perrin::analysis
