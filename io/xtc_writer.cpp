// XTC for `perrin convert`: written, never read, for it holds nothing but positions and the box.
#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.h"
#include "io/file_units.h"
#include "io/formats.h"
#include "io/text_file.h"
#include "io/xtc_coder.h"

namespace perrin::io {
namespace {

class XtcWriter : public FrameWriter {
 public:
  XtcWriter(const std::string& path, int decimals)
      : path_(path), out_(path), precision_(std::pow(10.0, decimals)) {}

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    if (c.position.size() > most_xtc_particles)
      throw UserError(fmt::format("{}: XTC frames hold at most {} particles, got {}", path_,
                                  most_xtc_particles, c.position.size()));
    const double length = factor(frame.units.length, "nm"), time = factor(frame.units.time, "ps");
    XtcFrame out;
    out.step = c.step;
    out.time = frame.time * time;
    const auto edges = c.box.edges();
    for (std::size_t k = 0; k < 9; ++k) out.edges[k] = edges[k / 3][int(k % 3)] * length;
    std::vector<double> position;
    position.reserve(3 * c.position.size());
    for (const Vec3<double>& at : c.position)
      for (int axis = 0; axis < 3; ++axis)
        position.push_back(c.box.dimension == 2 && axis == 2
                               ? 0.5 * length
                               : (at[axis] - c.box.origin[axis]) * length);
    out.position = position;
    try {
      const auto bytes = xtc_frame(out, precision_, path_);
      out_.put(bytes.data(), bytes.size());
    } catch (const XtcRange& range) {  // known before anything is computed
      throw UserError(range.what());
    }
  }
  void finish() override { out_.close(); }

 private:
  double factor(const std::string& unit, const char* to) const {
    return unit.empty() ? 1 : convert_unit(unit, to, path_);
  }

  std::string path_;
  TextFile out_;
  double precision_;
};

}  // namespace

FileFormat xtc_format() {
  return {"xtc",
          {".xtc"},
          false,
          true,
          [](std::string_view head) { return head.starts_with(std::string_view("\0\0\7\313", 4)); },
          nullptr,
          [](const std::string& path, const Frame&,
             const WriteOptions& options) -> std::unique_ptr<FrameWriter> {
            return std::make_unique<XtcWriter>(path, options.decimals);
          },
          [](const Frame&) {
            return std::vector<std::string>{"everything but positions and box is left out"};
          }};
}

}  // namespace perrin::io
