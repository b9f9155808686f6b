#include "engine/dynamics/body_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/system/nearest_vector.h"

namespace perrin {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

/// The principal axes of a symmetric matrix as columns of a rotation, by Jacobi's rotations; on its
/// diagonal the matrix then has their moments.
Matrix principal_axes(Matrix& m) {
  Matrix axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < 50; ++sweep) {
    const double scale = std::abs(m[0][0]) + std::abs(m[1][1]) + std::abs(m[2][2]);
    const double off = std::abs(m[0][1]) + std::abs(m[0][2]) + std::abs(m[1][2]);
    if (off <= 1e-15 * scale) break;
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = p + 1; q < 3; ++q) {
        if (m[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * m[p][q], m[q][q] - m[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (auto& row : m) {
          const double a = row[p], b = row[q];
          row[p] = c * a - s * b, row[q] = s * a + c * b;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const double a = m[p][k], b = m[q][k];
          m[p][k] = c * a - s * b, m[q][k] = s * a + c * b;
          const double u = axes[k][p], v = axes[k][q];
          axes[k][p] = c * u - s * v, axes[k][q] = s * u + c * v;
        }
      }
  }
  const auto& a = axes;
  const double determinant = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                             a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                             a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  if (determinant < 0)
    for (auto& row : axes) row[2] = -row[2];
  return axes;
}

/// Of points with these masses, which it moves to their centre of mass and turns to their axes; in
/// two dimensions about z alone.
Vec3<double> moments_of(std::vector<Vec3<double>>& at, const std::vector<double>& mass,
                        int dimension) {
  double total = 0;
  Vec3<double> center{};
  for (std::size_t k = 0; k < at.size(); ++k) total += mass[k], center += mass[k] * at[k];
  for (auto& r : at) r -= (1 / total) * center;
  Matrix inertia{};
  for (std::size_t k = 0; k < at.size(); ++k)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        inertia[std::size_t(a)][std::size_t(b)] +=
            mass[k] * ((a == b ? dot(at[k], at[k]) : 0.0) - at[k][a] * at[k][b]);
  if (dimension == 2) return {0, 0, inertia[2][2]};
  const Matrix axes = principal_axes(inertia);
  double largest = 0;
  for (std::size_t a = 0; a < 3; ++a) largest = std::max(largest, inertia[a][a]);
  Vec3<double> moments{};
  for (int a = 0; a < 3; ++a) {
    const double moment = inertia[std::size_t(a)][std::size_t(a)];
    moments[a] = moment > 1e-9 * largest ? moment : 0;  // points on a line do not turn about it
  }
  for (auto& r : at) {
    const Vec3<double> before = r;
    for (int a = 0; a < 3; ++a) {
      r[a] = 0;
      for (int b = 0; b < 3; ++b) r[a] += axes[std::size_t(b)][std::size_t(a)] * before[b];
    }
  }
  return moments;
}

std::string path_of(const std::string& type) { return join_path("bodies", type); }

template <class T>
void extend(std::vector<T>& values, std::size_t n, const T& with) {
  if (!values.empty()) values.resize(n, with);
}

std::string names_of(const std::vector<std::string>& types) {
  return fmt::format("[{}]", fmt::join(types, ", "));
}

/// A body that a file has against the template of its centre's type; what is wrong, or nothing.
std::string misfit(const BodySettings& s, const Configuration& c, std::uint32_t center,
                   const std::vector<std::uint32_t>& sites) {
  std::vector<std::string> expected, found;
  for (const BodySite& site : s.sites) expected.push_back(site.type);
  for (const std::uint32_t site : sites) found.push_back(c.types[c.type[site]]);
  if (expected != found)
    return fmt::format("the body of particle {} has sites of the types {} in the file, expected {}",
                       center, names_of(found), names_of(expected));
  const auto mass_of = [&](std::uint32_t id) { return c.mass.empty() ? 1.0 : c.mass[id]; };
  std::vector<Vec3<double>> at;
  std::vector<double> mass;
  double total = 0, extent = 0;
  for (std::size_t k = 0; k < sites.size(); ++k)
    at.push_back(s.sites[k].at), mass.push_back(mass_of(sites[k])), total += mass.back();
  const double whole = s.mass.value_or(total);
  if (!(std::abs(mass_of(center) - whole) <= 1e-5 * whole))
    return fmt::format(
        "particle {} has the mass {:g} in the file, expected {:g}, that of \"mass\" "
        "or of all sites",
        center, mass_of(center), whole);
  Vec3<double> moments;
  if (const auto& given = s.moments_of_inertia)
    moments = {(*given)[0], (*given)[1], (*given)[2]};
  else
    moments = (whole / total) * moments_of(at, mass, c.box.dimension);
  const Vec3<double> of_file = c.moment_of_inertia.empty() ? moments : c.moment_of_inertia[center];
  const double largest = std::max({moments.x, moments.y, moments.z});
  for (int axis = 0; axis < 3; ++axis)
    if (!(std::abs(of_file[axis] - moments[axis]) <= 1e-4 * largest))
      return fmt::format(
          "particle {} has the moments of inertia ({:g}, {:g}, {:g}) in the file, "
          "expected ({:g}, {:g}, {:g})",
          center, of_file.x, of_file.y, of_file.z, moments.x, moments.y, moments.z);
  const Vec3<double> edge = c.box.length;
  for (const Vec3<double>& r : at) extent = std::max(extent, std::sqrt(dot(r, r)));
  // Files may have single precision.
  const double rounding = 1e-4 * extent + 1e-6 * std::max({edge.x, edge.y, edge.z});
  const auto images = images_of(c.box);
  const Quaternion q = c.orientation.empty() ? Quaternion{} : normalized(c.orientation[center]);
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const Vec3<double> off =
        images.nearest(c.position[sites[k]] - c.position[center] - rotate(q, at[k]));
    if (!(std::sqrt(dot(off, off)) <= rounding))
      return fmt::format(
          "particle {}, site {} of the body of particle {}, is {:.3g} from where "
          "the template has it",
          sites[k], k, center, std::sqrt(dot(off, off)));
  }
  return {};
}

/// Bodies of a file, whose sites are among its particles and stay the particles that they are. They
/// must be those of the settings.
void adopt_bodies(const std::map<std::string, BodySettings>& settings, Configuration& c,
                  const ReportMistake& report) {
  Topology& t = c.topology;
  t.body.resize(c.position.size(), Topology::no_body);  // of a reservoir none has any
  t.site.assign(c.position.size(), {});
  const auto refuse = [&](const std::string& path, const std::string& what) {
    t.body.clear(), t.site.clear();  // what follows looks at particles alone
    report(path, what);
  };
  std::vector<std::vector<std::uint32_t>> sites(c.position.size());  // of each centre
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    const std::string& type = c.types[c.type[id]];
    if (t.body[id] == id && !settings.contains(type))
      return refuse("bodies", fmt::format("the file has bodies whose centres are of type \"{}\" "
                                          "(particle {}), and none is described for this type",
                                          type, id));
    if (t.body[id] != id && settings.contains(type))
      return refuse(path_of(type), fmt::format("particle {} is of this type, and is the centre of "
                                               "no body in the file, which has bodies of its own",
                                               id));
    if (t.is_site(id)) sites[t.body[id]].push_back(id);
  }
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    if (t.body[id] != id) continue;
    const std::string& type = c.types[c.type[id]];
    const BodySettings& s = settings.at(type);
    if (const std::string what = misfit(s, c, id, sites[id]); !what.empty())
      return refuse(path_of(type), "is not as the bodies of the file are: " + what);
    for (std::size_t k = 0; k < sites[id].size(); ++k) {
      t.site[sites[id][k]] = s.sites[k].at;
      if (!t.molecule.empty()) t.molecule[sites[id][k]] = t.molecule[id];
    }
  }
  // As they lie in the file, which has none where all are the frame of space.
  if (c.orientation.empty()) c.orientation.assign(c.position.size(), {});
}

struct Neighbor {
  std::uint32_t type;
  Vec3<double> off;  // from the centre
  double distance;
};

/// Particles in no body that are not further from this centre than `reach`.
std::vector<Neighbor> neighbors_of(const Configuration& c, std::uint32_t center, double reach) {
  const auto images = images_of(c.box);
  std::vector<Neighbor> found;
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    if (c.topology.body[id] != Topology::no_body) continue;
    const Vec3<double> off = images.nearest(c.position[id] - c.position[center]);
    const double distance = std::sqrt(dot(off, off));
    if (distance <= reach) found.push_back({c.type[id], off, distance});
  }
  return found;
}

double distance_of(const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> r = a - b;
  return std::sqrt(dot(r, r));
}

/// How often particles in no body are arranged about this centre as its sites are, each at its
/// distance from the centre and from the others, since the orientation is not known yet: 0, 1, or 2
/// for more, as on a lattice.
int arrangements_of_sites(const Configuration& c, std::uint32_t center) {
  const Topology& t = c.topology;
  const Vec3<double> edge = c.box.length;
  std::vector<std::uint32_t> sites;
  double extent = 0;
  for (std::uint32_t id = center + 1; id < c.position.size(); ++id)
    if (t.body[id] == center)
      sites.push_back(id), extent = std::max(extent, std::sqrt(dot(t.site[id], t.site[id])));
  if (sites.empty()) return 0;
  // Files may have single precision, or three decimals: coordinates are off by 5e-4, and distances
  // by 1.8e-3 at most.
  const double rounding = 5e-3 * extent + 1e-6 * std::max({edge.x, edge.y, edge.z});
  const std::vector<Neighbor> near = neighbors_of(c, center, extent + rounding);
  const auto stands_for = [&](const Neighbor& n, std::size_t k) {
    const Vec3<double>& at = t.site[sites[k]];
    return n.type == c.type[sites[k]] && std::abs(n.distance - std::sqrt(dot(at, at))) <= rounding;
  };
  for (std::size_t k = 0; k < sites.size(); ++k)
    if (std::ranges::none_of(near, [&](const Neighbor& n) { return stands_for(n, k); })) return 0;
  std::vector<std::size_t> chosen, found;  // of `near`, for the first sites; for all, sorted
  for (std::size_t next = 0;;) {
    const std::size_t k = chosen.size();
    if (k == sites.size()) {
      std::vector<std::size_t> all = chosen;
      std::ranges::sort(all);
      if (!found.empty() && all != found) return 2;
      found = std::move(all), next = near.size();
    }
    const auto fits = [&](std::size_t n) {
      if (!stands_for(near[n], k)) return false;
      for (std::size_t j = 0; j < k; ++j)
        if (chosen[j] == n || std::abs(distance_of(near[n].off, near[chosen[j]].off) -
                                       distance_of(t.site[sites[k]], t.site[sites[j]])) > rounding)
          return false;
      return true;
    };
    while (next < near.size() && !fits(next)) ++next;
    if (next < near.size()) {
      chosen.push_back(next), next = 0;
    } else {  // the last one stands for another site, or for none
      if (chosen.empty()) return found.empty() ? 0 : 1;
      next = chosen.back() + 1, chosen.pop_back();
    }
  }
}

void refuse_sites_twice(const Configuration& c, const std::string& file,
                        const ReportMistake& report) {
  constexpr std::size_t enough = 10;  // bodies of a type that are looked at
  const Topology& t = c.topology;
  std::map<std::uint32_t, std::vector<std::uint32_t>> looked;  // by type, centres
  for (std::uint32_t id = 0; id < c.position.size(); ++id)
    if (t.body[id] == id && looked[c.type[id]].size() < enough) looked[c.type[id]].push_back(id);
  for (const auto& [type, centers] : looked) {
    bool all = true, once = false;  // once: more than a lattice about some centre
    for (const std::uint32_t id : centers) {
      const int count = arrangements_of_sites(c, id);
      once = once || count == 1;
      if (!(all = count > 0)) break;
    }
    if (all && once)
      report(path_of(c.types[type]),
             fmt::format("{} has these sites among its particles already, in no body: particles of "
                         "their types are about particle {} of type {} as its sites are. They "
                         "would be there twice: expected the bodies' centres alone, or a file that "
                         "has bodies, as the observer \"gsd\" writes it, or says of its particles "
                         "that they are in none (docs/guide/orientations.md)",
                         file, centers.front(), c.types[type]));
  }
}

}  // namespace

void add_bodies(const std::map<std::string, BodySettings>& settings, Configuration& c,
                const ReportMistake& report) {
  for (const auto& [type, s] : settings) {
    if (std::ranges::find(c.types, type) == c.types.end())
      report(path_of(type), fmt::format("no particle of the system is of this type, which is that "
                                        "of the bodies' centres; {}",
                                        suggest(type, c.types)));
    if (s.sites.empty()) report(join_path(path_of(type), "sites"), "must have a site at least");
    for (std::size_t k = 0; k < s.sites.size(); ++k) {
      const std::string path = fmt::format("{}.sites[{}]", path_of(type), k);
      if (settings.contains(s.sites[k].type))
        report(path + ".type", "is the type of a body, and bodies carry none");
      if (c.box.dimension == 2 && s.sites[k].at.z != 0)
        report(path + ".at", "must have no z component: the system has two dimensions");
    }
  }
  if (std::ranges::any_of(c.topology.body, [](auto id) { return id != Topology::no_body; }))
    return adopt_bodies(settings, c, report);
  const std::size_t before = c.position.size();
  Topology& t = c.topology;
  t.body.assign(before, Topology::no_body), t.site.assign(before, {});
  for (std::uint32_t id = 0; id < before; ++id) {
    const auto found = settings.find(c.types[c.type[id]]);
    if (found == settings.end()) continue;
    t.body[id] = id;
    for (const BodySite& site : found->second.sites) {
      auto at = std::ranges::find(c.types, site.type);
      const auto type = std::uint32_t(at - c.types.begin());
      if (at == c.types.end()) c.types.push_back(site.type);
      c.type.push_back(type);
      c.position.push_back(c.position[id]);
      t.body.push_back(id), t.site.push_back(site.at);
      if (!c.image.empty()) c.image.push_back(c.image[id]);
    }
  }
  const std::size_t n = c.position.size();
  extend(c.velocity, n, {}), extend(c.mass, n, 1.0);
  extend(c.charge, n, 0.0), extend(c.diameter, n, 1.0);
  extend(c.orientation, n, {}), extend(c.angular_momentum, n, {});
  extend(c.moment_of_inertia, n, {});
  for (auto& [name, values] : c.attributes) values.resize(n, 0);
  if (!t.molecule.empty())
    for (std::size_t id = before; id < n; ++id) t.molecule.push_back(t.molecule[t.body[id]]);
}

void weigh_bodies(const std::map<std::string, BodySettings>& settings, const std::string& file,
                  Configuration& c, const ReportMistake& report) {
  const std::size_t n = c.position.size();
  Topology& t = c.topology;
  if (c.mass.empty()) c.mass.assign(n, 1);
  if (c.moment_of_inertia.empty()) c.moment_of_inertia.assign(n, {});
  std::vector<std::vector<std::uint32_t>> sites(n);  // of each centre
  for (std::uint32_t id = 0; id < n; ++id)
    if (t.is_site(id)) sites[t.body[id]].push_back(id);
  for (std::uint32_t id = 0; id < n; ++id) {
    if (sites[id].empty()) continue;
    const BodySettings& s = settings.at(c.types[c.type[id]]);
    std::vector<double> mass;
    std::vector<Vec3<double>> at;
    double total = 0;
    for (const std::uint32_t site : sites[id]) {
      mass.push_back(c.mass[site]), at.push_back(t.site[site]);
      total += c.mass[site];
    }
    c.mass[id] = s.mass.value_or(total);
    if (s.moments_of_inertia) {
      const auto& m = *s.moments_of_inertia;
      c.moment_of_inertia[id] = {m[0], m[1], m[2]};
      continue;
    }
    Vec3<double> moments = moments_of(at, mass, c.box.dimension);
    c.moment_of_inertia[id] = (c.mass[id] / total) * moments;
    for (std::size_t k = 0; k < at.size(); ++k) t.site[sites[id][k]] = at[k];
    if (moments.x == 0 && moments.y == 0 && moments.z == 0)
      return report(path_of(c.types[c.type[id]]),
                    "has no moment of inertia: its sites are at one place. Give "
                    "\"moments_of_inertia\", or leave the body out");
  }
  if (!file.empty()) refuse_sites_twice(c, file, report);
}

void place_sites(Configuration& c) {
  for (std::size_t id = 0; id < c.position.size(); ++id) {
    if (!c.topology.is_site(id)) continue;
    const std::uint32_t center = c.topology.body[id];
    const Quaternion q = normalized(c.orientation[center]);
    const Vec3<double> r = c.position[center] + rotate(q, c.topology.site[id]);
    Image image = c.image.empty() ? Image{} : c.image[center];
    c.position[id] = c.box.point(c.box.fixed(r, c.type[id], &image));
    if (!c.image.empty()) c.image[id] = image;
  }
}

}  // namespace perrin
