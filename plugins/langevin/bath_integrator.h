// What the integrators of this plug-in have in common: the bath, the time step, the random numbers.
#pragma once

#include <optional>
#include <vector>

#include "bath.h"
#include "engine/components/integrator.h"
#include "engine/components/stage_context.h"

namespace perrin::langevin {

/// The barostat of an integrator's settings, nullptr without one; nothing after an error.
template <class S>
std::optional<std::unique_ptr<Barostat>> barostat_of(const S& s, Setup& setup) {
  auto barostat = Barostat::make(s.barostat, false, s.timestep, s.temperature, setup);
  if (s.barostat && !barostat) return std::nullopt;
  if (barostat && (!s.types.empty() || s.axes || s.bath_axes || s.temperature == 0)) {
    setup.error("barostat",
                "needs a temperature above 0 and motion of all particles along all axes: not "
                "possible with types, axes or bath_axes");
    return std::nullopt;
  }
  return barostat;
}

template <class Stream>
class BathIntegrator : public Integrator {
 public:
  template <class Settings>
  BathIntegrator(const Settings& settings, Purpose purpose, Bath bath)
      : bath_(std::move(bath)),
        dt_(settings.timestep),
        tally_heat_(settings.tally_heat),
        purpose_(purpose),
        rotation_purpose_(purpose == Purpose::brownian ? Purpose::brownian_rotation
                                                       : Purpose::langevin_rotation) {}

  void end() override {
    bath_.end();
    words_.clear();
  }
  double timestep() const override { return dt_; }
  /// Never; but a good moment to look at the stream.
  bool finished(const StepContext& context) override {
    stream_->check(context.step() - std::uint64_t(bath_.start()));
    return false;
  }
  std::int64_t finish_stride() const override { return check_stride<Stream>; }
  void measure_heat(StepContext& context, double* heat) override {
    if (!bath_.measure_heat(heat)) Integrator::measure_heat(context, heat);
    if (barostat_) barostat_->add_heat(context, heat);
  }
  std::optional<double> bath_kt(std::uint64_t steps) const override {
    return bath_.temperature().kt.after(steps);
  }
  std::string report() override { return barostat_ ? barostat_->report() : ""; }
  /// A flow also turns a particle by its shape, of which frictions of axes do not tell enough.
  bool follows_deformation() const override { return bath_.moves_all() && !bath_.has_axes(); }
  BoxMover* box_mover() const override { return barostat_.get(); }
  bool turns_particles() const override { return true; }
  /// Heat is counted where a particle gets it, and random numbers follow from step and id.
  std::string needs_fixed_group() const override {
    if (!bath_.moves_all())
      return "with types or axes stops particles, whose kinetic energy would be lost";
    if constexpr (!follows_step<Stream> && !std::is_same_v<Stream, NoNoise>)
      return "draws random numbers from a generator with a memory, in which every particle has to "
             "be in every step (rng, scheme, normals)";
    return {};
  }
  /// Of a maker; before begin().
  void set_barostat(std::unique_ptr<Barostat> barostat) { barostat_ = std::move(barostat); }
  void state(Archive& archive) override {
    bath_.state(archive);
    if (barostat_) barostat_->state(archive);
    own_state(archive);
    const Archive::Scope scope(archive, "stream");
    stream_->state(archive);
  }

 protected:
  using Noise = decltype(std::declval<Stream&>().view());

  /// For begin().
  void begin_bath(StageContext& s) {
    bath_.begin(s, tally_heat_);
    rotation_.begin(s, dt_, bath_.rotation(s, rotation_purpose_));
    if constexpr (std::is_same_v<Stream, DrawnNormals>)
      stream_.emplace(bath_.drawn_normals(s, purpose_));
    else
      stream_.emplace(s.device(), purpose_, bath_.seed(s.seed()), s.particles().size(),
                      bath_.law().words());
    words_.clear();
    if constexpr (requires { stream_->words(); }) {
      const std::int64_t n = s.particles().size();
      for (std::int64_t word = 0; word * n < stream_->words().size(); ++word)
        words_.emplace_back(s.particles(), stream_->words().data() + word * n);
    }
  }
  /// For the end of begin().
  void begin_barostat(StageContext& s, bool overdamped = false) {
    if (barostat_)
      barostat_->begin(s, dt_, bath_.temperature().kt,
                       overdamped ? BoxRule::overdamped : BoxRule::dynamics);
  }
  /// The random numbers of the step that is launched next.
  Noise noise(StepContext& s) {
    if constexpr (std::is_same_v<Stream, DrawnNormals>)
      stream_->begin_step(s);
    else
      stream_->begin_step(s.device_step());
    return stream_->view();
  }
  virtual void own_state(Archive&) {}

  Bath bath_;
  double dt_;
  bool tally_heat_;
  Rotation rotation_;

 private:
  std::unique_ptr<Barostat> barostat_;
  Purpose purpose_, rotation_purpose_;
  std::optional<Stream> stream_;
  // Of a generator with a state for each particle: what it keeps for them.
  std::vector<ParticleArray<std::uint32_t>> words_;
};

}  // namespace perrin::langevin
