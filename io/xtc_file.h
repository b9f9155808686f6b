// A file of frames in GROMACS's XTC format that an observer owns: positions and box alone, small.
#pragma once

#include <optional>
#include <string>

#include "io/appended_file.h"
#include "io/h5md_file.h"
#include "io/output_file.h"
#include "io/xtc_coder.h"

namespace perrin::io {

/// Appends frames. A frame is one write; a process that is killed within it leaves the beginning of
/// a frame behind the others, which the resumed run cuts off.
class XtcAppender {
 public:
  static void create(const std::string& path, bool overwrite);
  /// Cuts the file to `frames` frames, the last of which must be that of `last_step`. Throws
  /// UserError.
  static void trim(const std::string& path, const JobRecord& record, std::int64_t frames,
                   std::int64_t last_step);

  /// `length`, `time`: what the job's numbers are multiplied by; `precision`: parts of a unit;
  /// `threads`: how many compress a frame.
  XtcAppender(const std::string& path, double length, double time, double precision, int threads);
  void append(const H5mdFrame& frame);
  void flush_to_disk() { file_.sync(); }

 private:
  void write(const H5mdFrame& frame);

  AppendedFile file_;
  std::uint64_t end_;
  double length_, time_;
  XtcCoder coder_;
};

class XtcFile : public OutputFile<XtcAppender> {
 public:
  /// `path`: what Setup::output_file() returned. `decimals`: digits after the point that
  /// coordinates keep, in nm; in reduced units in those.
  XtcFile(std::filesystem::path path, int decimals, const Setup& setup);
  void open(bool resumed, const Configuration& configuration);
  /// Queues a frame, with its positions in double precision.
  void append(H5mdFrame frame);
  void state(Archive& archive) { save_or_restore(archive, "frames"); }

 private:
  double precision_;
  int threads_;
};

}  // namespace perrin::io
