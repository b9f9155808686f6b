#include "forces/charges/exact_forces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/system/nearest_vector.h"
#include "forces/charges/waves.h"

namespace perrin {
namespace {

using Vector = Vec3<double>;
constexpr double root_pi = 1.7724538509055160;

/// Of erfc(αr)/r, or with `less` of that less 1/r: what -1/r d/dr makes of it once, twice and three
/// times.
struct Derivatives {
  double b, c, d;
  Derivatives(double r2, double alpha, bool less) {
    const double r = std::sqrt(r2), y = alpha * alpha * r2;
    const double acting = less ? -std::erf(alpha * r) : std::erfc(alpha * r);
    const double gauss = 2 / root_pi * alpha * r * std::exp(-y), cube = 1 / (r * r2);
    b = cube * (acting + gauss);
    c = cube / r2 * (3 * acting + gauss * (3 + 2 * y));
    d = cube / (r2 * r2) * (15 * acting + gauss * (15 + y * (10 + 4 * y)));
  }
};

class Sums {
 public:
  Sums(const PeriodicSources& s, const EwaldTerms& terms)
      : s_(s), terms_(terms), force_(s.position.size()) {}

  void add_pairs() {
    const double end = farthest_pair(s_.cell);
    const Images<double> images = images_of(s_.cell);
    std::vector<std::vector<std::size_t>> excluded(s_.position.size());
    for (const auto& [a, b] : s_.excluded) {
      excluded[std::min(a, b)].push_back(std::max(a, b));
      add_pair(a, b, images.nearest(s_.position[a] - s_.position[b]), true);
    }
    std::vector<bool> skipped(s_.position.size(), false);
    for (std::size_t i = 0; i < s_.position.size(); ++i) {
      for (const std::size_t j : excluded[i]) skipped[j] = true;
      for (std::size_t j = i + 1; j < s_.position.size(); ++j) {
        const Vector d = nearest(s_.position[i] - s_.position[j]);
        if (dot(d, d) < end * end && !skipped[j]) add_pair(i, j, d, false);
      }
      for (const std::size_t j : excluded[i]) skipped[j] = false;
    }
  }

  void add_waves() {
    const double k_max = terms_.parameters.k_max, alpha = terms_.parameters.splitting;
    const std::vector<WaveNumbers> waves = waves_within(s_.cell, k_max);
    make_powers(waves);
    const std::size_t n = s_.position.size();
    std::vector<double> re(n), im(n), strength(n);
    for (const WaveNumbers& of : waves) {
      const Vector k = wave_vector(s_.cell, of.x, of.y, of.z);
      const double square = dot(k, k);
      // Twice: for k and -k.
      const double all = 8 * M_PI * terms_.constant / (s_.cell.volume() * square);
      const double length = std::sqrt(square);
      const double weight = terms_.flat ? 0.5 * length * all * std::erfc(length / (2 * alpha))
                                        : all * std::exp(-square / (4 * alpha * alpha));
      phases(of, re, im);
      double sum_re = 0, sum_im = 0;
      for (std::size_t i = 0; i < n; ++i) {
        strength[i] = s_.charge.empty() ? dot(s_.moment[i], k) : s_.charge[i];
        sum_re += strength[i] * re[i], sum_im += strength[i] * im[i];
      }
      for (std::size_t i = 0; i < n; ++i)
        force_[i] += weight * strength[i] * (im[i] * sum_re - re[i] * sum_im) * k;
    }
  }

  /// Of charges: those of dipoles turn them alone.
  void add_moment() {
    if (s_.charge.empty() || (!terms_.slab && !terms_.surface_permittivity)) return;
    Vector moment{};
    for (std::size_t i = 0; i < s_.charge.size(); ++i) moment += s_.charge[i] * s_.position[i];
    double by = 4 * M_PI * terms_.constant / s_.cell.volume();
    if (terms_.slab)
      moment.x = moment.y = 0;
    else
      by /= 2 * *terms_.surface_permittivity + 1;
    for (std::size_t i = 0; i < s_.charge.size(); ++i) force_[i] -= by * s_.charge[i] * moment;
  }

  std::vector<Vector> take() { return std::move(force_); }

 private:
  /// Exact within half of the shortest height.
  Vector nearest(Vector d) const {
    const Box& cell = s_.cell;
    const double z = std::rint(d.z / cell.length.z);
    d -= z * Vector{cell.xz, cell.yz, cell.length.z};
    const double y = std::rint(d.y / cell.length.y);
    d -= y * Vector{cell.xy, cell.length.y, 0};
    d.x -= std::rint(d.x / cell.length.x) * cell.length.x;
    return d;
  }

  /// `less`: what is left of a pair that the sum over waves has and the others leave out.
  void add_pair(std::size_t i, std::size_t j, const Vector& r, bool less) {
    const double r2 = 1e-24 + dot(r, r);  // of two clouds in one place
    const Derivatives g(r2, terms_.parameters.splitting, less);
    Vector f;
    if (s_.charge.empty()) {
      const Vector &u = s_.moment[i], &v = s_.moment[j];
      const double ur = dot(u, r), vr = dot(v, r);
      f = g.c * (dot(u, v) * r + ur * v + vr * u) - g.d * ur * vr * r;
    } else {
      double b = g.b;
      if (s_.smearing && !less) {
        const double distance = std::sqrt(r2);
        b -= (s_.smearing->lacking(distance) / distance + s_.smearing->slope(distance)) / r2;
      }
      f = s_.charge[i] * s_.charge[j] * b * r;
    }
    force_[i] += terms_.constant * f, force_[j] -= terms_.constant * f;
  }

  /// exp(2πi n f) of each particle's fractions f, for all n ≥ 0 that the waves have along each
  /// axis.
  void make_powers(const std::vector<WaveNumbers>& waves) {
    std::array<std::int32_t, 3> most{};
    for (const WaveNumbers& n : waves)
      most = {std::max(most[0], std::abs(n.x)), std::max(most[1], std::abs(n.y)),
              std::max(most[2], std::abs(n.z))};
    const std::size_t n = s_.position.size();
    for (std::size_t a = 0; a < 3; ++a) {
      powers_[a].resize(std::size_t(most[a]) + 1);
      for (auto& power : powers_[a]) power.re.resize(n), power.im.resize(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Vector f = s_.cell.fraction(s_.position[i]);
      const std::array<double, 3> along{f.x, f.y, f.z};
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t m = 0; m < powers_[a].size(); ++m) {
          const double angle = 2 * M_PI * double(m) * (along[a] - std::floor(along[a]));
          powers_[a][m].re[i] = std::cos(angle), powers_[a][m].im[i] = std::sin(angle);
        }
    }
  }

  void phases(const WaveNumbers& of, std::vector<double>& re, std::vector<double>& im) const {
    const auto power = [&](std::size_t axis, std::int32_t n) -> const Power& {
      return powers_[axis][std::size_t(std::abs(n))];
    };
    const Power &x = power(0, of.x), &y = power(1, of.y), &z = power(2, of.z);
    const double sx = of.x < 0 ? -1 : 1, sy = of.y < 0 ? -1 : 1, sz = of.z < 0 ? -1 : 1;
    for (std::size_t i = 0; i < re.size(); ++i) {
      const double yi = sy * y.im[i], xi = sx * x.im[i], zi = sz * z.im[i];
      const double a = x.re[i] * y.re[i] - xi * yi, b = x.re[i] * yi + xi * y.re[i];
      re[i] = a * z.re[i] - b * zi, im[i] = a * zi + b * z.re[i];
    }
  }

  struct Power {
    std::vector<double> re, im;  // of each particle
  };
  const PeriodicSources& s_;
  const EwaldTerms& terms_;
  std::vector<Vector> force_;
  std::array<std::vector<Power>, 3> powers_;
};

}  // namespace

double farthest_pair(const Box& cell) {
  const Vector h = cell.heights();
  return 0.5 * (cell.dimension == 2 ? std::min(h.x, h.y) : std::min({h.x, h.y, h.z}));
}

double terms_of_forces(const PeriodicSources& sources, const EwaldParameters& parameters) {
  const auto n = double(sources.position.size());
  return n * (n / 2 + count_waves(sources.cell, parameters.k_max));
}

std::vector<Vec3<double>> exact_forces(const PeriodicSources& sources, const EwaldTerms& terms) {
  Sums sums(sources, terms);
  sums.add_pairs();
  sums.add_waves();
  sums.add_moment();
  return sums.take();
}

}  // namespace perrin
