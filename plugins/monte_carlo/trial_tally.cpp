#include "trial_tally.h"

#include "engine/domain/reduction.h"
#include "move.h"

namespace perrin::monte_carlo {
namespace {

struct CountsOf {
  const TrialCounts* counts;
  PERRIN_HD TrialCounts operator()(std::int64_t k) const { return counts[k]; }
};

}  // namespace

void TrialTally::begin(const Device& device, std::int64_t counters) {
  before_ = counts();
  counts_ = {device, counters};
}

TrialCounts TrialTally::counts() const {
  TrialCounts all = before_;
  if (counts_.size() > 0)
    all +=
        sum<TrialCounts>(counts_.device(), "trial moves", counts_.size(), CountsOf{counts_.data()});
  return all;
}

void TrialTally::state(Archive& archive) {
  TrialCounts now = archive.is_saving() ? counts() : TrialCounts{};
  archive_counts(archive, now);
  if (archive.is_saving()) return;
  before_ = now;
  if (counts_.size() > 0) counts_.zero();
}

}  // namespace perrin::monte_carlo
