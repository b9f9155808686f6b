// Observer "group_distance": how far groups are from one another.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/components/observer.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "engine/system/group.h"
#include "forces/mass_center.h"
#include "io/observable_file.h"
#include "minimum_distance.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct GroupDistanceSettings {
  std::int64_t stride = 100;
  std::string file = "group_distance.h5";
  std::vector<std::array<std::string, 2>> pairs;
  bool minimum = false;
};
template <class D>
void describe(D& d, GroupDistanceSettings& s) {
  d.example("{\"pairs\": [[\"one\", \"other\"]]}");
  d.required("pairs", s.pairs, Any{}, "pairs of groups, which stay the same");
  d.optional("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("minimum", s.minimum, Any{},
             "write minimum_distance, too: the least distance between a particle of the first "
             "and one of the second group, which then have no particle in common");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

/// Columns with a row of each pair of groups, in the order of the job: distance between their
/// centres of mass and vector [pair][xyz] from that of the first to that of the second, by the
/// nearest image; with `minimum` also minimum_distance, over all pairs of particles and images.
/// Centres of mass are those of unwrapped positions, as of the force group_restraint.
/// /parameters/perrin/pairs has the names.
class GroupDistance final : public Observer {
 public:
  GroupDistance(const GroupDistanceSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override { file_.end(seen); }
  void state(Archive& archive) override { file_.state(archive); }

 private:
  /// The place of a group in groups_; reports at `key` one that cannot be.
  std::size_t place_of(const std::string& name, const std::string& key, Setup& setup);

  GroupDistanceSettings settings_;
  io::ObservableFile file_;
  std::vector<Group> groups_;                      // each once
  std::vector<GroupOnDevice> on_device_;           // of groups_
  std::vector<std::array<std::size_t, 2>> pairs_;  // places in groups_
  std::vector<MinimumDistance> minima_;            // of pairs_, if asked for
  Buffer<MassCenterSums> scratch_, centres_;       // centres_: of groups_
};

void register_group_distance(Registry& registry);

}  // namespace perrin::analysis
