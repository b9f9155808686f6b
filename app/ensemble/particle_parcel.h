// Particles of a system on their way to a system of another process.
#pragma once

#include <string>

#include "engine/system/particles.h"

namespace perrin {

/// What swap_particles() exchanges, by id: positions, velocities, images, orientations and angular
/// momenta; and the box. Waits for the device.
std::string pack_particles(const Particles& particles);
/// The particles of a system with as many of the same types and masses become those of `parcel`;
/// their velocities and angular momenta are multiplied by `factor`, with the bits that
/// swap_particles() gives them. So does the box. What follows from both is the caller's.
void unpack_particles(const std::string& parcel, double factor, Particles& particles);

}  // namespace perrin
