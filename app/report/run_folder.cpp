#include "app/report/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/ensemble/ensemble_files.h"
#include "app/ensemble/ensemble_store.h"
#include "app/report/frame_view.h"
#include "app/report/observables.h"
#include "app/report/record.h"
#include "app/report/standing.h"
#include "engine/base/error.h"
#include "engine/job/plugin.h"
#include "engine/settings/output_names.h"
#include "io/hdf5_values.h"
#include "io/writer.h"

namespace perrin::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_views = 4;

bool ends_in(const fs::path& file, std::initializer_list<const char*> extensions) {
  const auto is = [&](const char* e) { return file.extension() == e; };
  return std::any_of(extensions.begin(), extensions.end(), is);
}

/// One frame in two formats is one picture.
bool same_frame(const Json& a, const Json& b) {
  return a["step"] == b["step"] && a["particles"] == b["particles"] && a["types"] == b["types"] &&
         a["skipped"] == b["skipped"];
}

class Folder {
 public:
  explicit Folder(const fs::path& folder) : folder_(folder) {
    std::vector<fs::path> files;
    std::error_code gone;  // a run that goes on makes and renames files
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_regular_file(gone)) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) take(file);
    take_stored();
    if (page_["files"].empty())
      throw UserError(
          fmt::format("{}: no output files of a run: expected trajectories (.h5, .gsd, .xtc), "
                      "tables or checkpoints",
                      folder.string()));
  }

  Json page() {
    const Record& main = records_.empty() ? Record() : records_.front().first;
    Json runs = Json::array();
    for (const auto& [record, files] : records_) {
      Json run = record.facts;
      run["files"] = files;
      run["job"] = record.job;
      runs.push_back(run);
    }
    page_["runs"] = runs;
    page_["stages"] = stages_of(main);
    page_["standing"] = standing(folder_, main, checkpoint_, last_);
    page_["wall_time"] = wall_time_ > 0 ? Json(wall_time_) : Json();
    take_timings();
    page_["folder"] = fs::absolute(folder_).lexically_normal().string();
    page_["version"] = engine_version();
    page_["made"] = std::chrono::duration_cast<std::chrono::seconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
    return std::move(page_);
  }

 private:
  /// Of the log, which is written last, else of the checkpoint.
  void take_timings() {
    const auto take = [&](const std::string& text, const std::string& file) {
      Json timings = json_of(text);
      // Anybody may have written a log: what the page reckons with must be there.
      for (const char* part :
           {"neighbors", "forces", "integration", "output", "total", "steps", "particles"})
        if (!timings.is_object() || !timings.contains(part) || !timings[part].is_number())
          return false;
      timings["file"] = file;
      page_["timings"] = std::move(timings);
      return true;
    };
    if (!take(log_timings_, log_name) && checkpoint_)
      take(checkpoint_->timings, fs::path(checkpoint_->file).filename().string());
  }

  void take(const fs::path& file) {
    std::error_code gone;
    const auto bytes = std::int64_t(fs::file_size(file, gone));
    if (gone) return;
    Json row = {{"name", file.filename().string()}, {"bytes", bytes}};
    try {
      if (ends_in(file, {".part"}))
        row["kind"] = "incomplete: the run was killed while it created the file";
      else if (ends_in(file, {".journal"}))
        row["kind"] = "journal of an interrupted write: perrin resume completes it";
      else if (ends_in(file, {".prev"}))
        row["kind"] = "previous checkpoint";
      else if (file.filename() == log_name)
        row["kind"] = "log", log_timings_ = timings_of_log(file);
      else if (ends_in(file, {".xtc"}))
        row["kind"] = "trajectory (XTC, not shown)";
      else if (ends_in(file, {".gsd"}))
        row["kind"] = "trajectory", add_trajectory(file, "gsd");
      else if (ends_in(file, {".h5", ".h5md", ".hdf5"}))
        row["kind"] = take_hdf5(file);
      else
        return;
    } catch (const std::exception& e) {
      if (!row.contains("kind")) row["kind"] = "";
      row["problem"] = e.what();
    }
    page_["files"].push_back(row);
  }

  /// Of a system of an ensemble: what its folder does not have and ensemble.h5 has.
  void take_stored() {
    const fs::path system = fs::absolute(folder_).lexically_normal(),
                   own = system.has_filename() ? system : system.parent_path(),
                   store = own.parent_path() / ensemble_store_name;
    std::error_code gone;
    if (!is_ensemble_folder(own.parent_path()) || !fs::exists(store, gone)) return;
    io::writer().call([&] {
      const io::File opened = io::File::read(store.string());
      const std::string path = "systems/" + own.filename().string();
      if (!opened.root().has(path)) return;
      const io::Node group = opened.root().open(path);
      for (const std::string& name : io::read_text_attribute(group, "files")) {
        if (fs::exists(own / name, gone)) continue;
        Json row = {{"name", name}, {"bytes", 0}, {"kind", "in ensemble.h5"}};
        try {
          const Parts parts = take_root(group.open(name), name);
          if (parts.trajectory) row["kind"] = "trajectory, in ensemble.h5 (not shown)";
          if (parts.observables) row["kind"] = "table, in ensemble.h5";
        } catch (const std::exception& e) {
          row["problem"] = e.what();
        }
        page_["files"].push_back(row);
      }
    });
  }

  struct Parts {
    bool trajectory = false, observables = false;
  };
  /// Of the root of a file, or of a group that holds what a file does. On the writer's thread.
  Parts take_root(const io::Node& root, const std::string& name) {
    const Record record = record_of(root);
    add_record(record, name);
    wall_time_ = std::max(wall_time_, record.wall_time);
    const auto has = [&](const char* group) {
      return root.has(group) && !root.open(group).children().empty();
    };
    const Parts parts{has("particles"), has("observables")};
    if (parts.trajectory) look_at_steps(root);
    if (!parts.observables) return parts;
    Json seen = observables_of(root, record);
    seen["file"] = name;
    if (seen["last_step"].is_number()) note_step(seen["last_step"], seen["stride"]);
    page_["observables"].push_back(std::move(seen));
    return parts;
  }

  std::string take_hdf5(const fs::path& file) {
    const std::string name = file.filename().string();
    bool checkpoint = false;
    Parts parts;
    io::writer().call([&] {
      const io::File opened = io::File::read(file.string());
      checkpoint = opened.root().has_attribute("perrin_checkpoint");
      if (!checkpoint) parts = take_root(opened.root(), name);
    });
    const auto [trajectory, observables] = parts;
    if (checkpoint) {
      const CheckpointNote note = read_checkpoint_note(file.string());
      if (!checkpoint_ || note.step >= checkpoint_->step) checkpoint_ = note;
      return "checkpoint";
    }
    if (trajectory) add_trajectory(file, "h5md");
    return trajectory ? "trajectory" : observables ? "table" : "other HDF5 file";
  }

  void add_record(const Record& record, const std::string& file) {
    if (record.job.empty()) return;
    for (auto& [known, files] : records_)
      if (known.same_run(record)) {
        files.push_back(file);
        // A table that was made last may know of stages that others do not.
        if (known.stages.empty()) known.stages = record.stages;
        if (known.remarks.empty()) known.remarks = record.remarks;
        return;
      }
    records_.emplace_back(record, std::vector{file});
  }

  void note_step(std::int64_t step, std::int64_t stride) {
    if (step > last_.step) last_ = {step, stride};
  }
  void look_at_steps(const io::Node& root) {
    for (const std::string& name : root.open("particles").children()) {
      const std::string path = "particles/" + name + "/position/step";
      if (!root.has(path)) continue;
      const auto steps = io::read_integers<std::int64_t>(root.open(path));
      if (steps.empty()) continue;
      note_step(steps.back(), steps.size() > 1 ? steps.back() - steps[steps.size() - 2] : 0);
    }
  }

  void add_trajectory(const fs::path& file, const std::string& format) {
    if (page_["trajectories"].size() >= most_views)
      throw UserError(fmt::format("not shown: at most {} trajectories are", most_views));
    Json view = frame_view(file.string(), format);
    view["file"] = file.filename().string();
    view["also"] = Json::array();
    for (Json& other : page_["trajectories"])
      if (same_frame(other, view)) {
        other["also"].push_back(view["file"]);
        return;
      }
    page_["trajectories"].push_back(std::move(view));
  }

  fs::path folder_;
  Json page_ = {{"files", Json::array()},
                {"observables", Json::array()},
                {"trajectories", Json::array()},
                {"timings", nullptr}};
  std::vector<std::pair<Record, std::vector<std::string>>> records_;
  std::optional<CheckpointNote> checkpoint_;
  LastStep last_;
  std::string log_timings_;  // JSON
  double wall_time_ = 0;
};

}  // namespace

Json run_folder(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw UserError(fmt::format("{}: {}: perrin report takes the folder of a run", folder.string(),
                                fs::exists(folder) ? "is not a folder" : "no such folder"));
  return Folder(folder).page();
}

}  // namespace perrin::report
