#include "slab.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "history.h"

namespace neutron {

double optical_thickness(const std::vector<Layer>& layers) {
  double tau = 0;
  for (const Layer& layer : layers) tau += layer.thickness * layer.total;
  return tau;
}

double geometric_thickness(const std::vector<Layer>& layers) {
  double x = 0;
  for (const Layer& layer : layers) x += layer.thickness;
  return x;
}

// A neutron in a slab of h mean free paths makes of the order of h collisions, and their square is
// of the order of h³ on average; a weight is at most 1. history.h has the units.
double largest_batch(double h, bool weighted) {
  const double counted =
      0x1p59 / std::max(std::pow(1 + h, 3) * square_unit, (1 + h) * 2 * flux_unit);
  return std::min({counted, 0x1p30, weighted ? 0x1p63 / weight_unit : 0x1p30});
}

Slab Slab::of(const std::vector<Layer>& layers, double roulette) {
  PERRIN_ASSERT(!layers.empty() && int(layers.size()) <= max_layers);
  Slab slab;
  slab.layers = int(layers.size());
  slab.roulette = float(roulette);
  double tau = 0;
  for (int k = 0; k < slab.layers; ++k) {
    const Layer& layer = layers[std::size_t(k)];
    tau += layer.thickness * layer.total;
    const double c = layer.total > 0 ? layer.scattering / layer.total : 0;
    slab.edge[k] = float(tau);
    slab.ratio[k] = float(c);
    slab.survive[k] = std::uint32_t(std::llround(c * 0x1p31));
    slab.per_word[k] = slab.survive[k] > 0 ? float(1.0 / double(slab.survive[k])) : 0.0f;
  }
  slab.thickness = slab.edge[slab.layers - 1];
  return slab;
}

Cells Cells::of(const std::vector<Layer>& layers, int bins) {
  Cells cells;
  if (bins == 0) return cells;
  const double width = geometric_thickness(layers) / bins;
  // Edges that differ by rounding only are one edge.
  const double tolerance = 1e-9 * width;
  double begin = 0, tau = 0;
  cells.edge.push_back(0);
  for (const Layer& layer : layers) {
    const double end = begin + layer.thickness;
    double x = begin;
    while (x < end - tolerance) {
      const int bin = std::min(int(std::floor((x + tolerance) / width)), bins - 1);
      double next = bin + 1 < bins ? std::min((bin + 1) * width, end) : end;
      if (next > end - tolerance) next = end;
      cells.cell.push_back({bin, next - x, layer.total, (next - x) / width});
      cells.edge.push_back(float(tau + (next - begin) * layer.total));
      x = next;
    }
    tau += layer.thickness * layer.total;
    cells.edge.back() = float(tau);
    begin = end;
  }
  return cells;
}

Cells Cells::even(double thickness, int bins) {
  Cells cells;
  const double width = thickness / bins;
  for (int k = 0; k < bins; ++k) cells.cell.push_back({k, width, 1 / width, 1});
  return cells;
}

}  // namespace neutron
