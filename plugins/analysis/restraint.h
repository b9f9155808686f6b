// Observer "restraint": what the springs between groups (forces/group_restraint.h) measure.
#pragma once

#include <string>
#include <vector>

#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"

namespace perrin {
class GroupRestraint;
class Registry;
}  // namespace perrin

namespace perrin::analysis {

struct RestraintSettings {
  std::int64_t stride = 100;
  std::string file = "restraint.h5";
};
template <class D>
void describe(D& d, RestraintSettings& s) {
  d.required("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

/// Columns with a number of each group_restraint of the job, in its order: distance, length (at
/// rest), force (on the second group or the group, along the distance) and work (done by the motion
/// of the length or the point since the job began).
class Restraint final : public Observer {
 public:
  Restraint(const RestraintSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override { file_.end(seen); }
  void state(Archive& archive) override { file_.state(archive); }

 private:
  RestraintSettings settings_;
  std::vector<const GroupRestraint*> springs_;
  io::ObservableFile file_;
};

void register_restraint(Registry& registry);

}  // namespace perrin::analysis
