// The force "patchy": its settings and registration.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/problems.h"
#include "forces/anisotropic/anisotropic_force.h"
#include "forces/anisotropic/patchy.h"
#include "forces/register.h"

namespace perrin {
namespace {

/// Of a pair of types.
struct Patchy {
  struct Settings {
    double epsilon = 1, sigma = 1;
    std::optional<double> core_epsilon;
    std::string attraction = "lennard_jones";
    std::optional<double> range;
    double width = 0.05;
  };
  static constexpr const char* type = "patchy";

  static void check(const Settings& s, const Refuse& refuse) {
    const bool well = s.attraction == "well";
    if (well != s.range.has_value())
      refuse("range", well ? "is missing: where a well ends"
                           : "has no effect: the attraction is not \"well\"");
    if (s.range && *s.range <= s.sigma)
      refuse("range", fmt::format("must be beyond sigma, {}, got {}", s.sigma, *s.range));
    if (s.range && s.width > *s.range)
      refuse("width", fmt::format("must be at most the range {}, got {}", *s.range, s.width));
  }
};

template <class D>
void describe(D& d, Patchy::Settings& s) {
  d.required("epsilon", s.epsilon, NonNegative{},
             "depth of the well of two patches that face each other (energy)");
  d.required("sigma", s.sigma, Positive{}, "diameter of the core (length)");
  d.optional("core_epsilon", s.core_epsilon, NonNegative{},
             "energy of the Weeks-Chandler-Andersen core; default: epsilon");
  d.optional("attraction", s.attraction, OneOf{"lennard_jones", "well"},
             "of patches by the distance: as deep as epsilon up to the minimum of Lennard-Jones, "
             "and its tail from there; or \"well\", constant up to its end");
  d.optional("range", s.range, Positive{}, "where a \"well\" has ended (length)");
  d.optional("width", s.width, Positive{}, "in which a \"well\" ends, smoothly (length)");
}

/// Of a type.
struct PatchSettings {
  std::vector<std::array<double, 3>> directions;
  double half_angle = 30, steepness = 30;
};
template <class D>
void describe(D& d, PatchSettings& s) {
  d.example("{\"directions\": [[1, 0, 0], [-1, 0, 0]], \"half_angle\": 30}");
  d.required("directions", s.directions, Any{},
             "of each patch, in the frame of the particle; at most 8, of any length");
  d.optional("half_angle", s.half_angle, Between{1, 180},
             "half opening angle of all patches, where the attraction is half as strong (degrees)");
  d.optional(
      "steepness", s.steepness, Positive{},
      "how sharply patches end: omega of 1/(1 + exp(-omega (cos theta - cos half_angle))), "
      "less its value opposite the patch, over the same in the middle of the patch: 0 there, "
      "1 here");
}

struct PatchySettings : OrientedPairSettings<Patchy> {
  std::map<std::string, PatchSettings> patches;
};
template <class D>
void describe(D& d, PatchySettings& s) {
  describe(d, static_cast<OrientedPairSettings<Patchy>&>(s));
  d.required("patches", s.patches, Any{},
             "patches of the particles of each type; types that are not named have the core alone");
}

using Patches = PatchyPair::Patches;

Patches patches_of(const PatchSettings& s) {
  Patches p;
  for (const auto& at : s.directions) {
    const double length = std::hypot(at[0], at[1], at[2]);
    p.direction[p.number++] = {Real(at[0] / length), Real(at[1] / length), Real(at[2] / length)};
  }
  const double cos_half = std::cos(s.half_angle * std::numbers::pi / 180);
  const auto logistic = [&](double c) { return 1 / (1 + std::exp(-s.steepness * (c - cos_half))); };
  p.omega = Real(s.steepness / std::numbers::ln2), p.cos_half = Real(cos_half);
  p.low = Real(logistic(-1)), p.inverse_range = Real(1 / (logistic(1) - logistic(-1)));
  return p;
}

/// By type; reports what is wrong.
std::vector<Patches> all_patches(const PatchySettings& s, Setup& setup) {
  const Configuration& c = setup.configuration();
  std::vector<Patches> all(c.types.size());
  const std::vector<std::uint8_t> sites = site_types(c);
  if (s.patches.empty()) setup.error("patches", "must have those of a type at least");
  for (const auto& [type, of] : s.patches) {
    const std::string key = join_path("patches", type);
    const auto found = std::ranges::find(c.types, type);
    if (found == c.types.end()) {
      setup.error(key, "unknown particle type");
      continue;
    }
    if (sites[std::size_t(found - c.types.begin())] != 0)
      setup.error(key, fmt::format("is {}", sites_have_no_axes));
    if (of.directions.empty() || of.directions.size() > std::size_t(PatchyPair::most)) {
      setup.error(key + ".directions", fmt::format("must have 1 to {} patches, got {}",
                                                   PatchyPair::most, of.directions.size()));
      continue;
    }
    for (std::size_t k = 0; k < of.directions.size(); ++k) {
      const auto& at = of.directions[k];
      const std::string which = fmt::format("{}.directions[{}]", key, k);
      if (!(std::hypot(at[0], at[1], at[2]) > 0)) setup.error(which, "must not be zero");
      if (c.box.dimension == 2 && at[2] != 0)
        setup.error(which, fmt::format("must lie in the plane of a two-dimensional system, z = 0, "
                                       "got z = {}",
                                       at[2]));
    }
    all[std::size_t(found - c.types.begin())] = patches_of(of);
  }
  return all;
}

PatchyPair::Coefficients coefficients(const Patchy::Settings& s, const Patches& a,
                                      const Patches& b) {
  PatchyPair::Coefficients c{};
  c.core4 = Real(4 * s.core_epsilon.value_or(s.epsilon)), c.sigma2 = Real(s.sigma * s.sigma);
  c.depth = Real(s.epsilon);
  c.inner2 = Real(std::cbrt(2.0) * s.sigma * s.sigma);
  if (s.range) {
    c.inner = Real(*s.range - s.width);
    c.inverse_width = Real(1 / s.width);
  }
  c.of_i = a, c.of_j = b;
  return c;
}

/// A well that the cut-off cuts off has a jump.
void check_ranges(detail::PairTable<Patchy>& table, Setup& setup) {
  for (std::size_t a = 0; a < table.types(); ++a)
    for (std::size_t b = a; b < table.types(); ++b) {
      if (!table.at(a, b) || !table.at(a, b)->parameters.range) continue;
      const double range = *table.at(a, b)->parameters.range, cutoff = table.cutoff(a, b);
      if (cutoff < range)
        setup.error("cutoff", fmt::format("must be at least the range of the well, {}, got {}",
                                          range, cutoff));
    }
}

}  // namespace

void register_patchy(Registry& registry) {
  registry.add<Force, PatchySettings>(
      Patchy::type,
      "patchy particles: a repulsive core, and an attraction between patches in directions that "
      "particles carry along; needs \"orientations\"",
      [](const PatchySettings& s, Setup& setup) -> std::unique_ptr<Force> {
        detail::PairTable<Patchy> table(s, setup);
        const std::vector<Patches> patches = all_patches(s, setup);
        check_ranges(table, setup);
        return make_anisotropic_force<PatchyPair>(
            Patchy::type, s, table, setup, [&](std::size_t a, std::size_t b) {
              return coefficients(table.at(a, b)->parameters, patches[a], patches[b]);
            });
      });
}

}  // namespace perrin
