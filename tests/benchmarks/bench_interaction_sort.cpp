// perrin-bench interaction-sort: searches of whole cells, cut by x and cut along the axes that join
// two cells (tests/benchmarks/interaction_sort.h), and what Perrin has, in the Lennard-Jones fluid:
// a force loop, and the building of Verlet lists. On the CPU one thread.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engine/run/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/interaction_sort_cells.h"
#include "tests/benchmarks/interaction_sort_shares.h"
#include "tests/fluids.h"

namespace perrin::bench {
namespace {

using namespace interaction_sort;

/// What is measured: at the long cut-off a cell has a hundred particles, as in water at 1 nm.
struct System {
  double density, cutoff;
};
constexpr System systems[] = {{0.4, 2.5}, {0.8442, 2.5}, {0.8442, 5}};
constexpr double skin = 0.3;

/// Seconds of one `work`; on a GPU ten follow one another, because waiting takes time, too.
double time_of(const Device& device, double seconds, const std::function<void()>& work) {
  const int repeat = device.is_cuda() ? 10 : 1;
  return median_time(device, seconds,
                     [&] {
                       for (int k = 0; k < repeat; ++k) work();
                     }) /
         repeat;
}

/// Lines of one system; ratios to the first line of the same task and loop.
class Lines {
 public:
  Lines(const Device& device, const System& system, std::size_t size)
      : device_(device), system_(system), size_(size) {}
  void print(const std::string& task, const std::string& loop, const std::string& search,
             double time, const nlohmann::json& more) {
    const double baseline = baselines_.emplace(task + loop, time).first->second;
    nlohmann::json line = {{"subject", "interaction-sort"},
                           {"size", size_},
                           {"device", device_.description()},
                           {"density", system_.density},
                           {"cutoff", system_.cutoff},
                           {"task", task},
                           {"loop", loop},
                           {"search", search},
                           {"time_s", time},
                           {"rate", double(size_) / time},
                           {"rate_unit", "particles/s"},
                           {"baseline", "whole cells"},
                           {"ratio", baseline / time}};
    line.update(more);
    print_line(line);
  }

 private:
  const Device device_;
  const System system_;
  std::size_t size_;
  std::map<std::string, double> baselines_;
};

struct Counts {
  double met = 0, near = 0;
};

Counts count(const Orders& orders, double range2) {
  const View v = orders.view();
  Buffer<std::uint32_t> met(orders.device(), v.n), near(orders.device(), v.n);
  search_particles(orders, CountBody{Real(range2), met.data(), near.data()});
  Counts sum;
  for (const std::uint32_t m : met.to_host()) sum.met += m;
  for (const std::uint32_t m : near.to_host()) sum.near += m;
  return sum;
}

/// Seconds of the search for one particle after the other, by the scalar loop of
/// search_particles().
double time_particles(const Orders& orders, bool lists, double range2, double entries_per_particle,
                      double seconds) {
  const Device& device = orders.device();
  const std::int64_t n = orders.view().n;
  if (!lists) {
    Buffer<Real4> force(device, n);
    const ForceBody body{Real(range2), force.data()};
    return time_of(device, seconds, [&] { search_particles(orders, body); });
  }
  const auto most = std::uint32_t(2 * entries_per_particle + 32);
  Buffer<std::uint32_t> entries(device, std::int64_t(most) * n), length(device, n);
  const ListBody body{Real(range2), n, most, entries.data(), length.data()};
  return time_of(device, seconds, [&] { search_particles(orders, body); });
}

/// The same cell by cell in vectors, every pair once. CPU only.
double time_cells([[maybe_unused]] const Orders& orders, [[maybe_unused]] bool lists,
                  [[maybe_unused]] double seconds) {
  double time = 0;
#ifndef __CUDA_ARCH__
  const auto n = std::size_t(orders.view().n);
  std::vector<Real4> force(n);
  std::vector<std::uint32_t> entries, length(n);
  std::vector<std::uint64_t> begin(n);
  CellResult result;
  if (lists) {
    result.entries = &entries, result.begin = begin.data(), result.length = length.data();
    time = time_of(orders.device(), seconds, [&] { search_cells<Work::lists>(orders, result); });
  } else {
    result.force = force.data();
    time = time_of(orders.device(), seconds, [&] { search_cells<Work::forces>(orders, result); });
  }
#endif
  return time;
}

/// A force loop and a list build with this cut, keys and all.
void measure(const Device& device, const Particles& particles, double cutoff, Cut cut, int reach,
             double seconds, Lines& lines) {
  const std::string search = std::string(cut == Cut::none   ? "whole cells"
                                         : cut == Cut::by_x ? "cut by x"
                                                            : "sorted along joining axes") +
                             (reach == 2 ? ", half cells" : "");
  const std::int64_t n = particles.size();
  for (const bool lists : {false, true}) {
    const double range = lists ? cutoff + skin : cutoff;
    Orders orders(device, n, particles.box.length.x, range, reach, cut);
    orders.prepare(particles.position.data());
    const double cells_s =
        time_of(device, seconds / 2, [&] { orders.sort_cells(particles.position.data()); });
    const double keys_s =
        cut == Cut::axes ? time_of(device, seconds / 2, [&] { orders.sort_interactions(); }) : 0;
    const Counts counts = count(orders, range * range);
    for (const bool in_vectors : {false, true}) {
      if (in_vectors && device.is_cuda()) continue;
      const double search_s = in_vectors ? time_cells(orders, lists, seconds)
                                         : time_particles(orders, lists, range * range,
                                                          counts.near / double(n), seconds);
      lines.print(lists ? "list build" : "forces",
                  in_vectors ? "cells in vectors" : "particle by particle", search,
                  cells_s + keys_s + search_s,
                  {{"cells_s", cells_s},
                   {"keys_s", keys_s},
                   {"search_s", search_s},
                   {"cell_width", orders.width() / range},
                   {"axes", orders.axes()},
                   {"candidates", counts.met / double(n)},
                   {"useful_share", counts.near / counts.met},
                   {"expected_share", expected_share(cut, reach, 40000)}});
    }
  }
}

/// What Perrin has, on the same particles; compared with the study's fastest loop of this device.
void measure_perrin(const Device& device, const Configuration& start, double cutoff,
                    const char* traversal, bool sorted, double seconds, Lines& lines) {
  NeighborSettings settings;
  settings.traversal = traversal;
  settings.interaction_sorting = sorted;
  if (std::string(traversal) != "cells") settings.skin = skin;
  Simulation s(device, start, lennard_jones<PlainCut>(device, cutoff), 0, settings);
  s.update_neighbors();
  s.compute_forces();
  const std::string search = "Perrin: " + s.neighbor_report();
  const std::string loop = device.is_cuda() ? "particle by particle" : "cells in vectors";
  const double build_s = time_of(device, seconds, [&] {
    s.neighbors->invalidate();
    s.neighbors->update();
  });
  const double search_s = time_of(device, seconds, [&] { s.compute_forces(); });
  if (s.neighbors->has_lists()) {
    lines.print("list build", loop, search, build_s, nlohmann::json::object());
    lines.print("forces", loop, search, search_s, {{"of_lists", true}});
  } else {
    lines.print("forces", loop, search, build_s + search_s,
                {{"cells_s", build_s}, {"keys_s", 0}, {"search_s", search_s}});
  }
}

}  // namespace

int interaction_sort(const Options& options) {
  const bool cuda = options.device.is_cuda();
  const Device device = cuda ? options.device : Device::parse("cpu", 1);
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {cuda ? 256000 : 32000};
  for (const long size : sizes)
    for (const System& system : systems) {
      const int cells = std::max(6, int(std::lround(std::cbrt(double(size) / 4))));
      Configuration start = fcc(cells, system.density);
      thermalize(start, 2, 1);
      VelocityVerlet integrator({0.004});
      {
        Simulation s(device, start, lennard_jones<PlainCut>(device, 2.5));
        integrator.begin(s);
        s.advance(integrator, cuda ? 1000 : 200);
        start = s.particles.configuration();
      }
      Lines lines(device, system, start.position.size());
      {
        const Simulation s(device, start, lennard_jones<PlainCut>(device, system.cutoff));
        for (const int reach : {1, 2})
          for (const Cut cut : {Cut::none, Cut::by_x, Cut::axes})
            measure(device, s.particles, system.cutoff, cut, reach, options.seconds, lines);
      }
      const auto perrin = [&](const char* traversal, bool sorted) {
        measure_perrin(device, start, system.cutoff, traversal, sorted, options.seconds, lines);
      };
      perrin(cuda ? "tiles" : "clusters", false);
      perrin("verlet_list", false);
      perrin("cells", true);
      perrin("cells", false);
    }
  return 0;
}

}  // namespace perrin::bench
