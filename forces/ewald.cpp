// Ewald's sum: charges and all their periodic copies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "engine/components/acts_between_all.h"
#include "engine/components/acts_by_coulomb.h"
#include "engine/components/force_remark.h"
#include "engine/components/registry.h"
#include "forces/charges/charge_moments.h"
#include "forces/charges/charge_pairs.h"
#include "forces/charges/ewald_choice.h"
#include "forces/charges/ewald_settings.h"
#include "forces/charges/ewald_sum.h"
#include "forces/charges/ewald_trials.h"
#include "forces/charges/measured_error.h"
#include "forces/charges/mesh_sum.h"
#include "forces/charges/waves.h"

namespace perrin {
namespace {

class EwaldForce final : public Force,
                         public HasCoupledTrials,
                         public ForceRemark,
                         public HasMeasuredError,
                         public ActsBetweenAll,
                         public ActsByCoulomb {
 public:
  std::string between() const override { return "charges"; }
  double coulomb_constant() const override { return waves_.terms().constant; }
  /// `charges_change`: a resumed run has other charges than those that the parameters were chosen
  /// from.
  EwaldForce(ChargePairs pairs, const EwaldTerms& terms, std::optional<MeshSum> mesh,
             const EwaldChoice& choice, const ChargedSystem& system, const Box& start,
             const EwaldSettings& settings, bool charges_change)
      : Force(pairs.traits()),
        settings_(settings),
        system_(system),
        start_(start),
        mesh_terms_(choice.mesh),
        charges_change_(charges_change),
        pairs_(std::move(pairs)),
        waves_(terms),
        mesh_(std::move(mesh)),
        moments_(terms),
        trials_(mesh_ ? nullptr : std::make_unique<EwaldTrials>(pairs_, waves_, moments_)) {
    traits_.reads = ForceTraits::Reads::everything;  // in k space all act on all
    traits_.trials = !mesh_;
    traits_.slow_part = true;
    traits_.chosen = choice.text;
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
    return outgrown("ewald", cell.volume(), system_.volume, predicted(cell), predicted(start_),
                    mesh_terms_
                        ? "give \"mesh\" a \"size\" for the largest box, or start with such a box"
                        : "ask for a better \"accuracy\", or start with a box like this");
  }

  perrin::MeasuredError measure_error(StepContext& s) override {
    MeasuredSum sum{waves_.terms(), system_, 0};
    const Box cell = repeated_cell(s.particles().box(), settings_.slab.value_or(1));
    sum.predicted = predicted(cell), sum.system = in_cell(cell);
    sum.smearing = smearing_of(settings_.smearing);
    const AttributeView<1> charge = pairs_.charges(s);
    for (std::int64_t i = 0; i < s.particles().size(); ++i) sum.charge.push_back(double(charge(i)));
    return perrin::measure_error(s, *this, sum);
  }

  /// What was chosen from the charges of the start. It holds as long as the settings do.
  void state(Archive& archive) override {
    if (!charges_change_) return;
    std::array<double, 2> wanted{settings_.cutoff, settings_.sums.accuracy.value_or(0)};
    EwaldParameters p = waves_.parameters();
    archive("wanted", wanted);
    archive("splitting", p.splitting);
    archive("k_max", p.k_max);
    const double x = p.splitting * settings_.cutoff;
    archive.require(x > 0 && x < 100, "splitting", "that of a sum with this cut-off");
    archive.require(p.k_max > 0 && p.k_max < 100 * p.splitting, "k_max", "that of this splitting");
    if (archive.is_saving() || settings_.sums.splitting ||
        wanted != std::array{settings_.cutoff, settings_.sums.accuracy.value_or(0)})
      return;
    waves_.set(p), moments_.set(p);
    pairs_.set_splitting(p.splitting, EwaldSum::self_energy(p, system_.flat));
    if (!mesh_) pairs_.set_beyond(WavesBeyond::of(p, system_.flat));
  }

 private:
  /// Of forces in such a cell.
  double predicted(const Box& cell) const {
    return predicted_errors(settings_, in_cell(cell), waves_.parameters(), mesh_terms_, cell).all();
  }
  ChargedSystem in_cell(const Box& cell) const {
    ChargedSystem now = system_;
    now.volume = cell.volume(), now.layer = cell.length.z / now.slab;
    return now;
  }

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
  const bool flat = box.dimension == 2;
  if (flat && s.slab) return setup.error("slab", "is for three dimensions: remove it");
  if (flat && s.surface_permittivity)
    return setup.error("surface_permittivity", "is for three dimensions: remove it");
  if (flat && box.periodic[0] && box.periodic[1]) return;
  if (flat) return setup.error("", "requires a box that is periodic along x and y");
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
  if (const double between = (*s.slab - 1) * box.length.z; between < s.cutoff)
    setup.error("slab", fmt::format("must be at least {:.4g}, so that copies, {:.4g} apart, are "
                                    "beyond the cut-off ({:g})",
                                    1 + s.cutoff / box.length.z, between, s.cutoff));
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

std::unique_ptr<Force> make_ewald(const EwaldSettings& s, Setup& setup) {
  const Configuration& c = setup.configuration();
  const ChargeSums charges = sum_charges(setup);
  check_box(s, setup);
  if (!charges.any()) return nullptr;
  check_neutral(s, charges, setup);
  const double constant = coulomb_constant(s.coulomb, setup);
  const Box cell = repeated_cell(c.box, s.slab.value_or(1));
  const auto charged = std::ranges::count_if(c.charge, [](double q) { return q != 0; });
  const ChargedSystem system{double(std::max<std::ptrdiff_t>(charged, 1)),
                             charges.squares,
                             cell.volume(),
                             constant,
                             false,
                             c.box.dimension == 2,
                             s.slab.value_or(1),
                             c.box.length.z};
  const auto choice = ewald_choice(s, system, charges, cell, setup);
  if (!choice) return nullptr;
  const EwaldParameters& parameters = choice->parameters;
  const auto& mesh = choice->mesh;

  ChargeLaw law{.constant = constant,
                .cutoff = s.cutoff,
                .alpha = parameters.splitting,
                .corrects_excluded = true};
  law.smearing = smearing_of(s.smearing);
  law.excluded_range = std::numeric_limits<double>::infinity();
  law.slow_corrections = true;  // what bonded charges do not get of the sum over waves
  law.self = mesh ? 0 : EwaldSum::self_energy(parameters, system.flat);
  const EwaldTerms terms{
      parameters, constant,   s.net_charge == "background", s.surface_permittivity,
      s.slab,     system.flat};
  std::optional<MeshSum> on_mesh;
  if (mesh) on_mesh.emplace(terms, *mesh, charges.sizes, charges.largest);
  ChargePairs pairs(law, charges, true, setup);
  if (!mesh) pairs.set_beyond(WavesBeyond::of(parameters, system.flat));
  // Far below the other errors, of all partners within the cut-off together.
  pairs.use_series(0.003 * predicted_errors(s, system, parameters, mesh, cell).all() / constant);
  return std::make_unique<EwaldForce>(std::move(pairs), terms, std::move(on_mesh), *choice, system,
                                      cell, s, charges.changes);
}

}  // namespace

void register_ewald(Registry& registry) {
  registry.add<Force, EwaldSettings>(
      "ewald",
      "charges and all their periodic copies: Ewald's sum, within a cut-off over pairs and beyond "
      "it over wave vectors; excluded pairs do not act on each other; in two dimensions charges in "
      "a "
      "plane",
      make_ewald);
}

}  // namespace perrin
