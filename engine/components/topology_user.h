// Whether an observer's result has a meaning where bonds are made and broken while the job runs
// ("dynamic_bonds"). Job::check_dynamic_bonds() asks before a run.
#pragma once

namespace perrin {

/// An observer that takes bonds or angles from the configuration at the start derives from it
/// beside Observer. An observer that does not derive from it is taken to look at none.
class TopologyUser {
 public:
  virtual ~TopologyUser() = default;
  virtual bool follows_topology() const = 0;
};

}  // namespace perrin
