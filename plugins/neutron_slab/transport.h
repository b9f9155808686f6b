// Runs histories on a device and sums their scores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/archive.h"
#include "engine/core/device.h"
#include "history.h"

namespace neutron {

struct TransportSettings {
  Slab slab;
  std::vector<float> edges;  // of the cells for the flux, in mean free paths; empty: no flux
  int angles = 0;            // bins of each exit angle; 0: none
  bool weighted = false;     // estimator
  bool persistent = true;    // kernel
  std::string generator = "saru";
  std::uint64_t seed = 1;
  std::int64_t streams = 0;  // of a generator with state; 0: as suits the device
  int refill = 8;            // persistent kernel: idle lanes of a warp before new histories begin
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

// The generators with state; nullptr for an unknown name.
std::unique_ptr<Transport> make_stream_transport(const perrin::Device& device,
                                                 const TransportSettings& settings);

}  // namespace neutron
