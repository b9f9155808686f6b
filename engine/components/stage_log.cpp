#include "engine/components/stage_log.h"

#include <algorithm>

namespace perrin {

void StageLog::reset(std::size_t stages) {
  steps_.assign(stages, -1);
  remarks_.assign(stages, "");
}

void StageLog::state(Archive& archive, std::size_t stage, std::int64_t step) {
  state_of_steps(archive, stage, step);
  state_of_remarks(archive);
}

void StageLog::state_of_steps(Archive& archive, std::size_t stage, std::int64_t step) {
  const std::size_t stages = steps_.size();
  archive("run/stage_steps", steps_);
  if (archive.is_saving()) return;
  bool good = steps_.size() > stage;
  std::int64_t last = 0;
  for (std::size_t k = 0; good && k < steps_.size(); ++k) {
    good = k <= stage ? steps_[k] >= last && steps_[k] <= step : steps_[k] == -1;
    last = steps_[k];
  }
  archive.require(good, "run/stage_steps", "the steps at which the stages began, in order");
  steps_.resize(stages, -1);  // stages to come may have been added, or taken away
}

/// One text, a line of each stage.
void StageLog::state_of_remarks(Archive& archive) {
  if (!archive.has("run/stage_remarks")) return;  // an older checkpoint
  std::string text;
  for (const std::string& remark : remarks_) text += remark + '\n';
  archive("run/stage_remarks", text);
  auto lines = std::uint64_t(remarks_.size());
  archive("run/stage_remark_count", lines);
  if (archive.is_saving()) return;
  archive.require(std::uint64_t(std::ranges::count(text, '\n')) == lines &&
                      (text.empty() || text.back() == '\n'),
                  "run/stage_remarks", "a line of each stage of the job that was saved");
  std::size_t at = 0;
  for (std::string& remark : remarks_) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;  // stages to come have been added
    remark = text.substr(at, end - at);
    at = end + 1;
  }
}

}  // namespace perrin
