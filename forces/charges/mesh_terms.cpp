#include "forces/charges/mesh_terms.h"

#include <algorithm>
#include <cmath>

#include "forces/charges/fft.h"
#include "forces/charges/waves.h"

namespace perrin {

SplineTransforms spline_transforms(std::int64_t points, int order) {
  SplineTransforms t;
  const auto n_points = double(points);
  for (std::int64_t k = 0; k < points; ++k) {
    const double n = double(k <= points / 2 ? k : k - points);
    const auto of = [&](double m) {
      const double x = M_PI * (n / n_points + m);
      return std::pow(x == 0 ? 1.0 : std::sin(x) / x, order);
    };
    double squares = 0;
    for (int m = -10; m <= 10; ++m) squares += of(m) * of(m);
    const double first = of(0);
    t.filter.push_back(2 * k == points ? 0 : first * first / (squares * squares));
    t.squares.push_back(squares);
  }
  return t;
}

double mesh_error(const ChargedSystem& s, double splitting, const Box& cell,
                  const MeshTerms& mesh) {
  std::array<std::vector<double>, 3> kept;  // of the square of a force, by |n|
  std::array<std::int64_t, 3> reach{};
  for (std::size_t a = 0; a < 3; ++a) {
    const SplineTransforms t = spline_transforms(mesh.size[a], mesh.order);
    reach[a] = mesh.size[a] / 2;
    for (std::size_t n = 0; n <= std::size_t(reach[a]); ++n)  // W_0⁴/(Σ W²)²
      kept[a].push_back(t.filter[n] * t.filter[n] * t.squares[n] * t.squares[n]);
  }
  const double volume = cell.volume(), quarter = 1 / (4 * splitting * splitting);
  const double k_max =
      longest_wave(cell, double(mesh.size[0]), double(mesh.size[1]), double(mesh.size[2]));
  double sum = 0;  // over half of space
  for (std::int64_t x = 0; x <= reach[0]; ++x)
    for (std::int64_t y = x > 0 ? -reach[1] : 0; y <= reach[1]; ++y)
      for (std::int64_t z = x > 0 || y > 0 ? -reach[2] : 1; z <= reach[2]; ++z) {
        const Vec3<double> k = wave_vector(cell, double(x), double(y), double(z));
        const double square = dot(k, k), exponent = square * quarter;
        if (exponent > 40 || square > k_max * k_max) continue;
        const double lost =
            std::max(0.0, 1 - kept[0][std::size_t(x)] * kept[1][std::size_t(std::abs(y))] *
                                  kept[2][std::size_t(std::abs(z))]);
        const double weight = 4 * M_PI * s.constant / (volume * square) * std::exp(-exponent);
        sum += square * weight * weight * lost;
      }
  // The error reaches some 1/α: waves so much nearer to each other than α lose alike.
  const double together =
      together_in_layer(s, [&](double k) { return std::exp(-k * k * quarter); });
  return std::hypot(s.squares * std::sqrt(2 * sum * together / s.particles),
                    wave_error(s, {splitting, k_max}));
}

MeshTerms choose_mesh(const ChargedSystem& s, double splitting, const Box& cell, int order,
                      double error) {
  const auto edges = cell.edges();
  const auto mesh_of = [&](double spacing) {
    MeshTerms mesh{{}, order};
    for (std::size_t a = 0; a < 3; ++a)
      mesh.size[a] = std::max(Fft3::good_size(std::sqrt(dot(edges[a], edges[a])) / spacing),
                              Fft3::good_size(2.0 * order));
    return mesh;
  };
  double spacing = 1.2 / splitting;
  MeshTerms mesh = mesh_of(spacing);
  while (double(mesh.points()) < MeshTerms::most_points) {
    const double found = mesh_error(s, splitting, cell, mesh);
    if (found <= error) break;
    // The error goes as a power of the spacing, where that is short.
    spacing *= std::clamp(std::pow(error / found, 1.0 / order), 0.6, 0.97);
    mesh = mesh_of(spacing);
  }
  return mesh;
}

}  // namespace perrin
