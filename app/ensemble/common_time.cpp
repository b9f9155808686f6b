#include "app/ensemble/common_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/ensemble/ensemble_files.h"
#include "app/resumed_job.h"
#include "engine/base/error.h"
#include "io/checkpoint.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

struct Time {
  std::string record;      // of exchanges
  std::uint64_t step = 0;  // of the last one
  bool complete = false;   // the system had come to its end
};

/// Of a checkpoint; nothing: there is none, or it cannot be gone on from.
std::optional<Time> time_of(const fs::path& checkpoint) {
  std::error_code ignored;
  if (!fs::exists(checkpoint, ignored)) return {};
  try {
    Checkpoint c = read_checkpoint(checkpoint);
    Time time{c.facts["ensemble"], 0, standing_of(c.records).complete};
    const Json record = Json::parse(time.record, nullptr, false);
    if (!record.is_object()) return {};
    time.step = record.value("last_step", std::uint64_t(0));
    return time;
  } catch (const UserError&) {
    return {};
  }
}

struct Checkpoints {
  std::array<std::optional<Time>, 2> times;  // of the newest and of the one before
  std::optional<bool> ended;                 // system_ended()

  bool any() const { return times[0] || times[1]; }
  /// Whether it must be there: a complete system may have been without checkpoints.
  bool needed() const { return ended != false && !(ended == true && !any()); }
  /// Which of them belongs to this time; -1: none.
  int fitting(const Time& t) const {
    for (int j = 0; j < 2; ++j)
      if (const auto& own = times[std::size_t(j)];
          own && (own->record == t.record || (own->complete && own->step < t.step)))
        return j;
    return -1;
  }
};

std::optional<Time> newest_common(const std::vector<Checkpoints>& systems) {
  std::optional<Time> found;
  for (const Checkpoints& one : systems)
    for (const auto& time : one.times)
      if (time && one.needed() && (!found || time->step > found->step) &&
          std::ranges::all_of(systems,
                              [&](const auto& s) { return !s.needed() || s.fitting(*time) >= 0; }))
        found = time;
  return found;
}

/// Names a system without a checkpoint, or two whose checkpoints do not go together.
[[noreturn]] void refuse(const EnsembleContext& ensemble, const std::vector<Checkpoints>& systems) {
  const std::string folder = ensemble.options.output_directory.string();
  const auto name = [&](auto it) { return ensemble.variations.name(it - systems.begin()); };
  const auto none =
      std::ranges::find_if(systems, [](const auto& s) { return s.needed() && !s.any(); });
  if (none != systems.end())
    throw UserError(
        fmt::format("{}: system {} has no checkpoint to go on from; perrin run --overwrite "
                    "begins the ensemble anew",
                    folder, name(none)));
  const auto first = std::ranges::find_if(systems, &Checkpoints::needed);
  const Time& time = first->times[0] ? *first->times[0] : *first->times[1];
  const auto other = std::find_if(first + 1, systems.end(), [&](const Checkpoints& s) {
    return s.needed() && s.fitting(time) < 0;
  });
  throw UserError(fmt::format(
      "{}: the checkpoints of systems {} and {} are of times between which replicas were "
      "exchanged: they do not go together",
      folder, name(first), other == systems.end() ? "others" : name(other)));
}

}  // namespace

CommonTime find_common_time(const EnsembleContext& ensemble) {
  const auto n = std::size_t(ensemble.variations.count());
  std::vector<Checkpoints> systems(n);
  std::optional<Time> time;
  for (std::size_t j = 0; j < 2 && !time; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      const fs::path newest = ensemble.checkpoint(std::int64_t(k));
      systems[k].times[j] = time_of(j == 0 ? newest : previous_checkpoint(newest));
      systems[k].ended = system_ended(ensemble.folder(std::int64_t(k)));
    }
    time = newest_common(systems);
  }
  CommonTime common{std::vector<Start>(n, Start::newest), {}};
  const bool anew = !time;
  if (anew) {
    if (std::ranges::none_of(systems, [](const auto& s) { return !s.ended.has_value(); }))
      return common;  // nothing was under way
    std::error_code ignored;
    if (fs::exists(ensemble.options.output_directory / exchange_file_name, ignored))
      refuse(ensemble, systems);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Checkpoints& s = systems[k];
    bool undone = anew;
    if (anew) {
      common.starts[k] = Start::anew;
    } else if (const int j = s.fitting(*time); j >= 0) {
      common.starts[k] = j == 1 ? Start::previous : Start::newest;
      undone = !s.times[std::size_t(j)]->complete;
    } else if (s.ended == false) {
      common.starts[k] = Start::left_out;
    }
    if (s.ended == true && undone) common.undone.push_back(std::int64_t(k));
  }
  return common;
}

std::string to_text(const CommonTime& time) {
  std::vector<int> starts;
  for (const Start start : time.starts) starts.push_back(int(start));
  return Json{{"starts", starts}, {"undone", time.undone}}.dump();
}

CommonTime common_time_of(const std::string& text) {
  const Json all = Json::parse(text);
  CommonTime time{{}, all["undone"].get<std::vector<std::int64_t>>()};
  for (const Json& start : all["starts"]) time.starts.push_back(Start(start.get<int>()));
  return time;
}

}  // namespace perrin
