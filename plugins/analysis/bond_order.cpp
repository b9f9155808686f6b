#include "bond_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/device/tasks.h"
#include "engine/dynamics/observation.h"

namespace perrin::analysis {
namespace {

constexpr std::int64_t tasks = 256;
using Complex = std::complex<double>;

std::vector<std::int32_t> orders(const BondOrderSettings& s, Setup& setup) {
  if (!s.l.empty()) return s.l;
  if (setup.configuration().box.dimension == 2) return {6};
  return {4, 6};
}

std::vector<io::ObservableColumn> columns(const BondOrderSettings& s, Setup& setup) {
  const bool flat = setup.configuration().box.dimension == 2;
  std::vector<io::ObservableColumn> list{{"neighbors", {}, ""}};
  const auto with_distribution = [&](const std::string& name) {
    list.push_back({name, {}, ""});
    list.push_back({name + "_distribution", {hsize_t(s.bins)}, ""});
  };
  for (const std::int32_t l : orders(s, setup)) {
    const std::string name = fmt::format("{}{}", flat ? "psi" : "q", l);
    with_distribution(name);
    if (!flat) with_distribution(name + "_averaged");
    list.push_back({name + "_global", {}, ""});
  }
  return list;
}

/// Y_lm of one l for m = 0 … l, but for the sign (-1)^m.
class Harmonics {
 public:
  explicit Harmonics(int l) : l_(l), norm_(std::size_t(l) + 1) {
    for (int m = 0; m <= l; ++m) {
      double ratio = 1;  // (l - m)! / (l + m)!
      for (int k = l - m + 1; k <= l + m; ++k) ratio /= k;
      norm_[std::size_t(m)] = std::sqrt((2 * l + 1) / (4 * M_PI) * ratio);
    }
  }
  /// Adds those along the unit vector u. P_lm(z) / (1 - z²)^(m/2) by its recursion in l.
  void add(const Vec3<double>& u, Complex* sums) const {
    Complex power = 1;  // (x + i y)^m
    double diagonal = 1;
    for (int m = 0; m <= l_; ++m) {
      double before = 0, now = diagonal;
      for (int n = m + 1; n <= l_; ++n) {
        const double next = ((2 * n - 1) * u.z * now - (n + m - 1) * before) / (n - m);
        before = now;
        now = next;
      }
      sums[m] += norm_[std::size_t(m)] * now * power;
      power *= Complex(u.x, u.y);
      diagonal *= 2 * m + 1;
    }
  }
  /// (4 pi / (2 l + 1) sum over all m of |q_lm|²)^1/2
  double invariant(const Complex* q) const {
    double sum = std::norm(q[0]);
    for (int m = 1; m <= l_; ++m) sum += 2 * std::norm(q[m]);
    return std::sqrt(4 * M_PI / (2 * l_ + 1) * sum);
  }

 private:
  int l_;
  std::vector<double> norm_;
};

template <class F>
void for_particles(const Device& device, std::int64_t n, const F& f) {
  for_tasks(device, tasks, [&](std::int64_t task, int) {
    for (std::int64_t k = n * task / tasks; k < n * (task + 1) / tasks; ++k) f(k);
  });
}

}  // namespace

BondOrder::BondOrder(const BondOrderSettings& settings, Setup& setup)
    : SampledObserver(settings, columns(settings, setup), setup),
      dimension_(setup.configuration().box.dimension),
      orders_(orders(settings, setup)),
      bins_(std::size_t(settings.bins)),
      neighborhood_(settings.distance, settings.types, settings.group, setup) {
  std::size_t size = 1;
  for (std::size_t k = 0; k < orders_.size(); ++k) {
    size += dimension_ == 2 ? 2 + bins_ : 3 + 2 * bins_;
    if (std::count(orders_.begin(), orders_.begin() + std::ptrdiff_t(k), orders_[k]) > 0)
      setup.error(fmt::format("l[{}]", k), "is given twice");
  }
  sums_.resize(size);
}

double* BondOrder::add_values(double* sums, const std::vector<double>& values) const {
  const double share = 1 / double(values.size());
  for (const double v : values) {
    sums[0] += share * v;
    sums[1 + std::min(bins_ - 1, std::size_t(v * double(bins_)))] += share;
  }
  return sums + 1 + bins_;
}

double* BondOrder::add_3d(const PairGrid::View& grid, int l, double* sums) {
  const Harmonics harmonics(l);
  const std::size_t width = std::size_t(l) + 1, n = std::size_t(grid.n);
  std::vector<Complex> q(n * width);
  std::vector<double> value(n), averaged(n), neighbors(n);
  for_particles(neighborhood_.host(), grid.n, [&](std::int64_t k) {
    Complex* const own = q.data() + std::size_t(k) * width;
    double count = 0;
    grid.around(k, true, [&](std::int64_t, const Vec3<double>& d, double d2) {
      if (d2 > 0) harmonics.add((1 / std::sqrt(d2)) * d, own);
      ++count;
    });
    for (std::size_t m = 0; m < width && count > 0; ++m) own[m] /= count;
    neighbors[std::size_t(k)] = count;
    value[std::size_t(k)] = harmonics.invariant(own);
  });
  for_particles(neighborhood_.host(), grid.n, [&](std::int64_t k) {
    const Complex* const own = q.data() + std::size_t(k) * width;
    std::vector<Complex> mean(own, own + width);
    grid.around(k, true, [&](std::int64_t other, const Vec3<double>&, double) {
      for (std::size_t m = 0; m < width; ++m) mean[m] += q[std::size_t(other) * width + m];
    });
    for (Complex& c : mean) c /= neighbors[std::size_t(k)] + 1;
    averaged[std::size_t(k)] = harmonics.invariant(mean.data());
  });
  std::vector<Complex> global(width);
  double pairs = 0;
  for (std::size_t k = 0; k < n; ++k) {
    pairs += neighbors[k];
    for (std::size_t m = 0; m < width; ++m) global[m] += neighbors[k] * q[k * width + m];
  }
  for (Complex& c : global) c /= std::max(1.0, pairs);
  if (l == orders_.front()) sums_[0] += pairs / double(n);
  sums = add_values(add_values(sums, value), averaged);
  *sums += harmonics.invariant(global.data());
  return sums + 1;
}

double* BondOrder::add_2d(const PairGrid::View& grid, int l, double* sums) {
  const std::size_t n = std::size_t(grid.n);
  std::vector<Complex> psi(n);
  std::vector<double> value(n), neighbors(n);
  for_particles(neighborhood_.host(), grid.n, [&](std::int64_t k) {
    Complex sum = 0;
    double count = 0;
    grid.around(k, true, [&](std::int64_t, const Vec3<double>& d, double) {
      sum += std::polar(1.0, l * std::atan2(d.y, d.x));
      ++count;
    });
    if (count > 0) sum /= count;
    neighbors[std::size_t(k)] = count;
    psi[std::size_t(k)] = sum;
    value[std::size_t(k)] = std::abs(sum);
  });
  Complex global = 0;
  double pairs = 0;
  for (std::size_t k = 0; k < n; ++k) global += psi[k], pairs += neighbors[k];
  if (l == orders_.front()) sums_[0] += pairs / double(n);
  sums = add_values(sums, value);
  *sums += std::abs(global) / double(n);
  return sums + 1;
}

void BondOrder::sample(const Observation& seen) {
  const PairGrid::View grid = neighborhood_.look(seen.particles());
  double* sums = sums_.data() + 1;
  for (const std::int32_t l : orders_)
    sums = dimension_ == 2 ? add_2d(grid, l, sums) : add_3d(grid, l, sums);
}

std::vector<double> BondOrder::row(const Box&) {
  std::vector<double> row = sums_;
  for (double& value : row) value /= double(samples());
  std::fill(sums_.begin(), sums_.end(), 0.0);
  return row;
}

void register_bond_order(Registry& registry) {
  registry.add<Observer, BondOrderSettings>("bond_order",
                                            "bond orientational order: Steinhardt's q_l, also "
                                            "averaged over neighbours; in two dimensions psi_l",
                                            [](const BondOrderSettings& s, Setup& setup) {
                                              return std::make_unique<BondOrder>(s, setup);
                                            });
}

}  // namespace perrin::analysis
