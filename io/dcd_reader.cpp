// Reads DCD: positions and boxes of all frames (io/dcd_layout.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "io/cell_angles.h"
#include "io/dcd_layout.h"
#include "io/formats.h"
#include "io/raw_file.h"
#include "io/turned_box.h"

namespace perrin::io {

namespace {

using Bytes = std::vector<unsigned char>;

/// A file of records in either order of bytes, with markers of 4 or 8 bytes.
class DcdRecords {
 public:
  explicit DcdRecords(const std::string& path) : path_(path), file_(path, O_RDONLY) {
    Bytes head(std::min<std::uint64_t>(12, file_.size()));
    file_.read(0, head.data(), head.size());
    head.resize(12);
    for (const std::size_t marker : {4u, 8u})
      for (const bool swapped : {false, true}) {
        marker_ = marker, swapped_ = swapped;
        if (number_at(head) == dcd_header_bytes && std::memcmp(&head[marker], "CORD", 4) == 0)
          return;
      }
    throw UserError(path +
                    ": is not a DCD file: expected a record of 84 bytes that begins with "
                    "\"CORD\"");
  }

  std::uint64_t size() const { return file_.size(); }
  /// What a record of so many bytes takes.
  std::uint64_t with_markers(std::uint64_t bytes) const { return bytes + 2 * marker_; }

  /// The record that begins at `at`, which goes to its end; `expected` bytes, unless 0.
  Bytes read(std::uint64_t& at, std::uint64_t expected, const std::string& what) const {
    const std::uint64_t n = marker(at, what);
    if (expected != 0 && n != expected)
      fail(at, fmt::format("{} of {} bytes, expected {}", what, n, expected));
    if (n > file_.size() || at + with_markers(n) > file_.size())
      fail(at, fmt::format("the file ends within {} of {} bytes", what, n));
    Bytes record(n);
    file_.read(at + marker_, record.data(), record.size());
    if (const std::uint64_t end = marker(at + marker_ + n, what); end != n)
      fail(at, fmt::format("{} begins as one of {} bytes and ends as one of {}", what, n, end));
    at += with_markers(n);
    return record;
  }

  /// The k-th number of a record, of which there are enough.
  template <class T>
  T number(const Bytes& record, std::size_t k) const {
    std::array<unsigned char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), record.data() + k * sizeof(T), sizeof(T));
    if (swapped_) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
  }

  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const {
    throw UserError(fmt::format("{}: byte {}: {}", path_, at, what));
  }

 private:
  std::uint64_t number_at(const Bytes& bytes) const {
    return marker_ == 4 ? number<std::uint32_t>(bytes, 0) : number<std::uint64_t>(bytes, 0);
  }
  std::uint64_t marker(std::uint64_t at, const std::string& what) const {
    if (at + marker_ > file_.size()) fail(at, fmt::format("the file ends here, expected {}", what));
    Bytes bytes(marker_);
    file_.read(at, bytes.data(), bytes.size());
    return number_at(bytes);
  }

  std::string path_;
  RawFile<UserError> file_;
  std::size_t marker_ = 4;
  bool swapped_ = false;
};

class DcdReader : public FrameReader {
 public:
  explicit DcdReader(const std::string& path) : FrameReader(path), records_(path) {
    std::uint64_t at = 0;
    read_header(records_.read(at, dcd_header_bytes, "the header"));
    read_titles(records_.read(at, 0, "the titles"));
    const std::uint64_t place = at;
    const Bytes count = records_.read(at, 4, "the number of particles");
    n_ = records_.number<std::int32_t>(count, 0);
    if (n_ < 1) records_.fail(place, fmt::format("{} particles, expected 1 or more", n_));
    begin_ = at;
    frame_bytes_ = 3 * records_.with_markers(4 * std::uint64_t(n_));
    if (has_cell_) frame_bytes_ += records_.with_markers(dcd_cell_bytes);
    const std::uint64_t rest = records_.size() - begin_;
    frames_ = std::int64_t(rest / frame_bytes_);
    if (rest % frame_bytes_ != 0)
      records_.fail(records_.size(),
                    fmt::format("the file ends within frame {}, after {} of its {} bytes", frames_,
                                rest % frame_bytes_, frame_bytes_));
  }

  std::int64_t frames() const override { return frames_; }

 protected:
  Frame get(std::int64_t index) override {
    Frame frame;
    Configuration& c = frame.configuration;
    c.step = first_step_ + index * stride_;
    frame.has_step = stride_ > 0;
    frame.time =
        std::isfinite(timestep_) ? double(c.step) * timestep_ * (lammps_ ? 1 : dcd_time_unit) : 0;
    frame.units = units_;
    if (!unnamed_ && units_.empty()) frame.convention = named_units();
    frame.may_be_flat = true;
    if (lammps_) frame.convention.time.clear();
    if (lammps_)
      c.warnings.emplace_back(
          "written by LAMMPS: times are in the unit of time of its script, which DCD does not say");
    c.warnings.emplace_back("DCD has no types: all particles are of type A");
    if (counted_ != frames_)
      c.warnings.push_back(
          fmt::format("the header counts {} frames, the file has {}", counted_, frames_));
    c.types = {"A"};
    c.type.assign(std::size_t(n_), 0);
    std::uint64_t at = begin_ + std::uint64_t(index) * frame_bytes_;
    const std::string where = fmt::format("frame {}: ", index);
    TurnedBox turned;
    turned.box.origin = {0, 0, 0};
    frame.has_box = has_cell_;
    if (has_cell_)
      frame.has_box = read_cell(records_.read(at, dcd_cell_bytes, where + "a box"), index, turned);
    c.box = turned.box;
    c.position.resize(std::size_t(n_));
    for (int axis = 0; axis < 3; ++axis) {
      const Bytes numbers = records_.read(at, 4 * std::uint64_t(n_), where + "coordinates");
      for (std::size_t i = 0; i < c.position.size(); ++i)
        c.position[i][axis] = double(records_.number<float>(numbers, i));
    }
    if (!turned.turned) return frame;
    for (auto& r : c.position) r = turned(r);
    c.warnings.emplace_back(
        "the box is rotated, with coordinates: the first edge to the x axis, the second into the "
        "xy plane");
    return frame;
  }

 private:
  static FrameUnits named_units() {
    FrameUnits units;
    units.length = "Angstrom", units.time = "ps";
    return units;
  }

  void read_header(const Bytes& record) {
    const auto number = [&](std::size_t k) { return records_.number<std::int32_t>(record, k + 1); };
    const auto refuse = [&](DcdNumber k, const char* what) {
      if (number(k) != 0)
        records_.fail(0, fmt::format("the header's number {} is {}: {} are not read", k + 1,
                                     number(k), what));
    };
    version_ = number(dcd_version);
    const bool charmm = version_ != 0;
    counted_ = number(dcd_frames), first_step_ = number(dcd_first_step);
    stride_ = number(dcd_stride);
    has_cell_ = charmm && number(dcd_has_cell) != 0;
    refuse(dcd_fixed, "files of fixed particles, where frames have the others alone,");
    if (charmm) refuse(dcd_has_fourth, "fourth coordinates");
    if (charmm) refuse(dcd_has_charges, "charges that change");
    if (charmm) {
      timestep_ = double(records_.number<float>(record, dcd_timestep + 1));
    } else {  // the 40th byte on: a double
      timestep_ = records_.number<double>(record, (dcd_timestep + 1) / 2);
    }
  }

  /// Perrin's own say their units. LAMMPS writes its timestep as it is, and not in CHARMM's unit.
  void read_titles(const Bytes& record) {
    const std::string text(record.begin(), record.end());
    const auto first = text.size() > 4 ? text.substr(4, dcd_title_bytes) : "";
    unnamed_ = first.starts_with(dcd_unnamed);
    if (first.starts_with(dcd_named)) units_ = named_units();
    lammps_ = text.find("Written by LAMMPS") != text.npos;
  }

  /// Whether there is a box. The numbers are A, gamma, B, beta, alpha, C, with angles in degrees or
  /// their cosines; or, of CHARMM since version 25, the symmetric matrix xx, xy, yy, xz, yz, zz.
  bool read_cell(const Bytes& record, std::int64_t index, TurnedBox& turned) const {
    std::array<double, 6> cell;
    for (std::size_t k = 0; k < 6; ++k) cell[k] = records_.number<double>(record, k);
    if (cell[0] == 0 && cell[2] == 0 && cell[5] == 0) return false;
    const std::array between{cell[4], cell[3], cell[1]};
    const auto all = [&](auto&& is) { return std::ranges::all_of(between, is); };
    const bool cosines = all([](double x) { return std::abs(x) <= 1; });
    const bool degrees = all([](double x) { return x > 0 && x < 180; });
    const bool right = all([](double x) { return x == 0; });
    const bool matrix = cosines ? version_ > 24 && !right : !degrees;
    const std::string where = fmt::format("{}, frame {}", path_, index);
    if (matrix) {
      const std::array<Vec3<double>, 3> edges{Vec3<double>{cell[0], cell[1], cell[3]},
                                              {cell[1], cell[2], cell[4]},
                                              {cell[3], cell[4], cell[5]}};
      turned = turn_box(edges, where);
      turned.box.origin = {0, 0, 0};
      return true;
    }
    CellAngles angles{{cell[0], cell[2], cell[5]}, {between[0], between[1], between[2]}};
    if (!cosines)
      for (int k = 0; k < 3; ++k) angles.cosine[k] = cosine_of(between[std::size_t(k)]);
    turned.box = box_from_angles(angles, where);
    return true;
  }

  DcdRecords records_;
  std::int32_t version_ = 0;
  std::int64_t n_ = 0, frames_ = 0, counted_ = 0, first_step_ = 0, stride_ = 0;
  std::uint64_t begin_ = 0, frame_bytes_ = 0;
  double timestep_ = 0;
  bool has_cell_ = false, unnamed_ = false, lammps_ = false;
  FrameUnits units_;
};

}  // namespace

FileFormat dcd_format() {
  return {"dcd",
          {".dcd"},
          false,
          true,
          [](std::string_view head) {
            for (const std::size_t marker : {4u, 8u})
              if (head.size() > marker + 4 && head.substr(marker, 4) == "CORD" &&
                  head.substr(0, marker).find(char(dcd_header_bytes)) != head.npos)
                return true;
            return false;
          },
          [](const std::string& path, const OpenOptions&) -> std::unique_ptr<FrameReader> {
            return std::make_unique<DcdReader>(path);
          },
          write_dcd,
          [](const Frame&) {
            return std::vector<std::string>{"everything but positions and box is left out"};
          }};
}

}  // namespace perrin::io
