// Integrator "brownian": overdamped motion, xi dx = F dt + sqrt(2 xi k_B T) dW. Velocities are
// neither used nor changed.
//
// ermak_mccammon: x' = x + F dt/xi + sqrt(2 k_B T dt/xi) R. D. L. Ermak, J. A. McCammon, J. Chem.
// Phys. 69, 1352 (1978), without hydrodynamic interactions. In a harmonic trap of stiffness k its
// variance is (k_B T/k) / (1 - k dt / 2 xi).
//
// leimkuhler_matthews: (R_n + R_n+1)/2 in place of R. B. Leimkuhler, C. Matthews, Appl. Math. Res.
// Express 2013, 34. The variance in a harmonic trap is k_B T/k, whatever the time step.
//
// Along the axes of a particle's own frame frictions may differ: the same there. No drift belongs
// to a mobility that depends on the orientation, and not on the place.
#include <fmt/format.h>

#include <limits>

#include "bath_integrator.h"
#include "brownian_move.h"
#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "register.h"

namespace perrin::langevin {
namespace {

template <class Stream>
class Brownian : public BathIntegrator<Stream> {
  using Base = BathIntegrator<Stream>;
  using typename Base::Noise;

 public:
  Brownian(const BrownianSettings& settings, Bath bath)
      : Base(settings, Purpose::brownian, std::move(bath)), settings_(settings) {}

  void begin(StageContext& context) override {
    const Device& device = context.device();
    const std::int64_t n = context.particles().size();
    Base::begin_bath(context);
    this->bath_.tabulate(context, mobility_, [&](double xi, double) {
      return Mobility{Real(this->dt_ / xi), Real(std::sqrt(2 * this->dt_ / xi))};
    });
    axis_mobility_ = {};
    if (const auto& drags = this->bath_.drag_of_axes(); !drags.empty()) {
      std::vector<AxisMobility> of_type;
      for (const Vec3<double>& xi : drags) of_type.push_back(mobility_of(xi));
      axis_mobility_ = {device, std::span<const AxisMobility>(of_type)};
    }
    trap_ = nullptr;
    if (settings_.fuse && !settings_.tally_heat && context.forces().size() == 1 &&
        !context.group() && !context.forces()[0]->group())
      trap_ = dynamic_cast<const HarmonicTrap*>(context.forces()[0].get());
    if (trap_ != nullptr && trap_->moves()) trap_ = nullptr;
    context.ensure_forces();
    if (trap_ != nullptr && !settings_.keep_forces) {  // not stale, but plainly absent
      const Real nan = std::numeric_limits<Real>::quiet_NaN();
      context.particles().force().assign(
          std::vector<Real4>(std::size_t(n), Real4{nan, nan, nan, Real(0)}));
    }
    if (settings_.tally_heat) displacement_ = {context.particles(), IndexedBy::id};
    if (settings_.method == "leimkuhler_matthews") {
      previous_ = {context.particles(), IndexedBy::id};
      for_each(device, "brownian: first noise", n,
               FirstNoise{RunKey(Purpose::brownian, this->bath_.seed(context.seed())),
                          this->bath_.law(), this->bath_.normals(), this->bath_.draws_apart(),
                          context.step(), previous_.data()});
    }
    Base::begin_barostat(context, true);
  }

  void end() override {
    Base::end();
    displacement_ = {}, previous_ = {};
  }

  void steps(StepContext& context, int n) override {
    // Generators with states in memory are bound by that: the general functor is enough for them.
    if constexpr (follows_step<Stream> || std::is_same_v<Stream, NoNoise> ||
                  std::is_same_v<Stream, FusedLaggedFibonacciStream>)
      if (plain(context)) return steps<true>(context, n);
    steps<false>(context, n);
  }

  Motion motion() const override {
    Motion motion = this->bath_.motion();
    motion.velocities = VelocityRole::bath;
    return motion;
  }
  std::string needs_fixed_group() const override {
    if (settings_.method != "leimkuhler_matthews") return Base::needs_fixed_group();
    return "with the method leimkuhler_matthews keeps the noise of a particle from one step to the "
           "next (method ermak_mccammon does not)";
  }
  double typical_displacement(const StepContext&) const override {
    return double(mobility_.view().all.spread) * double(this->bath_.temperature().root_from);
  }

 private:
  template <bool Plain>
  void steps(StepContext& context, int n) {
    const auto displace = [&] {
      this->rotation_.diffuse(context, this->bath_.temperature().kt);
      return Displace<Noise, Plain>{this->bath_.mobile(),      mobility_.view(),
                                    this->bath_.temperature(), this->bath_.law(),
                                    Base::noise(context),      push_of(context, trap_),
                                    previous_.data(),          this->bath_.heat(),
                                    displacement_.data(),      frames(context)};
    };
    const bool bodies =
        context.bodies() != nullptr;  // whose sites follow where neighbours are found
    if (trap_ == nullptr && (!context.forces().empty() || context.moves_box() || bodies)) {
      if (this->bath_.heat() == nullptr)
        return run_particle_steps(context, n, displace, [] { return NoUpdate{}; });
      return run_particle_steps(context, n, displace, [&] {
        return SecondHalfOfWork{this->bath_.mobile(), displacement_.data(), this->bath_.heat()};
      });
    }
    // No forces in memory are needed, and no neighbours.
    move_particles(context, displace());
    for (int k = 1; k < n; ++k)
      update_and_move_particles(
          context, [] { return NoUpdate{}; }, displace);
    if (trap_ != nullptr && settings_.keep_forces) context.compute_forces();
  }

  void own_state(Archive& archive) override {
    if (!previous_) return;
    previous_.state(archive, "previous_noise");
    require_finite(archive, "previous_noise", previous_);
  }

  AxisMobility mobility_of(const Vec3<double>& xi) const {
    AxisMobility m{};
    if (!(xi.x > 0)) return m;
    const double z = xi.z > 0 ? xi.z : xi.x;  // of no use in two dimensions
    const auto drift = [&](double drag) { return Real(this->dt_ / drag); };
    const auto spread = [&](double drag) { return Real(std::sqrt(2 * this->dt_ / drag)); };
    m.drift = {drift(xi.x), drift(xi.y), drift(z), 0};
    m.spread = {spread(xi.x), spread(xi.y), spread(z), 0};
    return m;
  }
  Frames frames(const StepContext& context) const {
    if (axis_mobility_.size() == 0) return {};
    return {context.particles().orientations()->view().orientation, axis_mobility_.data()};
  }
  bool plain(const StepContext& context) const {
    const Mobile mobile = this->bath_.mobile();
    const Box& box = context.particles().box();
    const auto& periodic = box.periodic;
    return mobile.types == nullptr && this->bath_.law().axes() == 3 &&
           mobility_.view().values == nullptr && this->bath_.temperature().kt.constant() &&
           !previous_ && !settings_.tally_heat && axis_mobility_.size() == 0 && periodic[0] &&
           periodic[1] && periodic[2] &&
           (trap_ == nullptr || (!trap_->settings().unwrapped && box.orthogonal()));
  }
  BrownianSettings settings_;
  const HarmonicTrap* trap_ = nullptr;  // where it is fused
  CoefficientTable<Mobility> mobility_;
  Buffer<AxisMobility> axis_mobility_;  // [type]; empty: no type has any
  ParticleArray<Real4> previous_;       // noise
  ParticleArray<Real3> displacement_;   // of a step
};

}  // namespace

void register_brownian(Registry& registry) {
  registry.add<Integrator, BrownianSettings>(
      "brownian",
      "Brownian dynamics (overdamped Langevin); velocities do not change and do not enter "
      "temperature and pressure",
      [](const BrownianSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        Bath bath(s, "gaussian", Purpose::brownian, setup);
        auto barostat = barostat_of(s, setup);
        if (s.tally_heat && !setup.configuration().orientation.empty())
          setup.error("tally_heat", "counts no rotation, and particles have orientations");
        if (!s.frictions_of_axes.empty() && s.method != "ermak_mccammon")
          setup.error(
              "method",
              fmt::format("must be ermak_mccammon with frictions_of_axes, got \"{}\", whose "
                          "noise of two steps belongs to one orientation",
                          s.method));
        if (!bath.usable() || !barostat) return nullptr;
        return with_noise(s.rng, bath.scheme(), [&](auto type) -> std::unique_ptr<Integrator> {
          using Stream = typename decltype(type)::type;
          auto integrator = std::make_unique<Brownian<Stream>>(s, std::move(bath));
          integrator->set_barostat(std::move(*barostat));
          return integrator;
        });
      });
}

}  // namespace perrin::langevin
