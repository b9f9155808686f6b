// Integrator "langevin": m dv = F dt - xi v dt + sqrt(2 xi k_B T) dW.
//
// baoab: kick, drift, Ornstein-Uhlenbeck, drift, kick. B. Leimkuhler, C. Matthews, Appl. Math. Res.
// Express 2013, 34. Averages over positions are those of the canonical ensemble up to dt^4 at high
// friction; of a harmonic oscillator they are exact, and m <v²> is k_B T (1 - k dt²/4m).
//
// velocity_verlet: the force of the bath, sqrt(2 xi k_B T / dt) R - xi v, is added to the others at
// the end of a step, v being the velocity half a step before, and stays until the next. C. L.
// Phillips, J. A. Anderson, S. C. Glotzer, J. Comput. Phys. 230, 7191 (2011), equation 1, with
// uniform R.
#include "baoab.h"
#include "engine/components/registry.h"
#include "register.h"
#include "verlet_bath.h"

namespace perrin::langevin {

void register_langevin(Registry& registry) {
  registry.add<Integrator, LangevinSettings>(
      "langevin", "Langevin dynamics (NVT): friction and random forces of a heat bath",
      [](const LangevinSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        const bool baoab = s.method == "baoab";
        Bath bath(s, baoab ? "gaussian" : "uniform", Purpose::langevin, setup);
        auto barostat = barostat_of(s, setup);
        if (!bath.usable() || !barostat) return nullptr;
        const auto with_barostat = [&](auto integrator) -> std::unique_ptr<Integrator> {
          integrator->set_barostat(std::move(*barostat));
          return integrator;
        };
        return with_noise(s.rng, bath.scheme(), [&](auto type) -> std::unique_ptr<Integrator> {
          using Stream = typename decltype(type)::type;
          if (!baoab)
            return with_barostat(std::make_unique<VerletWithBath<Stream>>(s, std::move(bath)));
          if constexpr (std::is_same_v<Stream, KeyedStream<Saru>>)
            if (FullGaussian::is(bath.law()))
              return with_barostat(
                  std::make_unique<Baoab<Stream, FullGaussian>>(s, std::move(bath)));
          return with_barostat(std::make_unique<Baoab<Stream, NoiseLaw>>(s, std::move(bath)));
        });
      });
}

}  // namespace perrin::langevin
