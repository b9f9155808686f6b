// What two systems must have in common before they exchange their particles, as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perrin {

class Simulation;
struct Topology;
class Particles;

std::uint64_t hash_of(const std::string& text, std::uint64_t hash = 0);
std::uint64_t hash_of(const std::vector<double>& values, std::uint64_t hash = 0);
/// Of the names of the types.
std::uint64_t types_hash(const Particles& particles);
/// Of names and numbers, and of diameters.
std::uint64_t attributes_hash(const Particles& particles);
/// Of type, mass and moments of inertia of each particle, by id; never 0. Waits for the device.
std::uint64_t kinds_hash(const Particles& particles);
/// Of bonds, angles, dihedrals, impropers, constraints, molecules and rigid bodies.
std::uint64_t topology_hash(const Topology& topology);
/// Of what the forces have from the start besides their settings (the places of "tether"), and of
/// the groups that stay as they are. Waits for the device.
std::uint64_t forces_hash(Simulation& simulation);

}  // namespace perrin
