// A tabulated energy of two particles with axes, on the device: a cubic spline through the points
// of a grid in the distance and in the cosines of two angles,
//
//     U(r, c1, c2) = Σ_ijk b_ijk B(u - i) B(v - j) B(w - k),
//
// B the cubic B-spline, u, v, w = r, c1, c2 in steps of the grid. It goes through all points, and
// its second derivatives are continuous: C. de Boor, A Practical Guide to Splines (1978), chapters
// IV and XVII. The error is of fourth order in the steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/real.h"
#include "engine/device/buffer.h"
#include "forces/anisotropic/interaction.h"

namespace perrin {

/// Points as a file has them.
struct AxialGrid {
  double start = 0, width = 0;        // the first distance, and the step (length)
  std::size_t r = 0, c1 = 0, c2 = 0;  // how many; cosines from -1 to 1; c2 = 1: there is no angle 2
  std::vector<double> energy;         // [(r · c1 + c1) · c2 + c2]

  double end() const { return start + width * double(r - 1); }
  double at(std::size_t i, std::size_t j, std::size_t k) const {
    return energy[(i * c1 + j) * c2 + k];
  }
};

/// Reads rows `r cos_1 energy` or `r cos_1 cos_2 energy`, comments behind '#': all combinations,
/// the last cosine fastest, in equal steps. Throws UserError with file, line and what was expected.
AxialGrid read_axial_grid(const std::string& file);

/// As kernels and the host see it.
struct AxialTableView {
  const Real *host = nullptr, *device = nullptr;  // [(i · of_c1 + j) · of_c2 + k]
  Real start = 0, inverse_width = 0;
  Real last_r = 0, last_c1 = 0, last_c2 = 0;  // numbers of the last points
  std::int32_t of_c1 = 0, of_c2 = 0;          // coefficients along each
  bool exchanged = false;                     // particle 1 of the table is particle 2

  /// Along one axis: the first of four coefficients, and what each counts for the energy and for
  /// its derivative.
  template <class T>
  struct Along {
    std::int32_t first;
    T value[4], slope[4];

    PERRIN_HD static Along at(T x, T last) {
      const T above = x > T(0) ? x : T(0), bounded = above < last ? above : last;
      const T end = last - T(1);  // the last interval begins there
      const auto i = std::int32_t(bounded < end ? bounded : end > T(0) ? end : T(0));
      const T t = bounded - T(i), s = T(1) - t;
      constexpr T sixth = T(1) / T(6);
      return {i,
              {sixth * s * s * s, sixth * (T(4) - t * t * (T(6) - T(3) * t)),
               sixth * (T(4) - s * s * (T(6) - T(3) * s)), sixth * t * t * t},
              {T(-0.5) * s * s, t * (T(1.5) * t - T(2)), s * (T(2) - T(1.5) * s), T(0.5) * t * t}};
    }
  };

  /// At r, which is not beyond the last point. Below the first the energy goes on in a straight
  /// line: the force is that of the first point.
  template <class T>
  PERRIN_HD AxialEnergy<T> evaluate(T r, T cos_1, T cos_2) const {
    const T step_1 = T(0.5) * T(last_c1), step_2 = T(0.5) * T(last_c2);
    const T u = (r - T(start)) * T(inverse_width), below = u < T(0) ? u : T(0);
    const auto x = Along<T>::at(u, T(last_r));
    const auto y = Along<T>::at((cos_1 + T(1)) * step_1, T(last_c1));
    const auto z = Along<T>::at((cos_2 + T(1)) * step_2, T(last_c2));
    AxialEnergy<T> e{};
#ifdef __CUDA_ARCH__
    const Real* const all = device;
#else
    const Real* const all = host;
#endif
    for (int a = 0; a < 4; ++a) {
      T value{}, by_1{}, by_2{};
      for (int b = 0; b < 4; ++b) {
        const Real* const row = all + std::int64_t((x.first + a) * of_c1 + y.first + b) * of_c2;
        T along{}, slope{};
        for (int c = 0; c < 4; ++c) {
          along += z.value[c] * T(row[z.first + c]);
          slope += z.slope[c] * T(row[z.first + c]);
        }
        value += y.value[b] * along, by_1 += y.slope[b] * along, by_2 += y.value[b] * slope;
      }
      const T weight = x.value[a] + below * x.slope[a];
      e.energy += weight * value;
      e.by_r += x.slope[a] * value;
      e.by_cos_1 += weight * by_1, e.by_cos_2 += weight * by_2;
    }
    e.by_r *= T(inverse_width);
    e.by_cos_1 *= step_1, e.by_cos_2 *= step_2;
    return e;
  }
};

class AxialTable {
 public:
  AxialTable(const Device& device, const AxialGrid& grid);

  /// `exchanged`: seen from the other particle.
  AxialTableView view(bool exchanged) const;
  double end() const { return end_; }
  /// A hash of the coefficients, for checkpoints.
  std::string fingerprint() const;

 private:
  AxialTableView view_;
  double end_ = 0;
  std::vector<Real> host_;
  Buffer<Real> device_;
};

/// A sentence for a warning: where the spline swings most beyond the distances around it.
std::vector<std::string> swings(const AxialGrid& grid);

}  // namespace perrin
