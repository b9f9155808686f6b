// Writes DCD (io/dcd_layout.h): positions and boxes.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "io/cell_angles.h"
#include "io/corner_frame.h"
#include "io/dcd_layout.h"
#include "io/formats.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

class DcdWriter : public FrameWriter {
 public:
  DcdWriter(const std::string& path, const Frame& first)
      : path_(path),
        out_(path),
        n_(first.configuration.position.size()),
        named_(!length_unit(first).empty()) {
    // The marker of a record holds its length in 31 bits.
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() / 4;
    if (n_ > most)
      throw UserError(
          fmt::format("{}: DCD frames hold at most {} particles, got {}", path, most, n_));
    write_head();
  }

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    if (c.position.size() != n_)
      throw UserError(fmt::format(
          "{}: a frame of {} particles after frames of {}: DCD has the same number in all; use "
          "single frames (--frame)",
          path_, c.position.size(), n_));
    const CornerFrame corner = corner_frame(frame, "Angstrom", path_);
    const double length = factor_to(length_unit(frame), "Angstrom", path_);
    const CellAngles cell = cell_angles(c.box);
    const std::array numbers{cell.length.x * length, cell.cosine.z, cell.length.y * length,
                             cell.cosine.y,          cell.cosine.x, cell.length.z * length};
    record(numbers.data(), sizeof numbers);
    std::vector<float> along(n_);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t i = 0; i < n_; ++i) {
        along[i] = float(corner.position[3 * i + axis]);
        if (!std::isfinite(along[i]))
          throw UserError(fmt::format("{}: coordinate {} of particle {} is {:g}, beyond float32",
                                      path_, "xyz"[axis], i, corner.position[3 * i + axis]));
      }
      record(along.data(), 4 * n_);
    }
    steps_.push_back(c.step);
    times_.push_back(frame.time * factor_to(time_unit(frame), "ps", path_));
  }

  void finish() override {
    even_ = steps_are_even();
    if (!even_)
      for (std::size_t k = 0; k < steps_.size(); ++k) steps_[k] = std::int64_t(k);
    if (steps_.size() > 1)
      timestep_ = (times_.back() - times_[0]) / double(steps_.back() - steps_[0]);
    else if (!steps_.empty() && steps_[0] != 0)
      timestep_ = times_[0] / double(steps_[0]);
    if (!std::isfinite(timestep_)) timestep_ = 0;
    out_.seek(0);
    write_head();
    out_.close();
  }

  std::vector<std::string> lost_between() const override {
    std::vector<std::string> lost;
    if (!even_)
      lost.emplace_back(
          "steps are left out, and frames counted from 0: DCD has equal numbers of steps between "
          "frames, below 2^31");
    for (std::size_t k = 0; k < times_.size(); ++k)
      if (!(std::abs(times_[k] - double(steps_[k]) * timestep_) <=
            1e-5 * std::abs(times_.back()))) {
        lost.emplace_back("times are not kept: DCD has multiples of one timestep, from step 0");
        break;
      }
    return lost;
  }

 private:
  bool steps_are_even() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (steps_[k] < 0 || steps_[k] > most) return false;
      if (k > 0 && (steps_[k] - steps_[k - 1] != steps_[1] - steps_[0] || steps_[1] <= steps_[0]))
        return false;
    }
    return true;
  }

  void record(const void* data, std::size_t bytes) {
    const auto marker = std::uint32_t(bytes);
    out_.put(&marker, sizeof marker);
    out_.put(data, bytes);
    out_.put(&marker, sizeof marker);
  }

  /// Before the first frame and, when steps are known, once more.
  void write_head() {
    std::array<std::int32_t, 20> numbers{};
    numbers[dcd_frames] = std::int32_t(steps_.size());
    if (!steps_.empty()) {
      numbers[dcd_first_step] = std::int32_t(steps_[0]);
      numbers[dcd_last_step] = std::int32_t(steps_.back());
    }
    numbers[dcd_stride] = steps_.size() > 1 ? std::int32_t(steps_[1] - steps_[0]) : 1;
    numbers[dcd_timestep] = std::bit_cast<std::int32_t>(float(timestep_ / dcd_time_unit));
    numbers[dcd_has_cell] = 1;
    numbers[dcd_version] = 24;
    std::array<char, dcd_header_bytes> head{'C', 'O', 'R', 'D'};
    std::memcpy(head.data() + 4, numbers.data(), sizeof numbers);
    record(head.data(), head.size());
    std::string title = named_ ? dcd_named : dcd_unnamed;
    title.resize(dcd_title_bytes, ' ');
    const std::int32_t titles = 1;
    std::array<char, 4 + dcd_title_bytes> text;
    std::memcpy(text.data(), &titles, sizeof titles);
    std::memcpy(text.data() + 4, title.data(), title.size());
    record(text.data(), text.size());
    const auto n = std::int32_t(n_);
    record(&n, sizeof n);
  }

  std::string path_;
  TextFile out_;
  std::size_t n_;
  bool named_, even_ = true;
  double timestep_ = 0;              // ps
  std::vector<std::int64_t> steps_;  // of each frame, as the file will have them
  std::vector<double> times_;        // ps
};

}  // namespace

std::unique_ptr<FrameWriter> write_dcd(const std::string& path, const Frame& first,
                                       const WriteOptions&) {
  return std::make_unique<DcdWriter>(path, first);
}

}  // namespace perrin::io
