// What a random number is for: the first word of every key.
#pragma once

#include <cstdint>

namespace perrin {

/// Two uses of random numbers in one run never share a key, because each has its own purpose. The
/// values are part of the meaning of a seed: never renumber them, add at the end of a group.
enum class Purpose : std::uint32_t {
  // The engine.
  initial_positions = 1,
  initial_velocities = 2,
  initial_types = 3,
  attribute = 4,
  thermostat = 16,
  barostat = 17,
  bond_forming = 18,
  bond_breaking = 19,
  monte_carlo = 20,
  monte_carlo_swap = 21,
  monte_carlo_molecule = 22,
  monte_carlo_hybrid = 23,
  widom = 24,
  monte_carlo_pivot = 25,
  monte_carlo_crankshaft = 26,
  replica_exchange = 27,
  rotational_thermostat = 28,
  initial_rotation = 29,  // orientations and angular momenta
  monte_carlo_insertion = 30,
  monte_carlo_rotation = 31,
  stream_seed = 32,     // seeds of the generators whose state lives in memory
  stream_shuffle = 33,  // reserved for reordering such states

  // The shipped plug-ins.
  langevin = 64,
  brownian = 65,
  langevin_rotation = 66,
  brownian_rotation = 67,
  active_ornstein_uhlenbeck = 72,
  run_and_tumble = 73,
  active_brownian = 74,
  active_rotation = 75,
  dpd = 80,
  metropolis_choice = 96,
  metropolis_move = 97,
  metropolis_accept = 98,
  neutron = 112,
  neutron_source = 113,

  // Tools.
  command = 256,  // `perrin rng`
  test = 257,
  benchmark = 258,

  // Plug-ins of others: plugin_purpose(number).
  plugin = 0x10000,
};

/// The purpose of a plug-in's own use of random numbers. `plugin` is any number that its author
/// keeps to (0 to 65533); `use` tells its different uses apart.
constexpr Purpose plugin_purpose(std::uint16_t plugin, std::uint16_t use = 0) {
  return Purpose((std::uint32_t(plugin) + 1) * std::uint32_t(Purpose::plugin) + use);
}

}  // namespace perrin
