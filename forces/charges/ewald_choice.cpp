#include "forces/charges/ewald_choice.h"

#include <fmt/format.h>

#include <utility>

#include "forces/charges/fft.h"
#include "forces/charges/waves.h"

namespace perrin {
namespace {

/// The error of forces by the end of the clouds at the cut-off.
double error_of_clouds(const EwaldSettings& s, const ChargedSystem& system) {
  return s.smearing ? smearing_error(system, smearing_of(*s.smearing), s.cutoff) : 0;
}

/// What they leave of the wanted error to the sums. Nothing after an error.
std::optional<double> error_of_sums(const EwaldSettings& s, const ChargedSystem& system,
                                    Setup& setup) {
  const double wanted = s.error(system.constant), found = error_of_clouds(s, system);
  if (found <= 0.9 * wanted) return std::sqrt(wanted * wanted - found * found);
  double needed = s.cutoff;
  while (smearing_error(system, smearing_of(*s.smearing), needed) > 0.9 * wanted) needed *= 1.01;
  setup.error("cutoff",
              fmt::format("must be at least {:.3g}, since two clouds of this width (\"smearing\") "
                          "do not act as points before, within the accuracy of {:g}; got {:g}",
                          needed, wanted / system.constant, s.cutoff));
  return std::nullopt;
}

/// What `mesh` demands of the other settings. False: it is reported.
bool check_mesh(const EwaldSettings& s, const Box& cell, Setup& setup) {
  const auto wrong = [&](const char* key, const char* what) {
    setup.error(key, what);
    return false;
  };
  if (cell.dimension == 2) return wrong("mesh", "is for three dimensions: leave it out");
  if (s.sums.k_max)
    return wrong("k_max", "has no effect with \"mesh\", whose size decides: remove it");
  if (s.sums.splitting && !s.sums.accuracy && !s.mesh->size)
    return wrong("mesh.size", "is missing: give splitting and the size of the mesh, or accuracy");
  return true;
}

/// Nothing after an error.
std::optional<MeshTerms> mesh_of(const EwaldSettings& s, const ChargedSystem& system, double wanted,
                                 double splitting, const Box& cell, const ChargeSums& charges,
                                 Setup& setup) {
  const auto wrong = [&](const char* key, const std::string& what) {
    setup.error(key, what);
    return std::nullopt;
  };
  if (const std::string what = Fft3::missing(setup.device()); !what.empty())
    return wrong("mesh", what);
  if (charges.changes)
    return wrong("mesh", "is not for charges that change (\"attributes\"): leave it out");
  const int order = int(s.mesh->order);
  if (!s.mesh->size) {
    const double error = wanted / std::sqrt(2.0);
    const MeshTerms mesh = choose_mesh(system, splitting, cell, order, error);
    if (mesh_error(system, splitting, cell, mesh) > error)
      return wrong("mesh", fmt::format("needs more than {:g} points: choose a longer cutoff, a "
                                       "higher order or a lower accuracy",
                                       MeshTerms::most_points));
    return mesh;
  }
  MeshTerms mesh{*s.mesh->size, order};
  for (std::size_t a = 0; a < 3; ++a) {
    if (mesh.size[a] < 2 * order)
      return wrong("mesh.size", fmt::format("must be at least twice the order along each axis, {}, "
                                            "got {}",
                                            2 * order, mesh.size[a]));
    if (Fft3::good_size(double(mesh.size[a])) != mesh.size[a])
      return wrong("mesh.size",
                   fmt::format("must be even products of 2, 3 and 5, got {}; the next is {}",
                               mesh.size[a], Fft3::good_size(double(mesh.size[a]))));
  }
  if (mesh.points() >= std::int64_t(1) << 31)
    return wrong(
        "mesh.size",
        fmt::format("must have less than 2^31 = 2147483648 points in all, got {} × {} × {} "
                    "= {}",
                    mesh.size[0], mesh.size[1], mesh.size[2], mesh.points()));
  return mesh;
}

}  // namespace

PredictedErrors predicted_errors(const EwaldSettings& s, const ChargedSystem& system,
                                 const EwaldParameters& p, const std::optional<MeshTerms>& mesh,
                                 const Box& cell) {
  return {real_space_error(system, p.splitting, s.cutoff),
          mesh ? mesh_error(system, p.splitting, cell, *mesh) : wave_error(system, p),
          error_of_clouds(s, system)};
}

std::optional<EwaldParameters> ewald_parameters(const SplittingSettings& s,
                                                const ChargedSystem& system, double cutoff,
                                                double error, const Box& cell, bool on_mesh,
                                                Setup& setup) {
  const auto wrong = [&](const char* key, const std::string& what) {
    setup.error(key, what);
    return std::nullopt;
  };
  if (s.splitting && s.accuracy)
    return wrong("accuracy", "is chosen by splitting: remove one of them");
  if (!on_mesh && s.splitting.has_value() != s.k_max.has_value())
    return wrong(s.splitting ? "k_max" : "splitting",
                 "is missing: give splitting and k_max, or accuracy");
  EwaldParameters p = s.splitting ? EwaldParameters{*s.splitting, s.k_max.value_or(0)}
                                  : choose_ewald(system, cutoff, error);
  p.splitting = double(float(p.splitting));  // the same in the sums over pairs and waves
  constexpr double most = 2e6;
  const bool has_mesh = !system.dipoles && !system.flat;
  if (const double waves = count_waves(cell, p.k_max); !on_mesh && waves > most)
    return wrong(
        s.k_max      ? "k_max"
        : s.accuracy ? "accuracy"
                     : "cutoff",
        fmt::format("takes {:.3g} wave vectors, more than {:g}: choose a longer cutoff{} a "
                    "lower accuracy{}",
                    waves, most, has_mesh ? "," : " or", has_mesh ? " or \"mesh\"" : ""));
  return p;
}

std::string waves_text(const Box& cell, const EwaldParameters& p) {
  return fmt::format("{:.0f} wave vectors up to {:.5g}", count_waves(cell, p.k_max), p.k_max);
}

std::string parameters_text(const EwaldParameters& p, const PredictedErrors& errors,
                            const ChargedSystem& system, const std::string& rest,
                            const char* name_of_rest, bool clouds) {
  return fmt::format(
      "splitting {:.5g}, {}, predicted error of forces {:.2g} (rms; {:.2g} of pairs, {:.2g} of "
      "{}{}), accuracy {:.2g}",
      p.splitting, rest, errors.all(), errors.of_pairs, errors.of_rest, name_of_rest,
      clouds ? fmt::format(", {:.2g} of clouds that end at the cut-off", errors.of_clouds) : "",
      errors.all() / system.constant);
}

std::string outgrown(const char* type, double volume, double volume_before, double error,
                     double error_before, const char* advice) {
  if (error <= 2 * error_before) return {};
  return fmt::format(
      "{}: in the box as it is now, of the volume {:.4g} after {:.4g}, the predicted error of "
      "forces is {:.2g}, {:.2g} times that of the start: {}",
      type, volume, volume_before, error, error / error_before, advice);
}

std::optional<EwaldChoice> ewald_choice(const EwaldSettings& s, const ChargedSystem& system,
                                        const ChargeSums& charges, const Box& cell, Setup& setup) {
  const SplittingSettings& sums = s.sums;
  if (s.mesh && !check_mesh(s, cell, setup)) return std::nullopt;
  const auto wanted = sums.splitting ? s.error(system.constant) : error_of_sums(s, system, setup);
  if (!wanted) return std::nullopt;
  const auto p = ewald_parameters(sums, system, s.cutoff, *wanted, cell, s.mesh.has_value(), setup);
  if (!p) return std::nullopt;
  // What a force between neighbours loses by rounding.
  if (sizeof(Real) == 4 && sums.accuracy &&
      *sums.accuracy < 1e-7 * system.squares / system.particles)
    setup.warn("accuracy",
               "is below the rounding errors of single precision, some 1e-7 of the "
               "forces between neighbours: the forces will not have it");
  std::optional<MeshTerms> mesh;
  if (s.mesh && !(mesh = mesh_of(s, system, *wanted, p->splitting, cell, charges, setup)))
    return std::nullopt;
  const std::string rest = mesh ? fmt::format("mesh {} × {} × {} of order {}", mesh->size[0],
                                              mesh->size[1], mesh->size[2], mesh->order)
                                : waves_text(cell, *p);
  return EwaldChoice{*p, mesh,
                     parameters_text(*p, predicted_errors(s, system, *p, mesh, cell), system, rest,
                                     mesh ? "the mesh" : "wave vectors", s.smearing.has_value())};
}

}  // namespace perrin
