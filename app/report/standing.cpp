#include "app/report/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "engine/base/error.h"
#include "engine/run/run_log.h"
#include "io/checkpoint_layout.h"
#include "io/folder_lock.h"
#include "io/hdf5_values.h"
#include "io/seal.h"
#include "io/writer.h"

namespace perrin::report {
namespace {

/// The step (cycle, history) at which the job's last stage ends; -1: not known.
std::int64_t end_of(const Record& record) {
  const Json job = json_of(record.job);
  if (job.is_object() && job.contains("stages") && job["stages"].is_array() &&
      job["stages"].size() == 1) {
    const Json& only = job["stages"][0];
    const auto count = [&](const char* key) {
      return only.contains(key) && only[key].is_number_integer() ? only[key].get<std::int64_t>()
                                                                 : std::int64_t(0);
    };
    if (count("cycles") > 0) return count("equilibration") + count("cycles");
    if (count("histories") > 0) return count("histories");
  }
  const Json stages = stages_of(record);
  if (stages.empty()) return -1;
  const Json& last = stages.back();
  if (last["type"] != "md" || !last["steps"].is_number_integer() || last["begin"].is_null())
    return -1;
  return last["begin"].get<std::int64_t>() + last["steps"].get<std::int64_t>();
}

Json say(const char* state, const std::string& text) { return {{"state", state}, {"text", text}}; }

}  // namespace

CheckpointNote read_checkpoint_note(const std::string& path) {
  if (const std::string what = io::broken_seal(path); !what.empty())
    throw UserError(fmt::format("{}: not a valid checkpoint: {}", path, what));
  return io::writer().get([&] {
    const io::File file = io::File::read(path);
    io::check_checkpoint_layout(file);
    const io::Node& root = file.root();
    CheckpointNote note;
    note.file = path;
    note.job = text_of(root.open("job"));
    if (root.has("facts/timings")) note.timings = text_of(root.open("facts/timings"));
    if (root.has("state/simulation/step"))
      note.step = io::read_integer(root.open("state/simulation/step"));
    note.complete =
        root.has("state/run/complete") && io::read_integer(root.open("state/run/complete")) != 0;
    return note;
  });
}

std::string timings_of_log(const std::filesystem::path& file) {
  constexpr std::streamoff enough = 1 << 16;  // from the end: a run writes them last
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream.tellg();
  stream.seekg(std::max<std::streamoff>(0, size - enough));
  std::string line, timings;
  while (std::getline(stream, line))
    if (line.starts_with(timings_mark)) timings = line.substr(std::string(timings_mark).size());
  return timings;
}

Json standing(const std::filesystem::path& folder, const Record& record,
              const std::optional<CheckpointNote>& checkpoint, const LastStep& last) {
  const std::string at =
      last.step >= 0 ? fmt::format("; last row: step {}", last.step) : "; no rows yet";
  if (const std::string owner = io::folder_owner(folder); !owner.empty())
    return say("running", fmt::format("{} is writing into this folder{}", owner, at));
  const std::int64_t end = end_of(record);
  const bool left = std::filesystem::exists(folder / ".perrin.lock");
  if (checkpoint && checkpoint->job == record.job) {
    if (checkpoint->complete) return say("complete", "complete");
    const std::string where =
        checkpoint->step > 0 ? fmt::format(" (step {})", checkpoint->step) : std::string();
    return say(left ? "killed" : "stopped",
               fmt::format("not complete: {}{}; continue with: perrin resume {}{}",
                           left ? "killed" : "stopped", at, checkpoint->file, where));
  }
  if (left) return say("killed", fmt::format("not complete: killed, no valid checkpoint{}", at));
  if (!record.stages.empty() && record.stages.back().second < 0)
    return say("stopped", fmt::format("not complete: stage {} has not started{}",
                                      record.stages.back().first, at));
  if (end >= 0 && last.step == end) return say("complete", "complete");
  if (end >= 0 && last.step + last.stride > end)
    return say("complete", fmt::format("complete: every row of the {} steps is written", end));
  if (end >= 0)
    return say("stopped", fmt::format("not complete{}{}", at,
                                      last.step >= 0 ? fmt::format(" of {}", end) : ""));
  return say("unknown", fmt::format("unknown whether the run is complete{}", at));
}

}  // namespace perrin::report
