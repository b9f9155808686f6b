#include "settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace neutron {
namespace {

using perrin::Setup;

Layer complete(const LayerSettings& s, const std::string& path, Setup& setup) {
  const auto key = [&](const char* name) { return path + name; };
  if (int(s.total.has_value()) + int(s.scattering.has_value()) + int(s.absorption.has_value()) !=
      2) {
    setup.error(key("total"), "two of total, scattering and absorption must be given");
    return {};
  }
  Layer layer;
  layer.thickness = s.thickness;
  layer.total = s.total ? *s.total : *s.scattering + *s.absorption;
  layer.scattering = s.scattering ? *s.scattering : *s.total - *s.absorption;
  if (s.total && s.scattering && *s.scattering > *s.total)
    setup.error(key("scattering"),
                fmt::format("must be at most total ({}), got {}", *s.total, *s.scattering));
  if (s.total && s.absorption && *s.absorption > *s.total)
    setup.error(key("absorption"),
                fmt::format("must be at most total ({}), got {}", *s.total, *s.absorption));
  return layer;
}

}  // namespace

// A neutron in a slab of h mean free paths makes of the order of h collisions, and their square is
// of the order of h³ on average; a weight is at most 1. history.h has the units.
double largest_batch(double h, bool weighted) {
  const double counted =
      0x1p59 / std::max(std::pow(1 + h, 3) * square_unit, (1 + h) * 2 * flux_unit);
  return std::min({counted, 0x1p30, weighted ? 0x1p63 / weight_unit : 0x1p30});
}

std::vector<Layer> layers_of(const NeutronSlabSettings& s, Setup& setup) {
  std::vector<Layer> layers;
  const bool one = s.thickness || s.total || s.scattering || s.absorption;
  if (!s.layers.empty()) {
    if (one) setup.error("layers", "cannot be given together with thickness and cross-sections");
    if (int(s.layers.size()) > max_layers)
      setup.error("layers",
                  fmt::format("must be at most {} layers, got {}", max_layers, s.layers.size()));
    for (std::size_t k = 0; k < s.layers.size(); ++k)
      layers.push_back(complete(s.layers[k], fmt::format("layers[{}].", k), setup));
  } else {
    if (!s.thickness) {
      setup.error("thickness", "is missing (or give layers)");
      return {};
    }
    layers.push_back(complete({*s.thickness, s.total, s.scattering, s.absorption}, "", setup));
  }
  const double h = optical_thickness(layers);
  const char* key = s.layers.empty() ? "thickness" : "layers";
  if (!(h > 0)) setup.error(key, "the slab must have a total cross-section somewhere");
  if (h > max_optical_thickness)
    setup.error(key, fmt::format("the slab must be at most {:g} mean free paths thick, got {:g}",
                                 max_optical_thickness, h));
  return layers;
}

std::int64_t batch_of(const NeutronSlabSettings& s, double h, Setup& setup) {
  const bool cuda = setup.device().is_cuda();
  const double largest = largest_batch(h, s.estimator == "weighted");
  if (s.batch > 0) {
    if (double(s.batch) > largest)
      setup.error("batch", fmt::format("must be at most {:.0f} for a slab of {:g} mean free paths, "
                                       "got {}",
                                       std::floor(largest), h, s.batch));
    return s.batch;
  }
  const double work = 1 + h / 10;  // of a history, in that of a thin slab
  const double most = std::min((cuda ? 0x1p26 : 0x1p18) / work, largest);
  const double least = std::min(cuda ? 0x1p20 : 0x1p10, most);
  return std::max<std::int64_t>(1, std::int64_t(std::clamp(double(s.histories) / 64, least, most)));
}

}  // namespace neutron
