// Observers that correlate a series with itself: "mean_square_displacement",
// "velocity_autocorrelation" and "stress_autocorrelation".
//
// Averages are over all time origins since the beginning, in every row anew. Samples must be
// equally far apart: where they are not (the observer was not called in a stage between, another
// time step, a minimiser) the correlation begins anew. In Monte Carlo, where the time stands still,
// sweeps stand for it.
#pragma once

#include "multiple_tau.h"
#include "sampled.h"
#include "ways.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct CorrelationSettings : SampledSettings {
  std::int32_t levels = 12;
};
template <class D>
void describe_correlation(D& d, CorrelationSettings& s) {
  describe_sampling(d, s, "the average over all time origins since the start");
  d.optional(
      "levels", s.levels, Between{1, 32},
      "number of levels of the multiple-tau correlator: lags up to 15 * 2^(levels - 1) strides");
}

class CorrelationObserver : public SampledObserver {
 protected:
  CorrelationObserver(const CorrelationSettings& settings,
                      std::vector<io::ObservableColumn> columns, Setup& setup);
  /// The columns that all have: lag_time and origins.
  static std::vector<io::ObservableColumn> with_lags(const CorrelationSettings& settings,
                                                     std::vector<io::ObservableColumn> columns,
                                                     Setup& setup);
  /// Before each sample: the correlation begins anew where this one is not as far from the last as
  /// the others were.
  void come_to(std::uint64_t step, double time);
  void come_to(const Observation& seen);  // in Monte Carlo by sweeps
  /// What is correlated.
  void add(const std::vector<double>& sample) { correlator_.add(host_, sample); }
  /// The correlation has begun anew.
  virtual void forget() {}
  virtual void own_sums(Archive&) {}
  /// lag_time and origins.
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) final;

  MultipleTau correlator_;
  double spacing_ = 0;  // time between two samples
  Device host_;         // that correlates

 private:
  double last_time_ = 0;
};

struct ParticleCorrelationSettings : CorrelationSettings {
  std::vector<std::string> types;
  std::string group = "all";
  std::int64_t particles = 10000;
  bool remove_drift = false;
};
template <class D>
void describe_particles(D& d, ParticleCorrelationSettings& s) {
  describe_correlation(d, s);
  d.optional("types", s.types, Any{}, "particle types, evaluated separately; empty: all");
  d.optional("group", s.group, Any{}, "group of particles considered");
  d.optional("particles", s.particles, NonNegative{},
             "largest number of particles per type, evenly spaced by id; 0: all. Each takes 384 "
             "bytes per level of the correlator");
  d.optional("remove_drift", s.remove_drift, Any{},
             "subtract the motion of the centre of mass of all particles");
}

struct DisplacementSettings : ParticleCorrelationSettings {
  DisplacementSettings() { file = "mean_square_displacement.h5"; }
  std::vector<double> wave_numbers;
  std::optional<double> overlap;
  bool non_gaussian = false;
};
template <class D>
void describe(D& d, DisplacementSettings& s) {
  describe_particles(d, s);
  d.optional("wave_numbers", s.wave_numbers, Positive{},
             "lengths k of wave vectors (1/length): self_scattering, the mean of cos(k·d) of the "
             "displacements d over all directions of k");
  d.optional("overlap", s.overlap, Positive{},
             "distance (length): overlap, the part of the particles that moved less");
  d.optional("non_gaussian", s.non_gaussian, Any{},
             "non_gaussian, 3<d^4>/(5<d^2>^2) - 1, in two dimensions <d^4>/(2<d^2>^2) - 1");
}
struct VelocityCorrelationSettings : ParticleCorrelationSettings {
  VelocityCorrelationSettings() { file = "velocity_autocorrelation.h5"; }
};
template <class D>
void describe(D& d, VelocityCorrelationSettings& s) {
  describe_particles(d, s);
}

/// Columns: by type and lag, <|d|²> of d = r(t) - r(0), unwrapped, or <v(t) · v(0)>, per particle;
/// self_scattering by type, wave number and lag. /parameters/perrin/types names the types,
/// /parameters/perrin/wave_numbers has these.
class ParticleCorrelation final : public CorrelationObserver {
 public:
  /// Of displacements.
  ParticleCorrelation(const DisplacementSettings& settings, Setup& setup);
  /// Of velocities.
  ParticleCorrelation(const VelocityCorrelationSettings& settings, Setup& setup);

 private:
  ParticleCorrelation(const ParticleCorrelationSettings& settings, MultipleTau::Kind kind,
                      const DisplacementValues& values, Setup& setup);
  void sample(const Observation& seen) override;
  std::vector<double> measure(const Observation& seen);
  std::vector<double> row(const Box& box) override;
  void constants(const io::Node& root) override;
  void forget() override { ways_.forget(); }
  void own_sums(Archive& archive) override;
  std::string needs_velocities() const override {
    return kind_ == MultipleTau::Kind::product ? "an autocorrelation of velocities" : "";
  }
  bool follows_deformation() const override { return kind_ == MultipleTau::Kind::product; }

  MultipleTau::Kind kind_;
  DisplacementValues values_of_displacements_;
  bool remove_drift_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> groups_;  // of the particles that are followed
  Followed followed_;
  Ways ways_;  // of displacements
};

struct StressSettings : CorrelationSettings {
  StressSettings() {
    file = "stress_autocorrelation.h5";
    stride = 10;
  }
};
template <class D>
void describe(D& d, StressSettings& s) {
  describe_correlation(d, s);
}

/// Columns by lag: stress_autocorrelation, G(t), from all five independent components of the
/// traceless stress, each times the root of its volume, and viscosity, its integral from 0 to t by
/// trapezoids; temperature, the mean one that G(t) is divided by.
class StressAutocorrelation final : public CorrelationObserver {
 public:
  StressAutocorrelation(const StressSettings& settings, Setup& setup);
  bool only_totals() const override { return true; }

 private:
  void sample_totals(const Instant& instant) override;
  void forget() override { temperature_sum_ = 0; }
  bool follows_deformation() const override { return false; }  // the flow's stress stays
  void own_sums(Archive& archive) override;
  std::vector<double> row(const Box& box) override;

  int dimension_;
  double k_boltzmann_;
  double temperature_sum_ = 0;  // over the samples of the correlator
};

void register_time_correlations(Registry& registry);

}  // namespace perrin::analysis
