// The slab as the kernels see it: every length counted in mean free paths.
//
// With tau = integral of the total cross-section along the depth, a flight of l mean free paths in
// the direction mu (the cosine to the normal) always goes from tau to tau + mu·l, whatever layers
// it crosses: only what happens in a collision depends on the layer. A void has no width in tau.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/real.h"

namespace neutron {

constexpr int max_layers = 16;
/// More would make single precision coarse (tau is known to 2^-24 of itself) and histories endless.
constexpr double max_optical_thickness = 1e4;

/// One layer as the user gives it: thickness in any length, cross-sections in its inverse.
struct Layer {
  double thickness = 0, total = 0, scattering = 0;
};

struct Slab {
  float thickness = 0;  // in mean free paths
  int layers = 1;
  float roulette = 0;                      // weight below which a neutron plays; 0: never
  float edge[max_layers] = {};             // far edge of each layer
  float ratio[max_layers] = {};            // scattering / total
  std::uint32_t survive[max_layers] = {};  // the same times 2^31
  float per_word[max_layers] = {};         // 1 / survive

  static Slab of(const std::vector<Layer>& layers, double roulette);

  PERRIN_HD float ratio_at(float tau) const {
    float c = ratio[0];
    for (int k = 1; k < layers; ++k)
      if (tau >= edge[k - 1]) c = ratio[k];
    return c;
  }
};

/// The slab cut into cells for the flux: no cell reaches over a layer's or a bin's edge.
struct Cell {
  int bin;
  double width;         // in the user's length
  double total;         // cross-section
  double bin_fraction;  // of the width of its bin
};
struct Cells {
  std::vector<float> edge;  // in mean free paths; one more than cells
  std::vector<Cell> cell;
  static Cells of(const std::vector<Layer>& layers, int bins);
  /// Neutrons with energies count tracks by length: a cell is a bin, `total` the inverse of its
  /// width, and there are no edges.
  static Cells even(double thickness, int bins);
};

/// Histories of one call of Transport::run for which no sum can leave 64 bits, in a slab of h mean
/// free paths.
double largest_batch(double h, bool weighted);
/// Integral of the total cross-section over the slab.
double optical_thickness(const std::vector<Layer>& layers);
/// Sum of the layers' thicknesses.
double geometric_thickness(const std::vector<Layer>& layers);

}  // namespace neutron
