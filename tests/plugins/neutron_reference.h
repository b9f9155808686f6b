// The slab problem solved without random numbers, twice and by different methods.
//
// In mean free paths: neutrons enter at tau = 0 along the normal and scatter isotropically, with
// the mean number c(tau) of secondaries. The collision density F (the flux, in optical units) obeys
//
//     F(t) = exp(-t) + 1/2 ∫ c(t') E1(|t - t'|) F(t') dt'
//
// (e.g. Case, Zweifel, Linear Transport Theory, 1967, ch. 2). T, R and A follow by integration.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "plugins/neutron_slab/slab.h"

namespace neutron::reference {

struct Solution {
  double transmission = 0, reflection = 0, absorption = 0, collisions = 0;
};

/// A mesh in tau, `per_layer` cells in each layer, finer towards its edges, where F has
/// logarithmic slopes: at a fraction s of the cells the edge lies at s²(3 - 2s).
struct Mesh {
  std::vector<double> edge;   // cells + 1
  std::vector<double> ratio;  // c, by cell
  Mesh(const std::vector<Layer>& layers, int per_layer) {
    double begin = 0;
    edge.push_back(0);
    for (const Layer& layer : layers) {
      const double width = layer.thickness * layer.total;
      if (width <= 0) continue;
      for (int k = 1; k <= per_layer; ++k) {
        const double s = double(k) / per_layer;
        edge.push_back(begin + width * s * s * (3 - 2 * s));
        ratio.push_back(layer.scattering / layer.total);
      }
      begin += width;
    }
  }
  int cells() const { return int(ratio.size()); }
};

inline double e3(double x) {
  if (x <= 0) return 0.5;
  const double e = std::exp(-x);
  return 0.5 * (e - x * (e - x * -std::expint(-x)));
}

/// Galerkin's method with F constant in each cell. All integrals of the kernel are exact
/// (differences of E3), the symmetric system is solved by conjugate gradients. Error of second
/// order.
inline Solution integral_equation(const std::vector<Layer>& layers, int per_layer,
                                  std::vector<double>* density = nullptr) {
  const Mesh mesh(layers, per_layer);
  const auto n = std::size_t(mesh.cells());
  std::vector<double> table((n + 1) * (n + 1));
  for (std::size_t i = 0; i <= n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      table[i * (n + 1) + j] = table[j * (n + 1) + i] = e3(mesh.edge[i] - mesh.edge[j]);
  std::vector<double> kernel(n * n), root(n), width(n), beam(n), f(n);
  for (std::size_t i = 0; i < n; ++i) {
    root[i] = std::sqrt(mesh.ratio[i]);
    width[i] = mesh.edge[i + 1] - mesh.edge[i];
    beam[i] = -std::exp(-mesh.edge[i]) * std::expm1(-width[i]);
    for (std::size_t j = 0; j < n; ++j) {
      const auto t = [&](std::size_t a, std::size_t b) { return table[a * (n + 1) + b]; };
      kernel[i * n + j] = i == j  ? 2 * width[i] - 1 + 2 * t(i, i + 1)
                          : i < j ? t(i + 1, j) - t(i, j) - t(i + 1, j + 1) + t(i, j + 1)
                                  : t(j + 1, i) - t(j, i) - t(j + 1, i + 1) + t(j, i + 1);
    }
  }
  // With y = sqrt(c) F: width·y - 1/2 sqrt(c) K sqrt(c) y = sqrt(c)·beam.
  const auto scatter = [&](const std::vector<double>& y) {
    std::vector<double> scaled(n), result(n);
    for (std::size_t j = 0; j < n; ++j) scaled[j] = root[j] * y[j];
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += kernel[i * n + j] * scaled[j];
      result[i] = 0.5 * sum;
    }
    return result;
  };
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  };
  std::vector<double> y(n), r(n), p(n), z(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = root[i] * beam[i];
  for (std::size_t i = 0; i < n; ++i) p[i] = z[i] = r[i] / width[i];
  double rz = dot(r, z);
  const double first = rz;
  for (int step = 0; step < 1000 && rz > 1e-26 * first; ++step) {
    std::vector<double> ap = scatter(p);
    for (std::size_t i = 0; i < n; ++i) ap[i] = width[i] * p[i] - root[i] * ap[i];
    const double alpha = rz / dot(p, ap);
    for (std::size_t i = 0; i < n; ++i) y[i] += alpha * p[i], r[i] -= alpha * ap[i];
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / width[i];
    const double next = dot(r, z);
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + next / rz * p[i];
    rz = next;
  }
  const std::vector<double> gain = scatter(y);
  Solution s;
  s.transmission = std::exp(-mesh.edge[n]);
  for (std::size_t i = 0; i < n; ++i) {
    f[i] = (beam[i] + gain[i]) / width[i];
    const double source = 0.5 * mesh.ratio[i] * f[i];
    s.transmission += source * (table[(i + 1) * (n + 1) + n] - table[i * (n + 1) + n]);
    s.reflection += source * (table[i] - table[i + 1]);
    s.absorption += (1 - mesh.ratio[i]) * f[i] * width[i];
    s.collisions += f[i] * width[i];
  }
  if (density) *density = f;
  return s;
}

/// Means of a density by cell over equal bins of the optical depth.
inline std::vector<double> bin_means(const Mesh& mesh, const std::vector<double>& density,
                                     int bins) {
  std::vector<double> means(static_cast<std::size_t>(bins));
  const double width = mesh.edge.back() / bins;
  for (std::size_t i = 0; i < density.size(); ++i)
    for (int b = 0; b < bins; ++b) {
      const double overlap =
          std::min(mesh.edge[i + 1], (b + 1) * width) - std::max(mesh.edge[i], b * width);
      if (overlap > 0) means[std::size_t(b)] += density[i] * overlap / width;
    }
  return means;
}

/// Nodes and weights of Gauss and Legendre on (0, 1).
inline void gauss(int n, std::vector<double>& x, std::vector<double>& w) {
  x.resize(std::size_t(n)), w.resize(std::size_t(n));
  for (int k = 0; k < n; ++k) {
    double t = std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5)), slope = 1;
    for (int newton = 0; newton < 100; ++newton) {
      double a = 1, b = t;
      for (int j = 2; j <= n; ++j) {
        const double c = ((2 * j - 1) * t * b - (j - 1) * a) / j;
        a = b, b = c;
      }
      slope = n * (t * b - a) / (t * t - 1);
      const double step = b / slope;
      t -= step;
      if (std::abs(step) < 1e-15) break;
    }
    x[std::size_t(k)] = 0.5 * (1 + t);
    w[std::size_t(k)] = 1 / ((1 - t * t) * slope * slope);
  }
}

/// Discrete ordinates: `ordinates` directions in each half range, the scattered neutrons followed
/// along each with a source that is linear in a cell; the source is iterated.
inline Solution discrete_ordinates(const std::vector<Layer>& layers, int per_layer, int ordinates) {
  const Mesh mesh(layers, per_layer);
  const auto n = std::size_t(mesh.cells()), m = std::size_t(ordinates);
  std::vector<double> mu, weight;
  gauss(ordinates, mu, weight);
  struct Step {
    double fade, near, far;  // of the flux, of the source where the flight begins and ends
  };
  std::vector<Step> steps(n * m);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      const double d = (mesh.edge[i + 1] - mesh.edge[i]) / mu[k];
      const double fade = std::exp(-d),
                   mean = d > 1e-4 ? -std::expm1(-d) / d : 1 - d / 2 + d * d / 6;
      steps[k * n + i] = {fade, mean - fade, 1 - mean};
    }
  std::vector<double> f(n + 1), beam(n + 1);
  for (std::size_t i = 0; i <= n; ++i) f[i] = beam[i] = std::exp(-mesh.edge[i]);
  double through = 0, back = 0;
  for (int iteration = 0; iteration < 4000; ++iteration) {
    std::vector<double> next = beam;
    through = back = 0;
    for (std::size_t k = 0; k < m; ++k) {
      double psi = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const Step& s = steps[k * n + i];
        psi = psi * s.fade + 0.5 * mesh.ratio[i] * (s.near * f[i] + s.far * f[i + 1]);
        next[i + 1] += weight[k] * psi;
      }
      through += weight[k] * mu[k] * psi;
      psi = 0;
      for (std::size_t i = n; i-- > 0;) {
        const Step& s = steps[k * n + i];
        psi = psi * s.fade + 0.5 * mesh.ratio[i] * (s.near * f[i + 1] + s.far * f[i]);
        next[i] += weight[k] * psi;
      }
      back += weight[k] * mu[k] * psi;
    }
    double change = 0;
    for (std::size_t i = 0; i <= n; ++i) change = std::max(change, std::abs(next[i] - f[i]));
    f.swap(next);
    if (change < 1e-12) break;
  }
  Solution s;
  s.transmission = std::exp(-mesh.edge[n]) + through;
  s.reflection = back;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = 0.5 * (f[i] + f[i + 1]) * (mesh.edge[i + 1] - mesh.edge[i]);
    s.absorption += (1 - mesh.ratio[i]) * d;
    s.collisions += d;
  }
  return s;
}

/// The limit of a method of second order from its results with n and 2n cells.
inline Solution extrapolated(const Solution& coarse, const Solution& fine) {
  const auto limit = [](double a, double b) { return b + (b - a) / 3; };
  return {limit(coarse.transmission, fine.transmission), limit(coarse.reflection, fine.reflection),
          limit(coarse.absorption, fine.absorption), limit(coarse.collisions, fine.collisions)};
}

}  // namespace neutron::reference
