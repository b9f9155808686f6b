#include "forces/charges/charge_smearing.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/registry.h"

namespace perrin {

Smearing smearing_of(const SmearingSettings& s) {
  const double w = s.width;
  Smearing c;
  if (s.cloud == "gaussian") {
    c.gauss = 1 / (2 * w);
    c.core = 0.1 * w;
  } else if (s.cloud == "slater") {
    c.p1 = 11 / (8 * w), c.p2 = 3 / (4 * w * w), c.p3 = 1 / (6 * w * w * w);
    c.decay = 2 / w;
    c.core = 0.1 * w;
  } else if (s.cloud == "slater_approximate") {
    c.p1 = 5 / (8 * w);  // the energy at r = 0 is the same
    c.decay = 2 * c.p1;
    c.core = 0.03 * w;
  } else {
    c.decay = 1 / w;
    c.core = 0.001 * w;  // the force has a cusp
  }
  return c;
}

std::optional<Smearing> smearing_of(const std::optional<SmearingSettings>& s) {
  if (!s) return std::nullopt;
  return smearing_of(*s);
}

double smearing_error(const ChargedSystem& s, const Smearing& smearing, double cutoff) {
  // The square of the force of one unit charge, over all of space beyond, or of the plane:
  // Simpson's rule.
  const double length = 1 / (smearing.decay + smearing.gauss);
  constexpr int steps = 4000;
  const double step = 40 * length / steps;
  double sum = 0;
  for (int k = 0; k <= steps; ++k) {
    const double r = cutoff + k * step;
    const double f = smearing.lacking(r) / r + smearing.slope(r);  // times r
    sum += (k == 0 || k == steps ? 1 : k % 2 ? 4 : 2) * f * f * (s.flat ? 0.5 / r : 1);
  }
  const double square = 4 * M_PI * sum * step / 3;
  return s.constant * s.squares * std::sqrt(square * s.slab / (s.particles * s.volume));
}

void check_smearing(const ChargeLaw& law, Setup& setup) {
  constexpr double most = 1e-3;
  if (!law.smearing || law.smearing->lacking(law.cutoff) <= most) return;
  double needed = law.cutoff;
  while (law.smearing->lacking(needed) > most) needed *= 1.001;
  setup.error("cutoff",
              fmt::format("must be at least {:.3g}, where two clouds of this width (\"smearing\") "
                          "act as points within {:g}; got {:g}",
                          needed, most, law.cutoff));
}

}  // namespace perrin
