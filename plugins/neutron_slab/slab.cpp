#include "slab.h"

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"

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

}  // namespace neutron
