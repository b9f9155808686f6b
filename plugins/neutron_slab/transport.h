// Runs histories on a device and sums their scores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "energy_problem.h"
#include "engine/device/device.h"
#include "engine/system/archive.h"
#include "history.h"

namespace neutron {

struct TransportSettings {
  // Neutrons of one speed.
  Slab slab;
  std::vector<float> edges;  // of the cells for the flux, in mean free paths; empty: no flux
  // Neutrons with energies, instead.
  std::shared_ptr<const EnergyProblem> problem;
  int angles = 0;          // bins of each exit angle; 0: none
  bool weighted = false;   // estimator
  bool persistent = true;  // kernel
  std::string generator = "saru";
  std::uint64_t seed = 1;
  std::int64_t streams = 0;  // of a generator with state; 0: as suits the device
  // Where a thread has the state of an mt607 while it runs: registers on a GPU, memory on a CPU;
  // perrin-bench compares. The same bits anywhere.
  enum class TwisterState { automatic, memory, shared, registers };
  TwisterState twister_state = TwisterState::automatic;
  int refill = 8;  // persistent kernel: idle lanes of a warp before new histories begin

  /// Histories of one call of Transport::run for which no sum can leave 64 bits.
  double largest_batch() const {
    return problem ? problem->largest_batch(weighted)
                   : neutron::largest_batch(double(slab.thickness), weighted);
  }
};

/// What a number of histories added up to. Bins as in struct Bins.
struct Batch {
  Scores scores;
  std::vector<std::int64_t> bins;
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// Runs histories first … first + n - 1 to their ends, n < 2^31. Waits. The result is the same
  /// for both kernels and any number of threads.
  virtual Batch run(std::uint64_t first, std::int64_t n) = 0;
  /// The states of the generators, where there are any.
  virtual void state(perrin::Archive&) {}
};

/// Throws UserError for an unknown generator, or one that the device does not have.
std::unique_ptr<Transport> make_transport(const perrin::Device& device,
                                          const TransportSettings& settings);
const std::vector<std::string>& generators();
/// Made afresh for each history from (purpose, seed, history).
bool is_keyed(const std::string& generator);

// Parts of make_transport(): nullptr for a name that is not theirs.
std::unique_ptr<Transport> make_keyed_energies(const perrin::Device& device,
                                               const TransportSettings& settings);
std::unique_ptr<Transport> make_stream(const perrin::Device& device,
                                       const TransportSettings& settings);
std::unique_ptr<Transport> make_stream_energies(const perrin::Device& device,
                                                const TransportSettings& settings);

}  // namespace neutron
