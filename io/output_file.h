// A file of a run that grows: made or continued, appended to, flushed, closed. Whoever owns one
// says when; the writer's thread (io/writer.h) does it, in the process that writes files
// (io/new_file.h): in the others rows and frames are only counted. Errors of queued work are thrown
// by the next append() or flush().
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/setup.h"
#include "engine/system/archive.h"
#include "io/new_file.h"
#include "io/writer.h"

namespace perrin::io {

/// What files of rows (io/observable_file.h) and of frames (io/frame_file.h) have in common.
/// W: ObservablesWriter or H5mdWriter.
template <class W>
class OutputFile {
 public:
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool is_open() const { return open_; }
  /// Of the last row or frame; -1 where there is none yet.
  std::int64_t last_step() const { return last_step_; }
  /// How pairs are found (Simulation::neighbor_report()), in place of what the file says of it.
  void write_neighbors(const std::string& report) {
    if (file_) writer().push([file = file_, report] { file->write_neighbors(report); });
  }
  /// At which step each stage of the job began and what it has warned of
  /// (StageLog), likewise: those that have changed since the last
  /// call.
  void write_stages(const std::vector<std::int64_t>& steps,
                    const std::vector<std::string>& remarks) {
    if (!file_) return;
    const bool first = stage_steps_.size() != steps.size();
    if (first) stage_steps_.assign(steps.size(), -1), stage_remarks_.assign(steps.size(), "");
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (!first && stage_steps_[k] == steps[k] && stage_remarks_[k] == remarks[k]) continue;
      stage_steps_[k] = steps[k], stage_remarks_[k] = remarks[k];
      writer().push([file = file_, n = steps.size(), k, step = steps[k], remark = remarks[k]] {
        file->write_stage(n, k, step, remark);
      });
    }
  }
  /// Waits until everything is on the disk. Throws what has gone wrong with this file.
  void flush() {
    writer().wait();
    if (file_) writer().call([&] { file_->flush_to_disk(); });
  }

 protected:
  /// An empty path: there is no file, and all calls do nothing.
  OutputFile(std::filesystem::path path, const Setup& setup, Units units)
      : path_(std::move(path)),
        record_(setup.record()),
        units_(std::move(units)),
        overwrite_(setup.overwrite()),
        resuming_(setup.resuming()) {}
  ~OutputFile() {
    if (!file_) return;
    try {
      writer().call([&] { file_.reset(); });
    } catch (...) {  // told before, or the run is going down for another reason
    }
  }

  /// resumed: cut to what the checkpoint knows of it, after `check`, which throws UserError where
  /// it is another file; else made by `create`. Then `open` returns its W. A file of a stage that
  /// began behind the checkpoint is cut to nothing.
  template <class Create, class Open, class Check>
  void make_or_trim(bool resumed, const Create& create, const Open& open, const Check& check) {
    if (open_ || path_.empty()) return;
    open_ = true;
    if (!writes_files()) return;
    writer().call([&] {
      if (resumed || (resuming_ && std::filesystem::exists(path_))) {
        check();
        W::trim(path_.string(), *record_, count_, last_step_);
      } else {
        create();
      }
      file_ = open();
    });
  }
  /// Queues append(W&), which holds `bytes` bytes; does nothing if this step is there already.
  template <class Append>
  void push(std::int64_t step, std::size_t bytes, Append append) {
    if (step == last_step_) return;
    if (file_) writer().push([file = file_, append = std::move(append)] { append(*file); }, bytes);
    last_step_ = step;
    ++count_;
  }
  /// `name`: of what is counted. A checkpoint waits until the disk has all of it. Whether a
  /// restored file agrees, trim() looks.
  void save_or_restore(Archive& archive, const char* name) {
    if (archive.is_saving() && file_) flush();
    archive(name, count_);
    archive("last_step", last_step_);
    archive.require(count_ >= 0, name, "at least 0");
    archive.require(count_ == 0 ? last_step_ == -1 : last_step_ >= 0, "last_step",
                    "the step of the last one, or -1 if there is none");
  }

  std::filesystem::path path_;
  std::shared_ptr<const JobRecord> record_;
  Units units_;
  bool overwrite_, resuming_;

 private:
  std::int64_t count_ = 0, last_step_ = -1;
  std::vector<std::int64_t> stage_steps_;  // of which file_ has been told
  std::vector<std::string> stage_remarks_;
  bool open_ = false;
  std::shared_ptr<W> file_;  // touched on the writer's thread alone
};

}  // namespace perrin::io
