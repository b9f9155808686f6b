// Errors of an Ewald sum, and the parameters that keep them below what is wanted: root mean squares
// of the error of the force on a particle, of charges or dipoles without structure.
//
// Charges: J. Kolafa, J. W. Perram, Mol. Simul. 9, 351 (1992), equations 18 and 32. Dipoles: Z.
// Wang, C. Holm, J. Chem. Phys. 115, 6351 (2001): their equation 33 of pairs; of waves the same
// mean of the terms left out, where the directions of two dipoles have nothing to do with each
// other. Charges in a plane: the same means with circles in place of spheres.
#pragma once

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
};

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
