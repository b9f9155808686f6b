#include "time_correlation.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/integrator.h"
#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "io/file_units.h"
#include "io/h5md_elements.h"

namespace perrin::analysis {
namespace {

std::string squared(const std::string& unit) { return unit.empty() ? "" : unit + " " + unit; }

/// Which types, by index, of a group; mistakes are reported.
std::vector<std::uint32_t> chosen_types(const std::vector<std::string>& names,
                                        const std::string& group, Setup& setup) {
  const Configuration& c = setup.configuration();
  const Group* const of = setup.fixed_group(group, "group");
  if (!of) return {};
  const std::vector<std::int64_t> count = of->count_by_type(c.type, c.types.size());
  std::vector<std::uint32_t> types;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string key = "types[" + std::to_string(k) + "]";
    const std::uint32_t t = setup.type_index(names[k], key);
    if (count[t] == 0)
      setup.error(key, fmt::format("the {} has no particle of this type",
                                   of->has_all() ? "system" : "group \"" + group + "\""));
    types.push_back(t);
  }
  for (std::uint32_t t = 0; t < count.size() && names.empty(); ++t)
    if (count[t] > 0) types.push_back(t);
  return types;
}

DisplacementValues values_of(const DisplacementSettings& s, const Setup& setup) {
  return {s.non_gaussian, s.wave_numbers, s.overlap.value_or(0),
          setup.configuration().box.dimension};
}

std::vector<io::ObservableColumn> particle_columns(const ParticleCorrelationSettings& s,
                                                   MultipleTau::Kind kind,
                                                   const DisplacementValues& values, Setup& setup) {
  const Units& u = setup.units();
  const hsize_t lags = hsize_t(MultipleTau::lags(s.levels));
  const io::Shape shape{chosen_types(s.types, s.group, setup).size(), lags};
  if (kind == MultipleTau::Kind::displacement) {
    const auto length = io::file_length(u);
    std::vector<io::ObservableColumn> columns{
        {"mean_square_displacement", shape, squared(length.name), length.factor * length.factor}};
    if (values.fourth) columns.push_back({"non_gaussian", shape, ""});
    if (!values.wave_numbers.empty())
      columns.push_back(
          {"self_scattering", {shape[0], hsize_t(values.wave_numbers.size()), lags}, ""});
    if (values.overlap > 0) columns.push_back({"overlap", shape, ""});
    return columns;
  }
  const auto velocity = io::file_velocity(u);
  return {{"velocity_autocorrelation", shape, squared(velocity.name),
           velocity.factor * velocity.factor}};
}

std::vector<io::ObservableColumn> stress_columns(const StressSettings& s, Setup& setup) {
  const Units& u = setup.units();
  const hsize_t lags = hsize_t(MultipleTau::lags(s.levels));
  const std::string pressure = u.pressure(setup.configuration().box.dimension);
  const auto time = io::file_time(u);
  return {{"stress_autocorrelation", {lags}, pressure},
          {"viscosity", {lags}, u.reduced() ? "" : pressure + " " + time.name, time.factor},
          {"temperature", {}, u.temperature()}};
}

}  // namespace

CorrelationObserver::CorrelationObserver(const CorrelationSettings& settings,
                                         std::vector<io::ObservableColumn> columns, Setup& setup)
    : SampledObserver(settings, with_lags(settings, std::move(columns), setup), setup),
      host_(setup.device().is_cuda() ? Device::cpu(setup.device().threads()) : setup.device()) {}

std::vector<io::ObservableColumn> CorrelationObserver::with_lags(
    const CorrelationSettings& settings, std::vector<io::ObservableColumn> columns, Setup& setup) {
  const hsize_t lags = hsize_t(MultipleTau::lags(settings.levels));
  const auto time = io::file_time(setup.units());
  columns.insert(columns.begin(),
                 {{"lag_time", {lags}, time.name, time.factor}, {"origins", {lags}, ""}});
  return columns;
}

void CorrelationObserver::come_to(std::uint64_t step, double time) {
  const double since = time - last_time_;
  const bool second = correlator_.samples() == 1;
  if (correlator_.samples() > 0 &&
      (std::int64_t(step) - last_sample() != stride() || !(since > 0) ||
       (!second && std::abs(since - spacing_) > 1e-6 * spacing_))) {
    correlator_.clear();
    forget();
  } else if (second) {
    spacing_ = since;
  }
  last_time_ = time;
}

void CorrelationObserver::come_to(const Observation& s) {
  const bool sweeps = s.degrees_of_freedom().velocities() == VelocityRole::bath && s.integrator() &&
                      s.integrator()->timestep() == 0;
  come_to(s.step(), sweeps ? double(s.step()) : s.time());
}

std::vector<double> CorrelationObserver::row(const Box&) {
  std::vector<double> row;
  const double spacing = correlator_.samples() > 1 ? spacing_ : 0;
  for (int k = 0; k < correlator_.lags(); ++k) row.push_back(double(correlator_.lag(k)) * spacing);
  for (int k = 0; k < correlator_.lags(); ++k) row.push_back(double(correlator_.origins(k)));
  return row;
}

void CorrelationObserver::sums(Archive& archive) {
  const Archive::Scope scope(archive, "correlator");
  correlator_.state(archive);
  archive("spacing", spacing_);
  archive.require(spacing_ >= 0, "spacing", "not negative");
  archive("last_time", last_time_);
  archive.require(last_time_ >= 0, "last_time", "not negative");
  own_sums(archive);
}

ParticleCorrelation::ParticleCorrelation(const DisplacementSettings& settings, Setup& setup)
    : ParticleCorrelation(settings, MultipleTau::Kind::displacement, values_of(settings, setup),
                          setup) {}

ParticleCorrelation::ParticleCorrelation(const VelocityCorrelationSettings& settings, Setup& setup)
    : ParticleCorrelation(settings, MultipleTau::Kind::product, {}, setup) {}

ParticleCorrelation::ParticleCorrelation(const ParticleCorrelationSettings& settings,
                                         MultipleTau::Kind kind, const DisplacementValues& values,
                                         Setup& setup)
    : CorrelationObserver(settings, particle_columns(settings, kind, values, setup), setup),
      kind_(kind),
      values_of_displacements_(values),
      remove_drift_(settings.remove_drift) {
  const Configuration& c = setup.configuration();
  std::vector<std::uint32_t> ids;
  std::vector<std::int64_t> groups{0};
  const Group* const of = setup.fixed_group(settings.group, "group");
  for (const std::uint32_t t : chosen_types(settings.types, settings.group, setup)) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t id = 0; id < c.type.size(); ++id)
      if (c.type[id] == t && of->has(id)) all.push_back(id);
    const auto n = std::int64_t(all.size());
    const std::int64_t most = settings.particles == 0 ? n : std::min(n, settings.particles);
    for (std::int64_t k = 0; k < most; ++k) ids.push_back(all[std::size_t(k * n / most)]);
    names_.push_back(c.types[t]);
    groups_.push_back(most);
    groups.push_back(3 * std::int64_t(ids.size()));
  }
  followed_ = {setup.device(), ids};
  correlator_ = MultipleTau(kind, std::move(groups), settings.levels, values);
}

void ParticleCorrelation::constants(const io::Node& root) {
  io::write_names(root, "parameters/perrin/types", names_);
  if (const auto& k = values_of_displacements_.wave_numbers; !k.empty())
    root.write("parameters/perrin/wave_numbers", {hsize_t(k.size())}, k.data());
}

void ParticleCorrelation::sample(const Observation& seen) {
  come_to(seen);
  add(measure(seen));
}

std::vector<double> ParticleCorrelation::measure(const Observation& s) {
  const bool velocities = kind_ == MultipleTau::Kind::product;
  const std::vector<Vec3<double>> own =
      followed_.measure(s.particles(), s.device(), velocities, remove_drift_);
  std::vector<double> sample;
  sample.reserve(3 * own.size());
  for (const Vec3<double>& v : velocities ? own : ways_.follow(s.particles(), own))
    sample.insert(sample.end(), {v.x, v.y, v.z});
  return sample;
}

void ParticleCorrelation::own_sums(Archive& archive) {
  if (kind_ != MultipleTau::Kind::product) ways_.state(archive, followed_.size());
}

std::vector<double> ParticleCorrelation::row(const Box& box) {
  std::vector<double> row = CorrelationObserver::row(box);
  const int lags = correlator_.lags();
  const DisplacementValues& values = values_of_displacements_;
  const auto mean = [&](std::size_t g, int k, std::size_t value) {
    return correlator_.mean(g, k, value) / double(groups_[g]);
  };
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (int k = 0; k < lags; ++k) row.push_back(mean(g, k, 0));
  const double of_gaussian = values.dimension == 2 ? 2 : 5.0 / 3;  // <d⁴> / <d²>²
  for (std::size_t g = 0; values.fourth && g < groups_.size(); ++g)
    for (int k = 0; k < lags; ++k)
      row.push_back(mean(g, k, 1) / (of_gaussian * mean(g, k, 0) * mean(g, k, 0)) - 1);
  const std::size_t first = values.fourth ? 2 : 1, waves = values.wave_numbers.size();
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t w = 0; w < waves; ++w)
      for (int k = 0; k < lags; ++k) row.push_back(mean(g, k, first + w));
  for (std::size_t g = 0; values.overlap > 0 && g < groups_.size(); ++g)
    for (int k = 0; k < lags; ++k) row.push_back(mean(g, k, first + waves));
  return row;
}

StressAutocorrelation::StressAutocorrelation(const StressSettings& settings, Setup& setup)
    : CorrelationObserver(settings, stress_columns(settings, setup), setup),
      dimension_(setup.configuration().box.dimension),
      k_boltzmann_(setup.k_boltzmann()) {
  correlator_ =
      MultipleTau(MultipleTau::Kind::product, {0, dimension_ == 3 ? 6 : 2}, settings.levels);
}

void StressAutocorrelation::sample_totals(const Instant& instant) {
  come_to(instant.step, instant.time);
  temperature_sum_ += instant.temperature;
  auto p = instant.pressure_tensor();  // xx yy zz xy xz yz
  for (double& component : p) component *= std::sqrt(instant.box.volume());
  // The weights of the paper's mean over all directions: G = V/(5 kT) sum of <s(t) s(0)> over the
  // three shear stresses, and V/(30 kT) over the three differences of normal ones.
  if (dimension_ == 2) return add({p[3], (p[0] - p[1]) / 2});
  const double w = 1 / std::sqrt(6.0);
  add({p[3], p[4], p[5], w * (p[0] - p[1]), w * (p[0] - p[2]), w * (p[1] - p[2])});
}

void StressAutocorrelation::own_sums(Archive& archive) {
  archive("temperature_sum", temperature_sum_);
  archive.require(temperature_sum_ >= 0, "temperature_sum", "not negative");
}

std::vector<double> StressAutocorrelation::row(const Box& box) {
  std::vector<double> row = CorrelationObserver::row(box);  // with the volumes of the samples
  const double temperature = temperature_sum_ / double(correlator_.samples());
  const double components = dimension_ == 3 ? 5 : 2;
  const double factor = 1 / (components * k_boltzmann_ * temperature);
  std::vector<double> viscosity;
  double before = 0, integral = 0;
  for (int k = 0; k < correlator_.lags(); ++k) {
    const double g = factor * correlator_.mean(0, k);
    if (k > 0)
      integral +=
          0.5 * (g + before) * spacing_ * double(correlator_.lag(k) - correlator_.lag(k - 1));
    before = g;
    row.push_back(g);
    viscosity.push_back(integral);
  }
  row.insert(row.end(), viscosity.begin(), viscosity.end());
  row.push_back(temperature);
  return row;
}

void register_time_correlations(Registry& registry) {
  registry.add<Observer, DisplacementSettings>(
      "mean_square_displacement", "mean square displacement by type, over many time origins",
      [](const DisplacementSettings& s, Setup& setup) {
        return std::make_unique<ParticleCorrelation>(s, setup);
      });
  registry.add<Observer, VelocityCorrelationSettings>(
      "velocity_autocorrelation", "velocity autocorrelation by type, over many time origins",
      [](const VelocityCorrelationSettings& s, Setup& setup) {
        return std::make_unique<ParticleCorrelation>(s, setup);
      });
  registry.add<Observer, StressSettings>(
      "stress_autocorrelation", "stress autocorrelation G(t), and the viscosity (Green-Kubo)",
      [](const StressSettings& s, Setup& setup) {
        return std::make_unique<StressAutocorrelation>(s, setup);
      });
}

}  // namespace perrin::analysis
