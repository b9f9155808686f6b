// perrin-bench neutron-slab: histories and collisions per second in the slab Σ = 1.1, Σs = 1, h =
// 10 (6.2 collisions per neutron; weighted 26). Baselines, measured in the same run: the same
// generator and estimator on one CPU thread, and on all.
//
// perrin-bench neutron-check: 10⁹ histories on a GPU (10⁷ on a CPU) for every estimator, kernel and
// generator, as deviations from the deterministic solution in standard errors.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "plugins/neutron_slab/results.h"
#include "plugins/neutron_slab/settings.h"
#include "plugins/neutron_slab/transport.h"
#include "rng/stateful.h"
#include "tests/benchmarks/bench.h"
#include "tests/plugins/neutron_reference.h"

namespace perrin::bench {
namespace {

const std::vector<neutron::Layer>& slab() {
  static const std::vector<neutron::Layer> layers{{10, 1.1, 1.0}};
  return layers;
}

struct Case {
  std::string generator, kernel, estimator;
  int refill = 8;
  bool observe = false;
};

neutron::TransportSettings settings_of(const Case& c) {
  neutron::TransportSettings t;
  t.slab = neutron::Slab::of(slab(), 0);
  if (c.observe) {
    t.edges = neutron::Cells::of(slab(), 100).edge;
    t.angles = 20;
  }
  t.generator = c.generator;
  t.persistent = c.kernel == "persistent";
  t.weighted = c.estimator == "weighted";
  t.refill = c.refill;
  return t;
}

struct Rate {
  double histories = 0, collisions = 0;  // per second
};

Rate measure(const Device& device, const Case& c, double seconds, long size) {
  const auto transport = neutron::make_transport(device, settings_of(c));
  const bool weighted = c.estimator == "weighted";
  if (size == 0)
    size = (device.is_cuda() ? (weighted ? 1L << 23 : 1L << 26) : (1L << 17) * device.threads());
  std::uint64_t first = 0;
  std::uint64_t collisions = 0, histories = 0;
  const double time = median_time(device, seconds, [&] {
    const auto batch = transport->run(first, size);
    first += std::uint64_t(size);
    histories += std::uint64_t(size);
    collisions +=
        batch.scores.sum[weighted ? neutron::Scores::simulated : neutron::Scores::collisions];
  });
  const double rate = double(size) / time;
  return {rate, rate * double(collisions) / double(histories)};
}

nlohmann::json line_of(const Device& device, const Case& c, const Rate& rate, const Rate& one,
                       const Rate& all) {
  return {{"subject", "neutron-slab"},
          {"device", device.description()},
          {"generator", c.generator},
          {"kernel", c.kernel},
          {"estimator", c.estimator},
          {"observables", c.observe},
          {"refill", c.refill},
          {"rate", rate.histories},
          {"rate_unit", "histories/s"},
          {"collisions_per_s", rate.collisions},
          {"baseline", "one CPU thread"},
          {"ratio", rate.histories / one.histories},
          {"ratio_to_all_cpu_threads", rate.histories / all.histories}};
}

}  // namespace

int neutron_slab(const Options& options) {
  const Device one_thread = Device::cpu(1), all_threads = Device::cpu(0);
  const bool cuda = options.device.is_cuda();
  const long size = options.sizes.empty() ? 0 : options.sizes.front();
  const long cpu_size = cuda ? 0 : size;
  for (const char* estimator : {"analogue", "weighted"})
    for (const char* generator : {"mt607", "philox", "saru", "mt19937"}) {
      Case c{generator, "persistent", estimator};
      const Rate one = measure(one_thread, c, options.seconds, cpu_size);
      const Rate all = measure(all_threads, c, options.seconds, cpu_size);
      print_line(line_of(one_thread, c, one, one, all));
      print_line(line_of(all_threads, c, all, one, all));
      if (c.generator == "mt19937") continue;
      double simple = 0;
      for (const char* kernel : {"simple", "persistent"}) {
        if (!cuda && std::string(kernel) == "persistent") continue;  // above
        c.kernel = kernel;
        const Device& device = cuda ? options.device : all_threads;
        const Rate rate = measure(device, c, options.seconds, size);
        auto line = line_of(device, c, rate, one, all);
        if (simple == 0)
          simple = rate.histories;
        else
          line["ratio_to_simple"] = rate.histories / simple;
        print_line(line);
      }
      if (c.generator != "saru") continue;
      // What observables cost, and how many idle lanes a warp should wait for.
      const Device& device = cuda ? options.device : all_threads;
      c.kernel = "persistent";
      c.observe = true;
      print_line(line_of(device, c, measure(device, c, options.seconds, size), one, all));
      c.observe = false;
      for (const int refill : {1, 2, 4, 8, 12, 16, 24, 32}) {
        if (!cuda) break;
        c.refill = refill;
        print_line(line_of(device, c, measure(device, c, options.seconds, size), one, all));
      }
    }
  return 0;
}

int neutron_check(const Options& options) {
  const auto exact =
      neutron::reference::extrapolated(neutron::reference::integral_equation(slab(), 400),
                                       neutron::reference::integral_equation(slab(), 800));
  const bool cuda = options.device.is_cuda();
  const std::int64_t histories = !options.sizes.empty() ? options.sizes.front()
                                 : cuda                 ? 1000000000
                                                        : 10000000;
  const std::int64_t portion = cuda ? 1 << 26 : 1 << 20;
  double worst = 0;
  for (const char* estimator : {"analogue", "weighted"})
    for (const char* kernel : {"simple", "persistent"})
      for (const std::string& generator : neutron::generators()) {
        if (generator == "mt19937" && cuda) continue;
        if (generator == "lcg") continue;  // the bad example: it would be found out
        const Case c{generator, kernel, estimator};
        const auto transport = neutron::make_transport(options.device, settings_of(c));
        const bool weighted = c.estimator == "weighted";
        const std::int64_t most = std::min(
            portion, std::int64_t(neutron::largest_batch(settings_of(c).slab.thickness, weighted)));
        neutron::Results results({}, 0, 0, weighted);
        const auto begin = std::chrono::steady_clock::now();
        for (std::int64_t done = 0; done < histories; done += most) {
          const std::int64_t n = std::min(most, histories - done);
          results.add(transport->run(std::uint64_t(done), n), n);
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        nlohmann::json line = {
            {"subject", "neutron-check"}, {"device", options.device.description()},
            {"generator", generator},     {"kernel", kernel},
            {"estimator", estimator},     {"size", histories},
            {"time_s", seconds}};
        // A history takes some fifteen numbers: the streams overlap, and the errors are too small.
        const bool used_up =
            generator == "park_miller" && histories > std::int64_t(ParkMiller::period / 15);
        if (used_up) line["expected"] = "may be off: the generator's period is used up";
        const auto add = [&](const char* name, const neutron::Estimate& e, double value) {
          const double deviation = (e.mean - value) / e.error;
          if (!used_up) worst = std::max(worst, std::abs(deviation));
          line[name] = {{"mean", e.mean}, {"error", e.error}, {"deviation", deviation}};
        };
        add("transmission", results.transmission(), exact.transmission);
        add("reflection", results.reflection(), exact.reflection);
        add("absorption", results.absorption(), exact.absorption);
        add("collisions", results.collisions(), exact.collisions);
        print_line(line);
      }
  print_line({{"subject", "neutron-check"}, {"largest_deviation", worst}});
  return worst < 5 ? 0 : 1;
}

}  // namespace perrin::bench
