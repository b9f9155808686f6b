// perrin-bench uneven: systems that fill their box unevenly and mixtures of small and large
// particles, beside the uniform fluid: do they run at its speed for the same number of pairs in
// range? For mixtures also the old way, lists that reach as far as the longest range for all.
#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>

#include "engine/domain/reduction.h"
#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "neighbor/pair_loop.h"
#include "tests/benchmarks/bench.h"
#include "tests/fluids.h"

namespace perrin::bench {
namespace {

/// Counts the pairs in range.
struct CountBody {
  static constexpr int sums = 1, odd = 0;
  static constexpr bool has_extra = false;
  const Position* position;
  const Real* range2;
  std::uint32_t types;
  Real* count;
  struct Own {
    std::uint32_t row;
  };
  PERRIN_HD Own own(std::int64_t i) const { return {position[i].type() * types}; }
  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4&, bool real,
                      Real (&term)[1]) const {
    term[0] = real && dot(d, d) < range2[own.row + type] ? Real(1) : Real(0);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[1]) const { count[i] = sum[0]; }
};

struct CountOf {
  const Real* count;
  PERRIN_HD double operator()(std::int64_t i) const { return double(count[i]); }
};

/// Each pair counts once.
double pairs_in_range(Simulation& s, const Ranges& ranges) {
  const auto types = std::uint32_t(s.particles().properties().types.size());
  std::vector<Real> squares;
  for (std::uint32_t a = 0; a < types; ++a)
    for (std::uint32_t b = 0; b < types; ++b) squares.push_back(Real(ranges(a, b) * ranges(a, b)));
  Buffer<Real> table(s.device(), std::span<const Real>(squares));
  Buffer<Real> count(s.device(), s.particles().size());
  pair_loop("count pairs", *s.neighbors(),
            CountBody{s.particles().position().data(), table.data(), types, count.data()});
  return sum<double>(s.device(), "pairs", s.particles().size(), CountOf{count.data()}) / 2;
}

/// The fluid at rho 0.8442 cut to a part of its box, as a share of the particles and a gas around
/// it.
Configuration dense_part(long size, const std::function<bool(const Vec3<double>&)>& inside,
                         double volume, Vec3<double> edges, double gas) {
  // `inside` and `volume` for a part of volume 1, scaled to what (1 - gas) of the particles need.
  const double rho = 0.8442;
  const double scale = std::cbrt(double(size) * (1 - gas) / rho / volume);
  Configuration c;
  c.box.length = scale * edges;
  c.box.origin = -0.5 * c.box.length;
  c.types = {"A"};
  const double a = std::cbrt(4 / rho);
  const double basis[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  const Vec3<double> half = 0.5 * c.box.length;
  // Whole cells of the lattice only, or those at opposite faces would overlap.
  for (double z = -half.z; z < half.z - 0.999 * a; z += a)
    for (double y = -half.y; y < half.y - 0.999 * a; y += a)
      for (double x = -half.x; x < half.x - 0.999 * a; x += a)
        for (const auto& b : basis) {
          const Vec3<double> r = Vec3<double>{x, y, z} + a * Vec3<double>{b[0], b[1], b[2]};
          if (inside((1 / scale) * r)) c.position.push_back(r);
        }
  // The gas: a coarse lattice where the dense part is not.
  const auto wanted = double(size) * gas;
  const double spacing = std::cbrt((c.box.volume() - volume * scale * scale * scale) / wanted);
  for (double z = -half.z; z < half.z - 0.5 * spacing; z += spacing)
    for (double y = -half.y; y < half.y - 0.5 * spacing; y += spacing)
      for (double x = -half.x; x < half.x - 0.5 * spacing; x += spacing)
        if (!inside((1 / (scale + 1.2)) * Vec3<double>{x, y, z})) c.position.push_back({x, y, z});
  c.type.assign(c.position.size(), 0);
  return c;
}

/// One chain in a box of a thousand ranges: a self-avoiding walk on a lattice of spacing 1.12,
/// where the beads attract one another most; cold, so that it stays together without bonds.
Configuration coil(long size) {
  Configuration c;
  const double edge = 2500, spacing = 1.12;
  c.box.length = {edge, edge, edge};
  c.box.origin = {-edge / 2, -edge / 2, -edge / 2};
  c.types = {"A"};
  std::mt19937_64 generator(5);
  using Site = std::array<int, 3>;
  std::set<Site> taken;
  std::vector<Site> chain{{0, 0, 0}};
  taken.insert(chain.back());
  while (long(chain.size()) < size) {
    bool stuck = true;
    const auto first = int(generator() % 6);
    for (int k = 0; k < 6 && stuck; ++k) {
      Site next = chain.back();
      const int way = (first + k) % 6;
      next[std::size_t(way / 2)] += way % 2 == 0 ? 1 : -1;
      if (!taken.insert(next).second) continue;
      chain.push_back(next);
      stuck = false;
    }
    for (int k = 0; stuck && k < 30 && chain.size() > 1; ++k) {
      taken.erase(chain.back());
      chain.pop_back();
    }
  }
  for (const Site& s : chain)
    c.position.push_back(spacing * Vec3<double>{double(s[0]), double(s[1]), double(s[2])});
  c.type.assign(c.position.size(), 0);
  return c;
}

/// Small particles of diameter 1 and large ones of 5, `large` of all, filling 0.35 of the volume:
/// the large ones on a lattice, the small ones on one between them.
Configuration mixture(long size, double large) {
  const double n_large = double(size) * large, n_small = double(size) - n_large;
  const double volume = M_PI / 6 * (n_small + 125 * n_large) / 0.35;
  Configuration c;
  const double edge = std::cbrt(volume);
  c.box.length = {edge, edge, edge};
  c.box.origin = {-edge / 2, -edge / 2, -edge / 2};
  c.types = {"small", "large"};
  const auto lattice = [&](double count, auto&& f) {
    const auto m = std::max(1L, long(std::ceil(std::cbrt(count) - 1e-9)));
    for (long k = 0; k < m * m * m; ++k)
      f(Vec3<double>{(double(k % m) + 0.5) * edge / double(m) - edge / 2,
                     (double(k / m % m) + 0.5) * edge / double(m) - edge / 2,
                     (double(k / m / m) + 0.5) * edge / double(m) - edge / 2});
  };
  std::vector<Vec3<double>> big;
  std::mt19937_64 generator(9);
  lattice(n_large, [&](Vec3<double> r) {
    if (double(big.size()) < n_large) big.push_back(r);
  });
  // Small ones: finer and finer lattices until there are enough places away from the large ones.
  std::vector<Vec3<double>> places;
  const double spacing = edge / std::ceil(std::cbrt(std::max(1.0, double(big.size()))) - 1e-9);
  for (double count = n_small; double(places.size()) < n_small; count *= 1.1) {
    places.clear();
    lattice(count, [&](Vec3<double> r) {
      for (int axis = 0; axis < 3; ++axis) {
        const double f = (r[axis] + edge / 2) / spacing;
        r[axis] = (f - std::floor(f) - 0.5) * spacing;  // from the nearest large one
      }
      if (dot(r, r) > 9.0) places.push_back(r);
    });
    if (double(places.size()) < n_small) continue;
    places.clear();
    lattice(count, [&](Vec3<double> r) {
      Vec3<double> d = r;
      for (int axis = 0; axis < 3; ++axis) {
        const double f = (r[axis] + edge / 2) / spacing;
        d[axis] = (f - std::floor(f) - 0.5) * spacing;
      }
      if (dot(d, d) > 9.0) places.push_back(r);
    });
  }
  std::shuffle(places.begin(), places.end(), generator);
  places.resize(std::size_t(n_small));
  for (const auto& r : big) c.position.push_back(r), c.type.push_back(1);
  for (const auto& r : places) c.position.push_back(r), c.type.push_back(0);
  return c;
}

struct Case {
  std::string system;
  Configuration start;
  Ranges ranges;
  std::vector<double> sigma;  // of each type
  double temperature = 1;
};

Forces forces_of(const Device& device, const Case& c, const Ranges& listed) {
  const std::size_t types = c.sigma.size();
  std::vector<LennardJonesPair> pairs;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b)
      pairs.push_back({(c.sigma[a] + c.sigma[b]) / 2, c.ranges(a, b)});
  return lennard_jones(device, pairs, listed);
}

std::vector<Case> cases(long size) {
  const double ball = 4.18879;
  const auto sphere = [](const Vec3<double>& r) { return dot(r, r) < 1; };
  const auto layer = [](const Vec3<double>& r) { return std::abs(r.z) < 0.5; };
  const int cells = std::max(4, int(std::lround(std::cbrt(double(size) / 4))));
  const double cut = std::pow(2.0, 1.0 / 6);  // soft spheres: a range of each particle's own size
  std::vector<Case> all{
      {"uniform fluid", fcc(cells, 0.8442), 2.5, {1}},
      {"uniform gas", fcc(cells, 0.05), 2.5, {1}},
      {"droplet in vapour", dense_part(size, sphere, ball, {10, 10, 10}, 0.1), 2.5, {1}},
      {"slab", dense_part(size, layer, 1, {1, 1, 10}, 0.02), 2.5, {1}},
      {"polymer coil, box of 1e3 ranges", coil(size), 2.5, {1}, 0.1}};
  for (const double large : {0.0, 0.001, 0.01, 0.1, 0.5}) {
    const Ranges ranges(2, {cut, 3 * cut, 3 * cut, 5 * cut});
    all.push_back({"mixture 1:5, share of large ones " + std::to_string(large).substr(0, 5),
                   mixture(size, large),
                   ranges,
                   {1, 5}});
  }
  return all;
}

}  // namespace

int uneven(const Options& options) {
  const bool cuda = options.device.is_cuda();
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {cuda ? 256000 : 32000};
  for (const long size : sizes) {
    double baseline = 0;  // pairs per second of the uniform fluid
    for (Case& c : cases(size)) {
      thermalize(c.start, c.temperature, 1);
      struct Way {
        std::string name;
        NeighborSettings settings;
        Ranges listed;
      };
      std::vector<Way> ways;
      for (const char* traversal : {"standard", cuda ? "tiles" : "clusters", "verlet_list"}) {
        Way way{traversal, {}, c.ranges};
        way.settings.traversal = traversal;
        ways.push_back(way);
      }
      if (!c.ranges.uniform()) {
        Way way{std::string(cuda ? "tiles" : "clusters") + ", one range for all",
                {},
                c.ranges.longest()};
        way.settings.traversal = cuda ? "tiles" : "clusters";
        ways.push_back(way);
        way.name = "verlet_list, one range for all";
        way.settings.traversal = "verlet_list";
        ways.push_back(way);
      }
      double standard = 0;
      for (const Way& way : ways) {
        Simulation s(options.device, c.start, forces_of(options.device, c, way.listed), 0,
                     way.settings);
        VelocityVerlet integrator({0.002});
        integrator.begin(s);
        s.advance(integrator, cuda ? 200 : 40);
        const double n = double(s.particles().size());
        const auto builds = s.neighbors()->builds();
        const auto first = s.step();
        const auto chunk =
            std::max<std::int64_t>(20, std::int64_t(0.05 / (n * (cuda ? 1e-9 : 2e-7))));
        const double time =
            median_time(options.device, options.seconds, [&] { s.advance(integrator, chunk); }) /
            double(chunk);
        const double pairs = pairs_in_range(s, c.ranges);
        if (baseline == 0) baseline = pairs / time;
        if (standard == 0) standard = time;
        print_line({{"subject", "uneven"},
                    {"size", c.start.position.size()},
                    {"device", options.device.description()},
                    {"system", c.system},
                    {"way", way.name},
                    {"traversal", s.neighbors()->traversal()},
                    {"time_s", time},
                    {"ns_per_particle", time / n * 1e9},
                    {"rate", pairs / time},
                    {"rate_unit", "pairs in range per second"},
                    {"pairs_per_particle", pairs / n},
                    {"entries_per_particle", s.neighbors()->mean_entries()},
                    {"skin", s.neighbors()->skin()},
                    {"steps_per_build",
                     double(s.step() - first) /
                         double(std::max<std::int64_t>(1, s.neighbors()->builds() - builds))},
                    {"bytes_per_particle", double(s.neighbors()->bytes()) / n},
                    {"standard_is_faster_by", time / standard},
                    {"baseline", "the uniform fluid, standard"},
                    {"ratio", pairs / time / baseline}});
      }
    }
  }
  return 0;
}

}  // namespace perrin::bench
