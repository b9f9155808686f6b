// Writes GRO files of GROMACS: positions in nm and velocities in nm/ps in columns, one frame after
// another (GROMACS reference manual, "File formats", gro).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "io/corner_frame.h"
#include "io/formats.h"
#include "io/particle_labels.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

constexpr std::size_t gro_name_columns = 5;

class GroWriter : public FrameWriter {
 public:
  GroWriter(const std::string& path, const Frame& first, int decimals)
      : path_(path),
        out_(path),
        decimals_(decimals),
        first_residue_(residue_offset(first.configuration)) {
    if (decimals < 1)
      throw UserError(fmt::format(
          "{}: --decimals {}: expected 1 to 9 for GRO, whose readers look for the points", path,
          decimals));
  }

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    check_words(c.types, path_);
    const CornerFrame corner = corner_frame(frame, "nm", path_);
    const double time = frame.time * factor_to(time_unit(frame), "ps", path_);
    const double velocity = c.velocity.empty() ? 1 : velocity_factor(frame.units);
    out_.put(fmt::format("Perrin, t= {:.5f} step= {}\n{:5}\n", time, c.step, c.position.size()));
    std::vector<std::string> names;
    for (const std::string& type : c.types) names.push_back(label_of(type, gro_name_columns));
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      std::string row =
          fmt::format("{:5}{:<5}{:>5}{:5}", residue_number(c, i, first_residue_, 100000),
                      residue_name, names[c.type[i]], (i + 1) % 100000);
      for (std::size_t axis = 0; axis < 3; ++axis)
        row += column(corner.position[3 * i + axis], decimals_, "coordinate", axis, i);
      for (std::size_t axis = 0; axis < 3 && !c.velocity.empty(); ++axis)
        row += column(c.velocity[i][int(axis)] * velocity, decimals_ + 1, "velocity", axis, i);
      out_.put(row + "\n");
    }
    write_box(c.box, corner.edges);
  }
  void finish() override { out_.close(); }

 private:
  double velocity_factor(const FrameUnits& units) const {
    if (units.empty()) return 1;
    if (units.velocity.empty())
      throw UserError(path_ +
                      ": velocities without a unit, although the input names others; "
                      "--no-velocities leaves them out");
    return factor_to(units.velocity, "nm ps-1", path_);
  }

  /// A number in columns whose width the position of the points tells.
  std::string column(double value, int decimals, const char* what, std::size_t axis,
                     std::size_t particle) const {
    const auto width = std::size_t(decimals_) + 5;
    std::string text = fmt::format("{:{}.{}f}", value, width, decimals);
    if (text.size() > width)
      throw UserError(fmt::format(
          "{}: {} {} of particle {} is {:g} {}: expected what fits into the {} columns of GRO",
          path_, what, "xyz"[axis], particle, value, decimals == decimals_ ? "nm" : "nm/ps",
          width));
    return text;
  }

  /// xx yy zz, and where it is tilted xy xz yx yz zx zy: of the edges, the first letter names the
  /// edge.
  void write_box(const Box& box, const std::array<double, 9>& e) {
    const int decimals = std::max(5, decimals_);
    std::string line;
    const auto put = [&](std::initializer_list<double> numbers) {
      for (const double number : numbers)
        line += fmt::format(" {:{}.{}f}", number, decimals + 4, decimals);
    };
    put({e[0], e[4], e[8]});
    if (!box.orthogonal()) put({e[1], e[2], e[3], e[5], e[6], e[7]});
    out_.put(line + "\n");
  }

  std::string path_;
  TextFile out_;
  int decimals_;
  std::uint32_t first_residue_;
};

}  // namespace

FileFormat gro_format() {
  return {"gro",
          {".gro"},
          false,
          true,
          [](std::string_view) { return false; },
          nullptr,
          [](const std::string& path, const Frame& first,
             const WriteOptions& options) -> std::unique_ptr<FrameWriter> {
            return std::make_unique<GroWriter>(path, first, options.decimals);
          },
          [](const Frame& frame) {
            std::vector<std::string> list{
                "everything but positions, velocities, box, types and molecules is left out"};
            if (!frame.configuration.id.empty())
              list.emplace_back("ids of particles are left out: GRO counts from 1");
            for (auto& lost : lost_labels(frame.configuration, gro_name_columns, "GRO"))
              list.push_back(std::move(lost));
            return list;
          }};
}

}  // namespace perrin::io
