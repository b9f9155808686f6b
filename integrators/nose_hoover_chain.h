// A chain of Nosé-Hoover thermostats, advanced by one thread on the device.
// G. J. Martyna, M. E. Tuckerman, D. J. Tobias, M. L. Klein, Mol. Phys. 87, 1117 (1996).
#pragma once

#include <cmath>

#include "engine/base/real.h"

namespace perrin {

/// The velocities of the chain's links (1/time). The first acts on the momenta, each of the others
/// on the one before.
struct ChainState {
  static constexpr int most = 10;
  double velocity[most] = {};
};

/// Masses are freedom kT tau² for the first link and kT tau² for the others.
struct ChainLaw {
  int links;
  double tau;      // time
  double freedom;  // degrees of freedom that it acts on

  PERRIN_HD double mass(int link, double kt) const {
    return (link == 0 ? freedom : 1) * kt * tau * tau;
  }
  PERRIN_HD double kinetic_energy(const ChainState& chain, double kt) const {
    double sum = 0;
    for (int k = 0; k < links; ++k)
      sum += 0.5 * mass(k, kt) * chain.velocity[k] * chain.velocity[k];
    return sum;
  }

  /// exp(iL_NHC h), equations 29 to 32 of the paper, for momenta whose Σ p²/m is `twice_kinetic`
  /// (changed with them). Returns the factor of the momenta; adds to `energy` what the links'
  /// positions change of the conserved quantity. Without motion the links are pushed all the same,
  /// as long as it lasts, and the factor is 1.
  PERRIN_HD double advance(ChainState& chain, double kt, double h, double& twice_kinetic,
                           double& energy) const {
    if (!(freedom > 0)) return 1;
    const bool moves = twice_kinetic > 0;
    // Suzuki and Yoshida: three steps are right to the fourth order.
    const double outer = 1.3512071919596578;  // 1 / (2 - 2^(1/3))
    double factor = 1;
    for (int k = 0; k < 3; ++k) {
      const double part = (k == 1 ? 1 - 2 * outer : outer) * h;
      inwards(chain, kt, part / 2, twice_kinetic);
      const double scale = moves ? std::exp(-chain.velocity[0] * part) : 1;
      factor *= scale, twice_kinetic *= scale * scale;
      for (int link = 0; link < links; ++link)
        energy += (link == 0 ? freedom : 1) * kt * chain.velocity[link] * part;
      outwards(chain, kt, part / 2, twice_kinetic);
    }
    return factor;
  }

 private:
  /// What pushes a link: the kinetic energy of what it acts on is too large.
  PERRIN_HD double acceleration(const ChainState& chain, int link, double kt,
                                double twice_kinetic) const {
    const double before = link == 0 ? 0 : chain.velocity[link - 1];
    const double excess =
        link == 0 ? twice_kinetic - freedom * kt : mass(link - 1, kt) * before * before - kt;
    return excess / mass(link, kt);
  }
  /// Over a time h, with the friction of the next link half before and half after.
  PERRIN_HD void push(ChainState& chain, int link, double kt, double h,
                      double twice_kinetic) const {
    const double friction = link + 1 < links ? std::exp(-0.5 * h * chain.velocity[link + 1]) : 1.0;
    double& v = chain.velocity[link];
    v = friction * (friction * v + h * acceleration(chain, link, kt, twice_kinetic));
  }
  PERRIN_HD void inwards(ChainState& chain, double kt, double h, double twice_kinetic) const {
    for (int link = links - 1; link >= 0; --link) push(chain, link, kt, h, twice_kinetic);
  }
  PERRIN_HD void outwards(ChainState& chain, double kt, double h, double twice_kinetic) const {
    for (int link = 0; link < links; ++link) push(chain, link, kt, h, twice_kinetic);
  }
};

}  // namespace perrin
