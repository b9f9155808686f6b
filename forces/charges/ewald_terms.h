// What an Ewald sum is made of besides the charges.
#pragma once

#include <optional>

#include "forces/charges/ewald_error.h"

namespace perrin {

struct EwaldTerms {
  EwaldParameters parameters;
  double constant = 1;      // Coulomb's: energy · length
  bool background = false;  // of the opposite net charge
  /// Relative permittivity around a large sphere of copies; nothing: a conductor, and no term.
  std::optional<double> surface_permittivity;
  /// Layers of charges, periodic along x and y: copies are so many box lengths apart along z, and
  /// their dipoles are subtracted (I.-C. Yeh, M. L. Berkowitz, J. Chem. Phys. 111, 3155 (1999)).
  std::optional<double> slab;
  /// In two dimensions: charges in a plane that act by 1/r. Weights of waves are what is left of
  /// those in space, integrated along z (D. E. Parry, Surf. Sci. 49, 433 (1975)).
  bool flat = false;
};

}  // namespace perrin
