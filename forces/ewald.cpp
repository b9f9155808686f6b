// Ewald's sum: charges and all their periodic copies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "engine/components/force_remark.h"
#include "engine/components/registry.h"
#include "forces/charges/charge_moments.h"
#include "forces/charges/charge_pairs.h"
#include "forces/charges/charge_smearing.h"
#include "forces/charges/coulomb_constant.h"
#include "forces/charges/ewald_error.h"
#include "forces/charges/ewald_sum.h"
#include "forces/charges/ewald_trials.h"
#include "forces/charges/mesh_sum.h"
#include "forces/charges/waves.h"

namespace perrin {
namespace {

struct MeshSettings {
  std::int64_t order = 6;
  std::optional<std::array<std::int64_t, 3>> size;

  template <class D>
  friend void describe(D& d, MeshSettings& s) {
    d.optional("order", s.order, Between{3, MeshTerms::most_order},
               "points along each axis that a charge is spread over");
    d.optional("size", s.size, Between{4, 4096},
               "points along x, y and z, even products of 2, 3 and 5; default: as accuracy needs");
  }
};

struct EwaldSettings {
  double cutoff = 1;
  std::optional<MeshSettings> mesh;
  std::optional<double> accuracy, splitting, k_max, surface_permittivity, slab;
  std::string net_charge = "refuse";
  std::optional<SmearingSettings> smearing;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, EwaldSettings& s) {
    d.example(R"({"cutoff": 3, "accuracy": 1e-3})");
    d.required("cutoff", s.cutoff, Positive{}, "cut-off distance of the sum over pairs (length)");
    d.optional("accuracy", s.accuracy, Positive{},
               "wanted error of the force on a particle (rms), in units of the force between two "
               "unit charges at the distance 1; default: 1e-4");
    d.optional("splitting", s.splitting, Positive{},
               "in place of accuracy, with k_max: alpha of erfc(alpha r) (1/length)");
    d.optional("k_max", s.k_max, Positive{}, "length of the longest wave vector (1/length)");
    d.optional("mesh", s.mesh, Any{},
               "a particle mesh (P3M) in place of the sum over wave vectors: for many charges");
    d.optional("net_charge", s.net_charge, OneOf{"refuse", "background"},
               "where charges do not add up to 0: refuse: an error; background: a uniform charge "
               "makes the system neutral");
    d.optional("surface_permittivity", s.surface_permittivity, Positive{},
               "relative permittivity of what surrounds the copies of the system; 1: vacuum; "
               "default: a conductor (tin foil)");
    d.optional("slab", s.slab, Between{1.5, 100},
               "for a box that is not periodic along z: copies of the system are so many box "
               "lengths apart, and do not act on each other as slabs; usual: 3");
    d.optional("smearing", s.smearing, Any{}, smearing_help);
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
  /// Wanted, of forces: energy/length.
  double error(double constant) const { return accuracy.value_or(1e-4) * constant; }
};

/// Of forces, rms: energy/length.
struct PredictedErrors {
  double of_pairs, of_rest, of_clouds;
  double all() const { return std::hypot(of_pairs, of_rest, of_clouds); }
};

/// The error of forces by the end of the clouds at the cut-off.
double error_of_clouds(const EwaldSettings& s, const ChargedSystem& system) {
  return s.smearing ? smearing_error(system, smearing_of(*s.smearing), s.cutoff) : 0;
}

PredictedErrors predicted_errors(const EwaldSettings& s, const ChargedSystem& system,
                                 const EwaldParameters& p, const std::optional<MeshTerms>& mesh,
                                 const Box& cell) {
  return {real_space_error(system, p.splitting, s.cutoff),
          mesh ? mesh_error(system, p.splitting, cell, *mesh) : wave_error(system, p),
          error_of_clouds(s, system)};
}

class EwaldForce final : public Force, public HasCoupledTrials, public ForceRemark {
 public:
  /// `charges_change`: a resumed run has other charges than those that the parameters were chosen
  /// from.
  EwaldForce(ChargePairs pairs, const EwaldTerms& terms, std::optional<MeshSum> mesh,
             const std::optional<MeshTerms>& mesh_terms, const ChargedSystem& system,
             const Box& start, const EwaldSettings& settings, bool charges_change,
             std::string chosen)
      : Force(pairs.traits()),
        settings_(settings),
        system_(system),
        start_(start),
        mesh_terms_(mesh_terms),
        charges_change_(charges_change),
        pairs_(std::move(pairs)),
        waves_(terms),
        mesh_(std::move(mesh)),
        moments_(terms),
        trials_(mesh_ ? nullptr : std::make_unique<EwaldTrials>(pairs_, waves_, moments_)) {
    traits_.reads = ForceTraits::Reads::everything;  // in k space all act on all
    traits_.trials = !mesh_;
    traits_.slow_part = true;
    traits_.chosen = std::move(chosen);
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    pairs_.compute(s, output);
    if (output.slow == Real(0)) return;
    const AttributeView<1> charge = pairs_.charges(s);
    mesh_ ? mesh_->compute(s, charge, output) : waves_.compute(s, charge, output);
    moments_.compute(s, charge, output);
  }
  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    pairs_.compute_trials(s, trials);
  }
  CoupledTrials* coupled_trials() const override { return trials_.get(); }
  bool follows_topology() const override { return true; }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    pairs_.follow(changed);
  }

  /// Parameters are those for the box of the start.
  std::string remark(const Box& box) const override {
    const Box cell = repeated_cell(box, settings_.slab.value_or(1));
    ChargedSystem now = system_;
    now.volume = cell.volume();
    const auto error = [&](const ChargedSystem& system, const Box& of) {
      return predicted_errors(settings_, system, waves_.parameters(), mesh_terms_, of).all();
    };
    const double before = error(system_, start_), after = error(now, cell);
    if (after <= 2 * before) return {};
    return fmt::format(
        "ewald: in the box as it is now, of the volume {:.4g} after {:.4g}, the predicted error of "
        "forces is {:.2g}, {:.2g} times that of the start: {}",
        now.volume, system_.volume, after, after / before,
        mesh_terms_ ? "give \"mesh\" a \"size\" for the largest box, or start with such a box"
                    : "ask for a better \"accuracy\", or start with a box like this");
  }

  /// What was chosen from the charges of the start. It holds as long as the settings do.
  void state(Archive& archive) override {
    if (!charges_change_) return;
    std::array<double, 2> wanted{settings_.cutoff, settings_.accuracy.value_or(0)};
    EwaldParameters p = waves_.parameters();
    archive("wanted", wanted);
    archive("splitting", p.splitting);
    archive("k_max", p.k_max);
    const double x = p.splitting * settings_.cutoff;
    archive.require(x > 0 && x < 100, "splitting", "that of a sum with this cut-off");
    archive.require(p.k_max > 0 && p.k_max < 100 * p.splitting, "k_max", "that of this splitting");
    if (archive.is_saving() || settings_.splitting ||
        wanted != std::array{settings_.cutoff, settings_.accuracy.value_or(0)})
      return;
    waves_.set(p), moments_.set(p);
    pairs_.set_splitting(p.splitting, EwaldSum::self_energy(p));
  }

 private:
  EwaldSettings settings_;
  ChargedSystem system_;  // at the start …
  Box start_;             // … the cell that is repeated
  std::optional<MeshTerms> mesh_terms_;
  bool charges_change_;
  ChargePairs pairs_;
  EwaldSum waves_;
  std::optional<MeshSum> mesh_;
  ChargeMoments moments_;
  std::unique_ptr<EwaldTrials> trials_;  // nullptr: a mesh has none
};

void check_box(const EwaldSettings& s, Setup& setup) {
  const Box& box = setup.configuration().box;
  if (box.dimension != 3) return setup.error("", "requires three dimensions");
  if (!box.periodic[0] || !box.periodic[1] || (!s.slab && !box.periodic[2]))
    return setup.error(
        "",
        fmt::format("requires a box that is periodic along x, y and z{}",
                    box.periodic[0] && box.periodic[1] ? ", or \"slab\" (perrin help ewald)" : ""));
  if (!s.slab) return;
  if (box.periodic[2])
    setup.error("slab",
                "is for a box that is not periodic along z: set \"periodic\": [true, true, "
                "false] in the system, and add walls");
  if (box.xz != 0 || box.yz != 0) setup.error("slab", "requires a box whose third edge is along z");
  if (s.surface_permittivity)
    setup.error("surface_permittivity", "has no meaning for a slab: remove it");
}

void check_neutral(const EwaldSettings& s, const ChargeSums& charges, Setup& setup) {
  const bool neutral = std::abs(charges.net) <= 1e-6 * charges.sizes;
  const bool background = s.net_charge == "background";
  if (background && (s.slab || s.surface_permittivity))
    setup.error("net_charge",
                "must be refuse with \"slab\" and \"surface_permittivity\": the "
                "dipole moment of a charged system depends on the origin");
  if (background) return;
  if (charges.changes)
    setup.error("net_charge", "must be background where charges change (\"attributes\")");
  else if (!neutral)
    setup.error("net_charge", fmt::format("the charges of the system add up to {:.6g}: make them "
                                          "neutral, or set \"net_charge\": \"background\"",
                                          charges.net));
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

/// `error`: wanted of both sums. Nothing after an error.
std::optional<EwaldParameters> parameters_of(const EwaldSettings& s, const ChargedSystem& system,
                                             double error, const Box& cell, Setup& setup) {
  const auto wrong = [&](const char* key, const std::string& what) {
    setup.error(key, what);
    return std::nullopt;
  };
  if (s.splitting && s.accuracy)
    return wrong("accuracy", "is chosen by splitting: remove one of them");
  EwaldParameters p;
  if (s.mesh) {
    if (s.k_max)
      return wrong("k_max", "has no effect with \"mesh\", whose size decides: remove it");
    if (s.splitting && !s.mesh->size)
      return wrong("mesh.size", "is missing: give splitting and the size of the mesh, or accuracy");
  } else if (s.splitting.has_value() != s.k_max.has_value()) {
    return wrong(s.splitting ? "k_max" : "splitting",
                 "is missing: give splitting and k_max, or accuracy");
  }
  if (s.splitting)
    p = {*s.splitting, s.k_max.value_or(0)};
  else
    p = choose_ewald(system, s.cutoff, error);
  p.splitting = double(float(p.splitting));  // the same in the sums over pairs and waves
  constexpr double most = 2e6;
  if (const double waves = count_waves(cell, p.k_max); !s.mesh && waves > most)
    return wrong(s.k_max      ? "k_max"
                 : s.accuracy ? "accuracy"
                              : "cutoff",
                 fmt::format("takes {:.3g} wave vectors, more than {:g}: choose a longer cutoff, a "
                             "lower accuracy or \"mesh\"",
                             waves, most));
  return p;
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
  return mesh;
}

/// With the predicted errors.
std::string description(const EwaldSettings& s, const ChargedSystem& system,
                        const EwaldParameters& p, const std::optional<MeshTerms>& mesh,
                        const Box& cell) {
  const PredictedErrors errors = predicted_errors(s, system, p, mesh, cell);
  const double error = errors.all();
  return fmt::format(
      "splitting {:.5g}, {}, predicted error of forces {:.2g} (rms; {:.2g} of pairs, {:.2g} of "
      "{}{}), accuracy {:.2g}",
      p.splitting,
      mesh ? fmt::format("mesh {} × {} × {} of order {}", mesh->size[0], mesh->size[1],
                         mesh->size[2], mesh->order)
           : fmt::format("{:.0f} wave vectors up to {:.5g}", count_waves(cell, p.k_max), p.k_max),
      error, errors.of_pairs, errors.of_rest, mesh ? "the mesh" : "wave vectors",
      s.smearing ? fmt::format(", {:.2g} of clouds that end at the cut-off", errors.of_clouds) : "",
      error / system.constant);
}

std::unique_ptr<Force> make_ewald(const EwaldSettings& s, Setup& setup) {
  const Configuration& c = setup.configuration();
  const ChargeSums charges = sum_charges(setup);
  check_box(s, setup);
  if (!charges.any() || c.box.dimension != 3) return nullptr;
  check_neutral(s, charges, setup);
  const double constant = coulomb_constant(s.coulomb, setup);
  const Box cell = repeated_cell(c.box, s.slab.value_or(1));
  const auto charged = std::ranges::count_if(c.charge, [](double q) { return q != 0; });
  const ChargedSystem system{double(std::max<std::ptrdiff_t>(charged, 1)), charges.squares,
                             cell.volume(), constant};
  const auto wanted = s.splitting ? s.error(constant) : error_of_sums(s, system, setup);
  if (!wanted) return nullptr;
  const auto parameters = parameters_of(s, system, *wanted, cell, setup);
  if (!parameters) return nullptr;
  // What a force between neighbours loses by rounding.
  if (sizeof(Real) == 4 && s.accuracy && *s.accuracy < 1e-7 * system.squares / system.particles)
    setup.warn("accuracy",
               "is below the rounding errors of single precision, some 1e-7 of the "
               "forces between neighbours: the forces will not have it");
  const double alpha = parameters->splitting;
  std::optional<MeshTerms> mesh;
  if (s.mesh && !(mesh = mesh_of(s, system, *wanted, alpha, cell, charges, setup))) return nullptr;

  ChargeLaw law{
      .constant = constant, .cutoff = s.cutoff, .alpha = alpha, .corrects_excluded = true};
  law.smearing = smearing_of(s.smearing);
  law.excluded_range = std::numeric_limits<double>::infinity();
  law.slow_corrections = true;  // what bonded charges do not get of the sum over waves
  law.self = mesh ? 0 : EwaldSum::self_energy(*parameters);
  const EwaldTerms terms{*parameters, constant, s.net_charge == "background",
                         s.surface_permittivity, s.slab};
  const std::string chosen = description(s, system, *parameters, mesh, cell);
  std::optional<MeshSum> on_mesh;
  if (mesh) on_mesh.emplace(terms, *mesh, charges.sizes, charges.largest);
  ChargePairs pairs(law, charges, true, setup);
  // Far below the other errors, of all partners within the cut-off together.
  pairs.use_series(0.003 * predicted_errors(s, system, *parameters, mesh, cell).all() / constant);
  return std::make_unique<EwaldForce>(std::move(pairs), terms, std::move(on_mesh), mesh, system,
                                      cell, s, charges.changes, chosen);
}

}  // namespace

void register_ewald(Registry& registry) {
  registry.add<Force, EwaldSettings>(
      "ewald",
      "charges and all their periodic copies: Ewald's sum, within a cut-off over pairs and beyond "
      "it over wave vectors; excluded pairs do not act on each other",
      make_ewald);
}

}  // namespace perrin
