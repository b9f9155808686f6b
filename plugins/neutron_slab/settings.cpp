#include "settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace neutron {
namespace {

using perrin::Setup;
using perrin::UserError;

/// One layer with the path of its keys.
struct Named {
  LayerSettings settings;
  std::string path;  // "layers[1]." or ""
};

std::vector<Named> named_layers(const NeutronSlabSettings& s, Setup& setup) {
  std::vector<Named> list;
  const bool one = s.thickness || s.total || s.scattering || s.absorption || s.mass;
  if (!s.layers.empty()) {
    if (one) setup.error("layers", "cannot be given together with thickness and cross-sections");
    if (int(s.layers.size()) > max_layers) {
      setup.error("layers",
                  fmt::format("must be at most {} layers, got {}", max_layers, s.layers.size()));
      return {};
    }
    for (std::size_t k = 0; k < s.layers.size(); ++k)
      list.push_back({s.layers[k], fmt::format("layers[{}].", k)});
  } else {
    if (!s.thickness) {
      setup.error("thickness", "is missing (or give layers)");
      return {};
    }
    list.push_back({{*s.thickness, s.total, s.scattering, s.absorption, s.mass}, ""});
  }
  return list;
}

/// What the job says at a key; nothing after a report, or where it says nothing.
std::optional<Curve> curve_of(const std::optional<perrin::Json>& value, const std::string& key,
                              Setup& setup) {
  if (!value) return {};
  try {
    return Curve::read(*value,
                       [&](const std::string& name) { return setup.input_file(name, key); });
  } catch (const UserError& e) {
    setup.error(key, e.what());
    return {};
  }
}

/// Its three curves; nothing after a report.
std::optional<EnergyLayer> curves_of(const Named& layer, Setup& setup) {
  const LayerSettings& s = layer.settings;
  if (int(s.total.has_value()) + int(s.scattering.has_value()) + int(s.absorption.has_value()) !=
      2) {
    setup.error(layer.path + "total", "two of total, scattering and absorption must be given");
    return {};
  }
  EnergyLayer found{s.thickness, s.mass.value_or(0), curve_of(s.total, layer.path + "total", setup),
                    curve_of(s.scattering, layer.path + "scattering", setup),
                    curve_of(s.absorption, layer.path + "absorption", setup)};
  const bool good = found.total.has_value() == s.total.has_value() &&
                    found.scattering.has_value() == s.scattering.has_value() &&
                    found.absorption.has_value() == s.absorption.has_value();
  return good ? std::optional(found) : std::nullopt;
}

/// Of neutrons of one speed; nothing after a report.
std::optional<Layer> constant_layer(const Named& named, Setup& setup) {
  const auto curves = curves_of(named, setup);
  if (!curves) return {};
  bool good = true;
  const auto wrong = [&](const char* key, const std::string& what) {
    setup.error(named.path + key, what);
    good = false;
  };
  const auto number = [&](const char* key, const std::optional<Curve>& curve) {
    if (curve && !curve->is_constant())
      wrong(key, "must be a number, since neutrons without \"source\" have one speed");
    return curve ? std::optional((*curve)(1)) : std::nullopt;
  };
  const auto total = number("total", curves->total);
  const auto scattering = number("scattering", curves->scattering);
  const auto absorption = number("absorption", curves->absorption);
  if (named.settings.mass) wrong("mass", "has no effect without \"source\", which gives energies");
  if (!good) return {};
  Layer layer;
  layer.thickness = named.settings.thickness;
  layer.total = total ? *total : *scattering + *absorption;
  layer.scattering = scattering ? *scattering : *total - *absorption;
  if (total && scattering && *scattering > *total)
    wrong("scattering", fmt::format("must be at most total ({}), got {}", *total, *scattering));
  if (total && absorption && *absorption > *total)
    wrong("absorption", fmt::format("must be at most total ({}), got {}", *total, *absorption));
  return good ? std::optional(layer) : std::nullopt;
}

/// Nothing after a report.
std::optional<EnergySource> source_of(const SourceSettings& s, Setup& setup) {
  EnergySource source;
  source.direction = s.direction == "beam"        ? NeutronSource::beam
                     : s.direction == "isotropic" ? NeutronSource::isotropic
                                                  : NeutronSource::cosine;
  source.mu = s.cosine;
  if (s.cosine != 1 && s.direction != "beam") {
    setup.error("source.cosine", "is for the direction beam, got " + s.direction);
    return {};
  }
  if (int(s.energy.has_value()) + int(s.maxwell.has_value()) + int(s.spectrum.has_value()) != 1) {
    setup.error("source", "one of energy, maxwell and spectrum must be given");
    return {};
  }
  if (!s.range.empty() && (!s.spectrum || !s.spectrum->is_string())) {
    setup.error("source.range", "is for a spectrum by a formula");
    return {};
  }
  if (s.energy) source.energy = *s.energy;
  if (s.maxwell) source.spectrum = NeutronSource::maxwell, source.energy = *s.maxwell;
  if (!s.spectrum) return source;
  source.spectrum = NeutronSource::density;
  const auto curve = curve_of(s.spectrum, "source.spectrum", setup);
  if (!curve) return {};
  if (curve->is_constant()) {
    setup.error("source.spectrum", "must be a formula of E or a table, got a number");
    return {};
  }
  source.energies = curve->energies();
  source.values = curve->values();
  try {
    if (source.energies.empty()) {
      if (s.range.size() != 2 || !(s.range[1] > s.range[0])) {
        setup.error("source.range",
                    "must be the lowest and the highest energy of a spectrum by a formula");
        return {};
      }
      tabulate_density(*curve, s.range[0], s.range[1], source);
    }
    perrin::Density<float>::of(source.energies, source.values);
  } catch (const UserError& e) {
    setup.error("source.spectrum", e.what());
    return {};
  }
  return source;
}

}  // namespace

std::vector<Layer> layers_of(const NeutronSlabSettings& s, Setup& setup) {
  const auto without_source = [&](const char* key, bool given) {
    if (given) setup.error(key, "has no effect without \"source\", which gives energies");
  };
  without_source("cutoff_energy", s.cutoff_energy.has_value());
  without_source("near_face", s.near_face != "open");
  without_source("far_face", s.far_face != "open");
  without_source("energy_bins", s.energy_bins != NeutronSlabSettings{}.energy_bins);
  std::vector<Layer> layers;
  const auto named = named_layers(s, setup);
  for (const Named& one : named)
    if (const auto layer = constant_layer(one, setup)) layers.push_back(*layer);
  if (layers.empty() || layers.size() < named.size()) return {};
  const double h = optical_thickness(layers);
  const char* key = s.layers.empty() ? "thickness" : "layers";
  if (!(h > 0)) {
    setup.error(key, "the slab must have a total cross-section somewhere");
    return {};
  }
  if (h > max_optical_thickness) {
    setup.error(key, fmt::format("the slab must be at most {:g} mean free paths thick, got {:g}",
                                 max_optical_thickness, h));
    return {};
  }
  return layers;
}

std::shared_ptr<const EnergyProblem> problem_of(const NeutronSlabSettings& s, Setup& setup) {
  EnergyDescription d;
  const auto named = named_layers(s, setup);
  for (const Named& one : named)
    if (const auto layer = curves_of(one, setup)) d.layers.push_back(*layer);
  const auto source = source_of(*s.source, setup);
  if (!s.cutoff_energy)
    setup.error("cutoff_energy", "is missing: the energy below which a history ends");
  if (!source || !s.cutoff_energy || d.layers.empty() || d.layers.size() < named.size()) return {};
  d.source = *source;
  d.cutoff = *s.cutoff_energy;
  d.near_reflects = s.near_face == "reflecting";
  d.far_reflects = s.far_face == "reflecting";
  d.weighted = s.estimator == "weighted";
  d.roulette = s.roulette;
  d.depth_bins = s.depth_bins;
  d.energy_bins = s.energy_bins;
  const char* key = s.layers.empty() ? "thickness" : "layers";
  try {
    auto problem = std::make_shared<EnergyProblem>(EnergyProblem::of(d));
    for (const std::string& warning : problem->warnings) setup.warn(key, warning);
    return problem;
  } catch (const UserError& e) {
    setup.error(key, e.what());
    return {};
  }
}

std::int64_t batch_of(const NeutronSlabSettings& s, double work, double largest, Setup& setup) {
  const bool cuda = setup.device().is_cuda();
  if (s.batch > 0) {
    if (double(s.batch) > largest)
      setup.error("batch", fmt::format("must be at most {:.0f} for this slab, got {}",
                                       std::floor(largest), s.batch));
    return s.batch;
  }
  const double most = std::min((cuda ? 0x1p26 : 0x1p18) / work, largest);
  const double least = std::min(cuda ? 0x1p20 : 0x1p10, most);
  return std::max<std::int64_t>(1, std::int64_t(std::clamp(double(s.histories) / 64, least, most)));
}

}  // namespace neutron
