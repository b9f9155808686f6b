#include "io/xtc_file.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "engine/base/error.h"
#include "io/continued_file.h"
#include "io/file_units.h"
#include "io/new_file.h"
#include "io/text_file.h"
#include "io/xtc_coder.h"

namespace perrin::io {

/// Throws UserError where the first frame of a file has other than n particles.
static void check_particles(const std::string& path, std::size_t n) {
  const RawFile<UserError> file(path, O_RDONLY);
  std::vector<unsigned char> head(8);
  if (file.size() < head.size()) return;
  file.read(0, head.data(), head.size());
  std::uint32_t particles = 0;  // the second word, its highest byte first
  for (std::size_t k = 4; k < 8; ++k) particles = particles << 8 | head[k];
  if (particles != n)
    refuse_to_continue(path, fmt::format("it has {} particles, expected {}", particles, n));
}

void XtcAppender::create(const std::string& path, bool overwrite) {
  NewFile place(path);
  TextFile(place.aside()).close();
  place.put_in_place(overwrite);
}

void XtcAppender::trim(const std::string& path, const JobRecord&, std::int64_t frames,
                       std::int64_t last_step) {
  const RawFile<UserError> file(path, O_RDONLY);
  std::uint64_t end = 0;
  std::int32_t step = 0;
  for (std::int64_t k = 0; k < frames; ++k) {
    std::vector<unsigned char> head(std::min<std::uint64_t>(xtc_head, file.size() - end));
    file.read(end, head.data(), head.size());
    const std::uint64_t size = xtc_frame_size(head, step);
    if (size == 0 || size > file.size() - end)
      throw UserError(
          fmt::format("{}: cannot be continued: the checkpoint counts {} frames, the file has {}",
                      path, frames, k));
    end += size;
  }
  if (frames > 0 && step != std::int32_t(last_step))
    throw UserError(fmt::format(
        "{}: cannot be continued: its frame {} is of step {}, the checkpoint's of step {}", path,
        frames - 1, step, last_step));
  if (frames == 0 && file.size() > 0) {  // which nothing else says to be ours
    std::vector<unsigned char> head(std::min<std::uint64_t>(xtc_head, file.size()));
    file.read(0, head.data(), head.size());
    // A run that was killed may have left less than a frame's head.
    if (xtc_frame_size(head, step) == 0 && head.size() == xtc_head)
      throw UserError(path + ": cannot be continued: it is not an XTC file");
  }
  RawFile<> shorter(path, O_RDWR);
  shorter.set_size(end);
  shorter.sync_and_close();
}

XtcAppender::XtcAppender(const std::string& path, double length, double time, double precision,
                         int threads)
    : file_(path),
      end_(file_.size()),
      length_(length),
      time_(time),
      coder_(precision, path, threads) {}

void XtcAppender::append(const H5mdFrame& frame) {
  file_.write_frame([&] { write(frame); });
}

void XtcAppender::write(const H5mdFrame& frame) {
  XtcFrame out;
  out.step = frame.step;
  out.time = frame.time * time_;
  for (std::size_t k = 0; k < 9; ++k) out.edges[k] = frame.edges[k] * length_;
  out.position = frame.fine_position;
  out.scale = length_;
  const auto bytes = coder_.frame(out);
  file_.write(end_, bytes.data(), bytes.size());
  end_ += bytes.size();
}

XtcFile::XtcFile(std::filesystem::path path, int decimals, const Setup& setup)
    : OutputFile(std::move(path), setup, setup.units()),
      precision_(std::pow(10.0, decimals)),
      threads_(setup.device().threads()) {}

void XtcFile::open(bool resumed, const Configuration& configuration) {
  const std::string path = path_.string();
  const FileUnit length = file_length(units_), time = file_time(units_);
  const double to_nm = length.name.empty() ? 1 : convert_unit(length.name, "nm", path);
  make_or_trim(
      resumed, [&] { XtcAppender::create(path, overwrite_); },
      [&] {
        return std::make_shared<XtcAppender>(path, length.factor * to_nm, time.factor, precision_,
                                             threads_);
      },
      [&] { check_particles(path, configuration.position.size()); });
}

void XtcFile::append(H5mdFrame frame) {
  const std::int64_t step = frame.step;
  const std::size_t bytes = frame.bytes();
  push(step, bytes,
       [frame = std::move(frame)](XtcAppender& file) { file.append(frame.arrived()); });
}

}  // namespace perrin::io
