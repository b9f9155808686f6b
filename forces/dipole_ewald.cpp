// The force "dipole_ewald": its settings and registration.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/acts_between_all.h"
#include "engine/components/force_remark.h"
#include "engine/components/registry.h"
#include "engine/settings/problems.h"
#include "engine/system/nearest_vector.h"
#include "forces/anisotropic/anisotropic_force.h"
#include "forces/anisotropic/deposit_torque.h"
#include "forces/charges/coulomb_constant.h"
#include "forces/charges/dipole_sum.h"
#include "forces/charges/dipole_trials.h"
#include "forces/charges/ewald_choice.h"
#include "forces/charges/ewald_settings.h"
#include "forces/charges/excluded_dipoles.h"
#include "forces/charges/measured_error.h"
#include "forces/deposit.h"
#include "forces/particle_loop.h"
#include "forces/potentials/ewald_dipole.h"
#include "forces/register.h"

namespace perrin {
namespace {

struct DipoleEwaldSettings {
  double cutoff = 1;
  std::map<std::string, double> moments;
  SplittingSettings sums;
  std::optional<double> surface_permittivity;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, DipoleEwaldSettings& s) {
    d.example(R"({"cutoff": 3, "moments": {"A": 1}, "accuracy": 1e-3})");
    d.required("cutoff", s.cutoff, Positive{}, "cut-off distance of the sum over pairs (length)");
    d.required("moments", s.moments, Any{},
               "dipole moments of the particles of each type, along the x axes of their own frames "
               "(charge length); other types have none");
    s.sums.describe_with(
        d,
        "wanted error of the force on a particle (rms), in units of C/length^4: that between two "
        "unit moments at the distance 1 is a few; default: 1e-3");
    d.optional("surface_permittivity", s.surface_permittivity, Positive{},
               surface_permittivity_help);
    d.optional("coulomb", s.coulomb, Any{},
               "strength: two moments act on each other as four charges do");
  }
};

using Pairs = AnisotropicForce<AxialPair<EwaldDipole>>;

/// Takes back what the sum over waves has of pairs that the sum over pairs leaves out. And the
/// virial of a dipole and itself beyond the last wave: DipoleSum has its mean over all directions
/// of the dipole.
struct CorrectDipoles {
  using Vector = ExcludedDipoles::Vector;
  ParticleView particles;
  Current<Metric> metric;
  BondVector vector;
  ExclusionView excluded;
  const Real4* orientation;
  const Real* moment;  // [type]
  ExcludedDipoles law;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position here = particles.position[i];
    const Vector own = moment_of(moment[here.type()], orientation[i]);
    const std::uint32_t id = particles.id[i];
    Vector force{}, torque{};
    double energy = 0;
    Virial virial;
    if (out.virial != nullptr) law.add_direction(virial, own);
    std::uint32_t k = 0, end = 0;
    if (excluded) k = excluded.begin[id], end = excluded.begin[id + 1];
    for (; k < end; ++k) {
      const std::uint32_t j = particles.index[excluded.excluded[k]];
      const Position there = particles.position[j];
      if (moment[here.type()] * moment[there.type()] == Real(0)) continue;
      const Vector other = moment_of(moment[there.type()], orientation[j]);
      const Real3 d = vector(*metric, here, there);
      const Vector r{double(d.x), double(d.y), double(d.z)};
      const ExcludedDipoles::Effect f = law.of(r, own, other);
      force += f.force, torque += f.torque;
      energy += f.energy;
      if (out.virial == nullptr) continue;
      virial.add(rounded(f.force), d);  // a tilt of the box by xy moves x by y
      law.add_surface(virial, r, own, other);
    }
    deposit(out, particles.n, i, rounded(force), Real(energy), virial, Real(0.5));
    deposit_torque(out, i, rounded(torque));
  }

  PERRIN_HD static Real3 rounded(const Vector& v) { return {Real(v.x), Real(v.y), Real(v.z)}; }
};

PredictedErrors predicted_errors(const ChargedSystem& system, const EwaldParameters& p,
                                 double cutoff) {
  return {real_space_error(system, p.splitting, cutoff), wave_error(system, p)};
}

class DipoleEwald final : public Force,
                          public HasCoupledTrials,
                          public ForceRemark,
                          public HasMeasuredError,
                          public ActsBetweenAll {
 public:
  std::string between() const override { return "dipoles"; }
  /// moments: [type]; `system`: at the start
  DipoleEwald(std::unique_ptr<Pairs> pairs, const Device& device, const EwaldTerms& terms,
              const std::vector<Real>& moments, const ChargedSystem& system, double cutoff,
              std::string chosen)
      : Force(pairs->traits()),
        system_(system),
        cutoff_(cutoff),
        moments_(moments),
        pairs_(std::move(pairs)),
        waves_(device, terms, moments),
        trials_(std::make_unique<DipoleTrials>(waves_)) {
    traits_.reads = ForceTraits::Reads::everything;  // in k space all act on all
    traits_.chosen = std::move(chosen);
  }
  void compute(StepContext& s, const ForceOutput& output) override {
    pairs_->compute(s, output);
    waves_.compute(s, output);
    const ExclusionView excluded = s.neighbors()->exclusions();
    if (!excluded && output.virial == nullptr) return;
    ForceOutput added = output;
    added.add = added.add_torque = true;
    for_each_particle("corrections of dipoles", s, added,
                      CorrectDipoles{s.particles().view(), s.particles().metric(),
                                     BondVector(s.particles().box()), excluded,
                                     s.particles().orientations()->orientation().data(),
                                     waves_.moments(), ExcludedDipoles::of(waves_.terms()), added});
  }

  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    pairs_->compute_trials(s, trials);
  }
  CoupledTrials* coupled_trials() const override { return trials_.get(); }

  /// Parameters are those for the box of the start.
  std::string remark(const Box& box) const override {
    return outgrown("dipole_ewald", box.volume(), system_.volume, predicted(box.volume()),
                    predicted(system_.volume),
                    "ask for a better \"accuracy\", or start with a box like this");
  }

  perrin::MeasuredError measure_error(StepContext& s) override {
    MeasuredSum sum{waves_.terms(), system_, predicted(s.particles().box().volume())};
    sum.system.volume = s.particles().box().volume();
    for (std::int64_t i = 0; i < s.particles().size(); ++i) {
      const Real3 axis = axis_of(s.particles().orientations()->orientation().data()[i]);
      const auto moment = double(moments_[s.particles().position().data()[i].type()]);
      sum.moment.push_back(moment * Vec3<double>{double(axis.x), double(axis.y), double(axis.z)});
    }
    return perrin::measure_error(s, *this, sum);
  }

 private:
  /// Of forces in a box of this volume.
  double predicted(double volume) const {
    ChargedSystem now = system_;
    now.volume = volume;
    return predicted_errors(now, waves_.terms().parameters, cutoff_).all();
  }

  ChargedSystem system_;
  double cutoff_;
  std::vector<Real> moments_;  // [type]
  std::unique_ptr<Pairs> pairs_;
  DipoleSum waves_;
  std::unique_ptr<DipoleTrials> trials_;
};

/// By type; reports what is wrong.
std::vector<Real> moments_by_type(const DipoleEwaldSettings& s, Setup& setup) {
  const auto& types = setup.configuration().types;
  std::vector<Real> moments(types.size());
  for (const auto& [type, moment] : s.moments) {
    const auto found = std::ranges::find(types, type);
    if (found == types.end())
      setup.error(join_path("moments", type), "unknown particle type");
    else
      moments[std::size_t(found - types.begin())] = Real(moment);
  }
  if (std::ranges::all_of(moments, [](Real m) { return m == Real(0); }))
    setup.error("moments", "must have one that is not 0");
  return moments;
}

void check_system(Setup& setup) {
  const Configuration& c = setup.configuration();
  if (c.box.dimension != 3) setup.error("", "requires three dimensions");
  if (!c.box.periodic[0] || !c.box.periodic[1] || !c.box.periodic[2])
    setup.error("", "requires a box that is periodic along x, y and z");
  if (!c.topology.body.empty())
    setup.error("",
                "has no corrections for pairs within rigid bodies: expected a system without them");
}

std::unique_ptr<Force> make_dipole_ewald(const DipoleEwaldSettings& s, Setup& setup) {
  const Configuration& c = setup.configuration();
  const std::vector<Real> moments = moments_by_type(s, setup);
  check_system(setup);
  ChargedSystem system{0, 0, c.box.volume(), coulomb_constant(s.coulomb, setup), true};
  for (const std::uint32_t type : c.type) {
    const auto m = double(moments[type]);
    system.particles += m != 0, system.squares += m * m;
  }
  if (system.squares == 0 || c.box.dimension != 3) return nullptr;  // reported, or nobody is there
  const auto parameters =
      ewald_parameters(s.sums, system, s.cutoff, s.sums.accuracy.value_or(1e-3) * system.constant,
                       c.box, false, setup);
  if (!parameters) return nullptr;

  const std::size_t types = moments.size();
  std::vector<EndedCoefficients<AxialPair<EwaldDipole>>> table;
  std::vector<double> ranges;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      const double strength = system.constant * double(moments[a]) * double(moments[b]);
      const double end = strength != 0 ? s.cutoff : 0;
      table.push_back({{Real(strength), Real(parameters->splitting)},
                       Real(end * end),
                       Real(s.cutoff),
                       Real(s.cutoff),
                       0});
      ranges.push_back(end);
    }
  const std::string chosen =
      parameters_text(*parameters, predicted_errors(system, *parameters, s.cutoff), system,
                      waves_text(c.box, *parameters), "wave vectors");
  const EwaldTerms terms{*parameters, system.constant, false, s.surface_permittivity, {}};
  return std::make_unique<DipoleEwald>(
      std::make_unique<Pairs>("dipole_ewald", setup.device(), table, std::uint32_t(types),
                              Ranges(types, ranges), false),
      setup.device(), terms, moments, system, s.cutoff, chosen);
}

}  // namespace

void register_dipole_ewald(Registry& registry) {
  registry.add<Force, DipoleEwaldSettings>(
      "dipole_ewald",
      "point dipoles along the x axes of the particles' own frames and all their periodic copies: "
      "Ewald's sum, within a cut-off over pairs and beyond it over wave vectors; needs "
      "\"orientations\"",
      make_dipole_ewald);
}

}  // namespace perrin
