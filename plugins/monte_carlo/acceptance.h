// How many trial moves of a stage "monte_carlo" are accepted.
#pragma once

#include <map>
#include <string>

#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"
#include "monte_carlo.h"

namespace perrin {
class Registry;
}

namespace perrin::monte_carlo {

struct AcceptanceSettings {
  std::int64_t stride = 100;
  std::string file = "acceptance.h5";
};

template <class D>
void describe(D& d, AcceptanceSettings& s) {
  d.required("stride", s.stride, Positive{}, "output interval (sweeps)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

/// Rows count from the one before, or from the beginning of the stage; moves that the stage does
/// not make are not numbers. Stages of other kinds have no rows.
class Acceptance : public Observer {
 public:
  Acceptance(const AcceptanceSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  void observe(const Observation& seen) override;
  void end(const Observation& seen) override { file_.end(seen); }
  void state(Archive& archive) override;

 private:
  AcceptanceSettings settings_;
  io::ObservableFile file_;
  std::map<std::string, TrialCounts> last_;  // of each kind of move, up to the last row
};

void register_acceptance(Registry& registry);

}  // namespace perrin::monte_carlo
