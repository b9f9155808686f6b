// Clouds of charge in place of points, which let particles overlap that have no hard cores (DPD). A
// cloud of the charge q and the width w, by its density or the transform of that:
//
//     gaussian             exp(-r²/2w²)          P. B. Warren, A. Vlasov, L. Anton, A. J. Masters,
//                                                J. Chem. Phys. 138, 204907 (2013)
//     slater               exp(-2r/w)            M. González-Melchor, E. Mayoral, M. E. Velázquez,
//     slater_approximate   approximated          J. Alejandre, J. Chem. Phys. 125, 224107 (2006)
//     bessel               1/sqrt(1 + k² w²)     P. B. Warren, A. Vlasov, J. Chem. Phys. 140,
//                                                084904 (2014)
//
// What two of them lack of two points ends at a short distance, so that whatever is done about
// charges far away is that of points. The energy of a cloud by itself is left out.
#pragma once

#include <string>

#include "engine/settings/settings.h"
#include "forces/charges/charge_law.h"
#include "forces/charges/ewald_error.h"

namespace perrin {

class Setup;

struct SmearingSettings {
  std::string cloud;
  double width = 1;
};

template <class D>
void describe(D& d, SmearingSettings& s) {
  d.required("cloud", s.cloud, OneOf{"gaussian", "slater", "slater_approximate", "bessel"},
             "density of a cloud: gaussian: exp(-r²/2w²); slater: exp(-2r/w); slater_approximate: "
             "as used for it in DPD; bessel: two of them have the energy (1 - exp(-r/w))/r");
  d.required("width", s.width, Positive{}, "w (length)");
}

constexpr const char* smearing_help =
    "charges are clouds in place of points, all of one shape, and may overlap: for DPD";

Smearing smearing_of(const SmearingSettings& s);
std::optional<Smearing> smearing_of(const std::optional<SmearingSettings>& s);

/// The error of forces (rms) where W ends at a cut-off, of charges without structure:
/// energy/length.
double smearing_error(const ChargedSystem& s, const Smearing& smearing, double cutoff);

/// For methods that stand for points beyond the cut-off: reports at "smearing" that clouds do not
/// end within it.
void check_smearing(const ChargeLaw& law, Setup& setup);

}  // namespace perrin
