// Images of bonded particles: which boxes they are in, so that bonds are whole.
//
// Bonds act along the nearest image. The images of a configuration agree with that where the way
// between two bonded particles, images included, is the nearest one.
#pragma once

#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// Gives molecules images that keep them whole; for configurations whose file knew none. The lowest
/// id of a molecule stays in its box. What winds around the box and closes on itself has no such
/// images and stays as it is. Positions of periodic axes must be wrapped.
void images_from_bonds(Configuration& configuration);

/// Bonds that images make longer than they are to the nearest image, without those of molecules
/// that wind around the box. By number, in order.
std::vector<std::size_t> bonds_against_images(const Configuration& configuration);

/// Length of a bond by images, and to the nearest image.
struct BondLengths {
  double by_images, nearest;
};
BondLengths bond_lengths(const Configuration& configuration, const Topology::Bond& bond);

}  // namespace perrin
