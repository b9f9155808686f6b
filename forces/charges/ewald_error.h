// Errors of an Ewald sum, and the parameters that keep them below what is wanted: root mean squares
// of the error of the force on a particle, of charges or dipoles without structure.
//
// Charges: J. Kolafa, J. W. Perram, Mol. Simul. 9, 351 (1992), equations 18 and 32. Dipoles: Z.
// Wang, C. Holm, J. Chem. Phys. 115, 6351 (2001): their equation 33 of pairs; of waves the same
// mean of the terms left out, where the directions of two dipoles have nothing to do with each
// other. Charges in a plane: the same means with circles in place of spheres.
//
// Slabs: charges anywhere in a layer of the height L, in a cell of the height sL. That the phases
// of two waves have nothing to do with each other, as the estimate has it, is so in the cell. In
// the layer terms of two waves that are d apart along z, d 2π/sL, go together by the square of
// sin(πd/s)/(πd/s), the mean of cos(d 2π z/sL) over the distances z of two charges.
#pragma once

#include <cmath>

namespace perrin {

/// What the estimate needs of a system. Lengths and energies in units of the job.
struct ChargedSystem {
  double particles = 0;  // with charges, or dipoles
  double squares = 0;    // sum of q², or of the squares of the moments
  double volume = 0;     // of the cell that is repeated: length³
  double constant = 1;   // Coulomb's: energy · length
  bool dipoles = false;
  bool flat = false;  // charges in a plane, in two dimensions: the volume is an area
  double slab = 1;    // so many times longer is the cell than the box that has the charges
  double layer = 0;   // of a slab: the height of that box: length
};

/// By what the mean square of a sum over waves is larger than the sum of the squares, in a slab; 1
/// without one. alike(k): the mean product of the factors of two waves that are k apart along z
/// (1/length), over that of their squares.
template <class Alike>
double together_in_layer(const ChargedSystem& s, const Alike& alike) {
  if (s.slab <= 1) return 1;
  double sum = 1;
  for (int d = 1; d <= int(20 * s.slab); ++d) {
    const double x = M_PI * d / s.slab, layer = std::sin(x) / x;
    sum += 2 * layer * layer * alike(2 * x / s.layer);
  }
  return sum;
}

struct EwaldParameters {
  double splitting = 0;  // alpha: 1/length
  double k_max = 0;      // longest wave vector: 1/length
};

/// energy/length
double real_space_error(const ChargedSystem& s, double splitting, double cutoff);
double wave_error(const ChargedSystem& s, const EwaldParameters& p);

/// Both errors are alike, and together `error`. The splitting is at least 0.5/cutoff, and k_max
/// twice the splitting: of so little charge that less would do.
EwaldParameters choose_ewald(const ChargedSystem& s, double cutoff, double error);

}  // namespace perrin
