// Observer "chain_size": radius of gyration and end-to-end distance of the molecules.
#pragma once

#include "engine/components/observer.h"
#include "engine/components/topology_user.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"
#include "output.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct ChainSizeSettings {
  std::int64_t stride = 1000;
  std::string file = "chain_size.h5";
  std::string group = "all";
};
template <class D>
void describe(D& d, ChainSizeSettings& s) {
  d.optional("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
  d.optional("group", s.group, Any{},
             "group of particles, which stays the same: molecules that are wholly in it count");
}

/// Columns: radius_of_gyration_squared (mean over all molecules, particles counted alike, not by
/// mass) and end_to_end_squared (mean over the molecules that have two ends: exactly two particles
/// with one bond each; 0 where there is no such molecule). Coordinates are unwrapped by the image
/// counters.
class ChainSize final : public Observer, public TopologyUser {
 public:
  ChainSize(const ChainSizeSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override;
  void state(Archive& archive) override;
  bool follows_topology() const override { return false; }

  struct Ends {
    std::uint32_t first, last;  // ids; equal: no two ends
  };
  struct Sizes {
    double gyration2, end2;
  };

 private:
  ChainSizeSettings settings_;
  io::ObservableFile file_;
  std::int64_t molecules_ = 0, linear_ = 0;
  Buffer<std::uint32_t> begin_, members_;  // ids of molecule m: members[begin[m]] …
  Buffer<Ends> ends_;
  Buffer<Sizes> sizes_;
};

void register_chain_size(Registry& registry);

}  // namespace perrin::analysis
