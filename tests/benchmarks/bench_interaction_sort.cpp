// perrin-bench interaction-sort: searches of whole cells, cut by x and cut along the axes that join
// two cells (tests/benchmarks/interaction_sort.h), and what Perrin has, in the Lennard-Jones fluid:
// a force loop, and the building of Verlet lists. On the CPU one thread.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/interaction_sort_cells.h"
#include "tests/benchmarks/interaction_sort_molecules.h"
#include "tests/benchmarks/interaction_sort_shares.h"
#include "tests/fluids.h"
#ifdef __CUDACC__
#include "tests/benchmarks/interaction_sort_blocks.cuh"
#endif

namespace perrin::bench {
namespace {

using namespace interaction_sort;

/// What is measured. A cell has three particles, as in dissipative particle dynamics, six,
/// thirteen, or a hundred, as in water at 1 nm.
struct System {
  double density, cutoff;
};
constexpr System systems[] = {{0.8442, 1.526}, {0.4, 2.5}, {0.8442, 2.5}, {0.8442, 5}};
constexpr double skin = 0.3;

/// Seconds of one `work`: the median of repetitions that fill `seconds`. On a GPU ten follow one
/// another between two events, so that neither a launch nor the host's waiting is measured.
double time_of(const Device& device, double seconds, const std::function<void()>& work) {
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr int repeat = 10;
    cudaEvent_t start = nullptr, stop = nullptr;
    check_cuda(cudaEventCreate(&start), "making an event");
    check_cuda(cudaEventCreate(&stop), "making an event");
    std::vector<double> times;
    work();
    for (double total = 0; total < seconds || times.size() < 3; total += times.back()) {
      check_cuda(cudaEventRecord(start, device.queue().stream()), "timing");
      for (int k = 0; k < repeat; ++k) work();
      check_cuda(cudaEventRecord(stop, device.queue().stream()), "timing");
      check_cuda(cudaEventSynchronize(stop), "timing");
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, start, stop), "timing");
      times.push_back(double(milliseconds) * 1e-3);
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
    return times[times.size() / 2] / repeat;
  }
#endif
  return median_time(device, seconds, work);
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
  /// All searches of a task find as many pairs; but for rounding at the range.
  void check(const std::string& task, double near) {
    const double expected = near_.emplace(task, near).first->second;
    if (std::abs(near - expected) <= 1e-5 * expected) return;
    std::fprintf(stderr, "perrin-bench: %s: %.0f pairs in range where there were %.0f\n",
                 task.c_str(), near, expected);
    wrong = true;
  }
  bool wrong = false;

 private:
  const Device device_;
  const System system_;
  std::size_t size_;
  std::map<std::string, double> near_;
  std::map<std::string, double> baselines_;
};

/// How a search goes through the particles.
enum class Loop { particles, cells, blocks };
const char* name_of(Loop loop) {
  return loop == Loop::particles ? "particle by particle"
         : loop == Loop::cells   ? "cells in vectors"
                                 : "blocks of threads";
}

#ifdef __CUDACC__
template <Cut cut, class Body, int Threads, int Most>
void start_blocks(const Orders& orders, const Body& body) {
  launch(orders.device(), "search, a block for a cell", dim3(unsigned(orders.cell_count())),
         dim3(Threads), 0, cell_block_kernel<cut, Body, Threads, Most>, orders.view(), body);
}
#endif

/// Where there may be blocks: on a GPU, cells of at most 256 particles, not cut by x.
bool has_blocks(const Orders& orders, std::int32_t fullest) {
  return orders.device().is_cuda() && orders.cut() != Cut::by_x && fullest <= 256;
}

/// A GPU's search, or a CPU's scalar one. fullest: Orders::fullest_cell().
template <class Body>
void search(const Orders& orders, Loop loop, [[maybe_unused]] std::int32_t fullest,
            const Body& body) {
  if (loop == Loop::particles) return search_particles(orders, body);
#ifdef __CUDACC__
  const bool small = fullest <= 64;
  if (orders.cut() == Cut::none)
    return small ? start_blocks<Cut::none, Body, 32, 64>(orders, body)
                 : start_blocks<Cut::none, Body, 128, 256>(orders, body);
  return small ? start_blocks<Cut::axes, Body, 32, 64>(orders, body)
               : start_blocks<Cut::axes, Body, 128, 256>(orders, body);
#endif
}

struct Counts {
  double met = 0, near = 0;
};

Counts count(const Orders& orders, Loop loop, std::int32_t fullest, double range2) {
  const View v = orders.view();
  Buffer<std::uint32_t> met(orders.device(), v.n), near(orders.device(), v.n);
  search(orders, loop, fullest, CountBody{Real(range2), met.data(), near.data()});
  Counts sum;
  for (const std::uint32_t m : met.to_host()) sum.met += m;
  for (const std::uint32_t m : near.to_host()) sum.near += m;
  return sum;
}

double time_search(const Orders& orders, Loop loop, std::int32_t fullest, bool lists, double range2,
                   double entries_per_particle, double seconds) {
  const Device& device = orders.device();
  const std::int64_t n = orders.view().n;
  if (!lists) {
    Buffer<Real4> force(device, n);
    const ForceBody body{Real(range2), force.data()};
    return time_of(device, seconds, [&] { search(orders, loop, fullest, body); });
  }
  const auto most = std::uint32_t(2 * entries_per_particle + 32);
  Buffer<std::uint32_t> entries(device, std::int64_t(most) * n), length(device, n);
  const ListBody body{Real(range2), n, most, entries.data(), length.data()};
  return time_of(device, seconds, [&] { search(orders, loop, fullest, body); });
}

/// The same cell by cell in vectors, every pair once. CPU only.
double time_cells(const Orders& orders, bool lists, double seconds) {
  const auto n = std::size_t(orders.view().n);
  std::vector<Real4> force(n);
  std::vector<std::uint32_t> entries, length(n);
  std::vector<std::uint64_t> begin(n);
  CellResult result;
  if (lists) {
    result.entries = &entries, result.begin = begin.data(), result.length = length.data();
    return time_of(orders.device(), seconds, [&] { search_cells<Work::lists>(orders, result); });
  }
  result.force = force.data();
  return time_of(orders.device(), seconds, [&] { search_cells<Work::forces>(orders, result); });
}

/// expected_share(), each computed once.
double geometry(Cut cut, int reach) {
  static std::map<std::pair<Cut, int>, double> known;
  double& share = known[{cut, reach}];
  if (share == 0) share = expected_share(cut, reach, 100000);
  return share;
}

/// A force loop and a list build with this cut, keys and all.
void measure(const Device& device, const Particles& particles, double cutoff, Cut cut, int reach,
             double seconds, Lines& lines) {
  const std::string name = std::string(cut == Cut::none   ? "whole cells"
                                       : cut == Cut::by_x ? "cut by x"
                                                          : "sorted along joining axes") +
                           (reach == 2 ? ", half cells" : "");
  const std::int64_t n = particles.size();
  for (const bool lists : {false, true}) {
    const double range = lists ? cutoff + skin : cutoff;
    Orders orders(device, n, particles.box().length.x, range, reach, cut);
    orders.prepare(particles.position().data());
    const double cells_s =
        time_of(device, seconds / 2, [&] { orders.sort_cells(particles.position().data()); });
    const double keys_s =
        cut == Cut::axes ? time_of(device, seconds / 2, [&] { orders.sort_interactions(); }) : 0;
    const std::int32_t fullest = orders.fullest_cell();
    for (const Loop loop : {Loop::particles, Loop::cells, Loop::blocks}) {
      if (loop == Loop::cells && device.is_cuda()) continue;
      if (loop == Loop::blocks && !has_blocks(orders, fullest)) continue;
      const Counts counts =
          count(orders, loop == Loop::cells ? Loop::particles : loop, fullest, range * range);
      const double search_s = loop == Loop::cells
                                  ? time_cells(orders, lists, seconds)
                                  : time_search(orders, loop, fullest, lists, range * range,
                                                counts.near / double(n), seconds);
      const char* task = lists ? "list build" : "forces";
      lines.check(task, counts.near);
      lines.print(task, name_of(loop), name, cells_s + keys_s + search_s,
                  {{"cells_s", cells_s},
                   {"keys_s", keys_s},
                   {"search_s", search_s},
                   {"cell_width", orders.width() / range},
                   {"axes", orders.axes()},
                   {"candidates", counts.met / double(n)},
                   {"useful_share", counts.near / counts.met},
                   {"expected_share", geometry(cut, reach)}});
    }
  }
}

/// Forces between molecules of three sites, as in water: cells and orders of base atoms. Particle
/// by particle; pairs in range are those of sites.
void measure_molecules(const Device& device, const Particles& particles, double seconds,
                       Lines& lines) {
  constexpr double cutoff = 3.4, arm = 0.34;  // 33 molecules in a cell of the cut-off
  const std::int64_t n = particles.size();
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<Real4> host(std::size_t(n) * sites);
  for (std::size_t k = 0; k < host.size(); ++k) {
    if (k % sites == 0) continue;
    const Vec3<double> v{normal(random), normal(random), normal(random)};
    const double scale = arm / std::sqrt(dot(v, v));
    host[k] = {Real(scale * v.x), Real(scale * v.y), Real(scale * v.z)};
  }
  const Buffer<Real4> arms(device, std::span<const Real4>(host));
  Buffer<Real4> placed(device, n * sites), force(device, n);
  Buffer<std::uint32_t> met(device, n), near(device, n);
  const double reach = cutoff + 2 * arm;
  for (const Cut cut : {Cut::none, Cut::by_x, Cut::axes}) {
    Orders orders(device, n, particles.box().length.x, reach, 1, cut);
    orders.prepare(particles.position().data());
    const double cells_s =
        time_of(device, seconds / 2, [&] { orders.sort_cells(particles.position().data()); });
    const double keys_s =
        cut == Cut::axes ? time_of(device, seconds / 2, [&] { orders.sort_interactions(); }) : 0;
    for_each(device, "arms", n * sites,
             PlaceArms{orders.number().data(), arms.data(), placed.data()});
    const Arms view{placed.data()};
    const auto reach2 = Real(reach * reach), range2 = Real(cutoff * cutoff);
    search_particles(orders,
                     MoleculeBody<CountBody>{view, reach2, {range2, met.data(), near.data()}});
    double tested = 0, in_range = 0;
    for (const std::uint32_t m : met.to_host()) tested += m;
    for (const std::uint32_t m : near.to_host()) in_range += m;
    const Counts base = count(orders, Loop::particles, 0, reach * reach);
    const double search_s = time_of(device, seconds, [&] {
      search_particles(orders, MoleculeBody<ForceBody>{view, reach2, {range2, force.data()}});
    });
    lines.check("molecules", in_range);
    lines.print("molecules", name_of(Loop::particles),
                cut == Cut::none   ? "whole cells"
                : cut == Cut::by_x ? "cut by x"
                                   : "sorted along joining axes",
                cells_s + keys_s + search_s,
                {{"cells_s", cells_s},
                 {"keys_s", keys_s},
                 {"search_s", search_s},
                 {"sites", sites},
                 {"candidates", base.met / double(n)},
                 {"useful_share", base.near / base.met},
                 {"useful_share_of_sites", in_range / tested}});
  }
}

/// What Perrin has, on the same particles; compared with the study's fastest loop of this device.
void measure_perrin(const Device& device, const Configuration& start, double cutoff,
                    const char* traversal, const char* sorting, double seconds, Lines& lines) {
  NeighborSettings settings;
  settings.traversal = traversal;
  settings.interaction_sorting = sorting;
  if (std::string(traversal) != "cells") settings.skin = skin;
  Simulation s(device, start, lennard_jones(device, cutoff), 0, settings);
  s.update_neighbors();
  s.compute_forces();
  const std::string search = "Perrin: " + s.neighbor_report();
  const char* loop = name_of(device.is_cuda() ? Loop::particles : Loop::cells);
  const double build_s = time_of(device, seconds, [&] {
    s.neighbors()->invalidate();
    s.neighbors()->update();
  });
  const double search_s = time_of(device, seconds, [&] { s.compute_forces(); });
  if (s.neighbors()->has_lists()) {
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
  bool wrong = false;
  for (const long size : sizes)
    for (const System& system : systems) {
      const int cells = std::max(6, int(std::lround(std::cbrt(double(size) / 4))));
      Configuration start = fcc(cells, system.density);
      thermalize(start, 2, 1);
      VelocityVerlet integrator({0.004});
      {
        Simulation s(device, start, lennard_jones(device, 2.5));
        integrator.begin(s);
        s.advance(integrator, cuda ? 1000 : 200);
        start = s.particles().configuration();
      }
      Lines lines(device, system, start.position.size());
      {
        const Simulation s(device, start, lennard_jones(device, system.cutoff));
        for (const int reach : {1, 2})
          for (const Cut cut : {Cut::none, Cut::by_x, Cut::axes})
            measure(device, s.particles(), system.cutoff, cut, reach, options.seconds, lines);
        if (system.cutoff == 5) measure_molecules(device, s.particles(), options.seconds, lines);
      }
      const auto perrin = [&](const char* traversal, const char* sorting = "auto") {
        measure_perrin(device, start, system.cutoff, traversal, sorting, options.seconds, lines);
      };
      perrin(cuda ? "tiles" : "clusters");
      perrin("verlet_list");
      if (!cuda) perrin("cells", "axes");
      perrin("cells", "x");
      perrin("cells", "none");
      wrong = wrong || lines.wrong;
    }
  return wrong ? 1 : 0;
}

}  // namespace perrin::bench
