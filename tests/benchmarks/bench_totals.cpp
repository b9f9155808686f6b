// perrin-bench totals: what is computed of the pairs of a Lennard-Jones crystal at rho 0.8442, r_c
// 2.5: forces, forces with energies and virials, and what a barostat asks for (its virial and the
// power of the forces); for one type of particles, and for two that differ in name alone. Baseline:
// the forces of one type.
#include "engine/dynamics/simulation.h"
#include "neighbor/neighbors.h"
#include "tests/benchmarks/bench.h"
#include "tests/fluids.h"

namespace perrin::bench {
namespace {

std::vector<double> times(const Options& options, Simulation& s) {
  const std::int64_t n = s.particles().size();
  Buffer<Real4> force(s.device(), n), work(s.device(), n);
  Buffer<Real> virial(s.device(), 6 * n);
  s.neighbors()->update();
  Force& pairs = *s.forces()[0];
  BoxWork box;
  box.of = work.data();
  const auto time = [&](const std::function<void()>& f) {
    return median_time(options.device, options.seconds, f);
  };
  return {time([&] {
            pairs.compute(s, {force.data(), nullptr, false, false});
          }),
          time([&] {
            pairs.compute(s, {force.data(), virial.data(), false, true});
          }),
          time([&] { pairs.compute_box_work(s, box); })};
}

}  // namespace

int totals(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {options.device.is_cuda() ? 256000 : 32000};
  const char* names[] = {"forces", "energies and virials", "virial of a barostat"};
  for (const long size : sizes) {
    double baseline = 0;
    for (const int types : {1, 2}) {
      Configuration c = fcc(std::max(4, int(std::lround(std::cbrt(double(size) / 4)))), 0.8442);
      thermalize(c, 1.44, 1);
      if (types == 2) c.types = {"A", "B"};
      for (std::size_t i = 0; i < c.type.size(); ++i)
        c.type[i] = std::uint32_t(i) % unsigned(types);
      const std::vector<LennardJonesPair> pairs(std::size_t(types * types), {1, 2.5});
      Simulation s(options.device, c, lennard_jones(options.device, pairs, 2.5), 0,
                   options.neighbors);
      const std::vector<double> found = times(options, s);
      if (types == 1) baseline = found[0];
      for (std::size_t k = 0; k < found.size(); ++k)
        print_line({{"subject", "totals"},
                    {"computed", names[k]},
                    {"types", types},
                    {"size", c.position.size()},
                    {"device", options.device.description()},
                    {"time_s", found[k]},
                    {"rate", 1 / found[k]},
                    {"rate_unit", "1/s"},
                    {"baseline", "forces, one type"},
                    {"ratio", baseline / found[k]}});
    }
  }
  return 0;
}

}  // namespace perrin::bench
