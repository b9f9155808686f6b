// The part of an Ewald sum of point dipoles in the space of wave vectors (S. W. de Leeuw, J. W.
// Perram, E. R. Smith, Proc. R. Soc. Lond. A 373, 27 (1980); form of Z. Wang, C. Holm, J. Chem.
// Phys. 115, 6351 (2001), equations 2 to 8):
//
//     E = 1/2 Σ_k A(k) |S(k)|²,  A(k) = 4π C/(V k²) exp(-k²/4α²),  S(k) = Σ_j (m_j·k) exp(i k·r_j)
//
// with the forces, the torques m × B and the virial at fixed directions that follow from it. The
// energy of the moment of all in what surrounds the copies is 2π C M²/((2ε + 1) V); a conductor
// (ε = ∞) has none. What a dipole and itself would add beyond k_max is taken by its mean over all
// directions, as in ewald_sum.h.
#pragma once

#include <cmath>
#include <vector>

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "forces/charges/wave_set.h"

namespace perrin {

class DipoleSum {
 public:
  /// moments: [type], along the x axes of the particles' frames.
  DipoleSum(const Device& device, const EwaldTerms& terms, const std::vector<Real>& moments);
  /// What a dipole and its own screening add to the sum over waves, to be subtracted: the energy is
  /// this · C m².
  static double self_energy(const EwaldParameters& p) {
    const double a = p.splitting, x = p.k_max / (2 * a);
    return -8 * a * a * a / (3 * M_PI) *
           (std::sqrt(M_PI) / 4 * std::erf(x) - x / 2 * std::exp(-x * x));
  }
  const EwaldTerms& terms() const { return waves_.terms(); }
  const Real* moments() const { return moment_of_.data(); }  // [type], on the device
  /// S(k) of all waves, times their weights. Device work; allocates at the first call.
  waves::Waves structure_factors(StepContext& s);
  /// Of the dipoles of the last structure_factors(). Device work.
  void moment_of_all(StepContext& s, Vec3<double>* result);
  /// Energy times the volume of the square of the moment of all.
  double of_surface() const {
    const auto& around = terms().surface_permittivity;
    return around ? 2 * M_PI * terms().constant / (2 * *around + 1) : 0;
  }
  /// Adds to the output. Device work; allocates at the first call.
  void compute(StepContext& s, const ForceOutput& output);

 private:
  WaveSet waves_;
  Buffer<Real> moment_of_;              // [type]
  Buffer<std::uint32_t> place_;         // [x, y, z][particle]: fractions of the box
  Buffer<Real> moment_;                 // [x, y, z][particle]; both with zeros at the end
  Buffer<Vec3<double>> all_, scratch_;  // the moment of all, with surface_permittivity
};

}  // namespace perrin
