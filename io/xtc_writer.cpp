// XTC for `perrin convert`: written, never read, for it holds nothing but positions and the box.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/threads.h"
#include "io/corner_frame.h"
#include "io/formats.h"
#include "io/text_file.h"
#include "io/xtc_coder.h"

namespace perrin::io {
namespace {

class XtcWriter : public FrameWriter {
 public:
  XtcWriter(const std::string& path, int decimals)
      : path_(path), out_(path), coder_(std::pow(10.0, decimals), path, default_threads()) {}

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    if (c.position.size() > most_xtc_particles)
      throw UserError(fmt::format("{}: XTC frames hold at most {} particles, got {}", path_,
                                  most_xtc_particles, c.position.size()));
    const CornerFrame corner = corner_frame(frame, "nm", path_);
    XtcFrame out;
    out.step = c.step;
    out.time = frame.time * factor_to(time_unit(frame), "ps", path_);
    out.edges = corner.edges;
    out.position = corner.position;
    try {
      const auto bytes = coder_.frame(out);
      out_.put(bytes.data(), bytes.size());
    } catch (const XtcRange& range) {  // known before anything is computed
      throw UserError(range.what());
    }
  }
  void finish() override { out_.close(); }

 private:
  std::string path_;
  TextFile out_;
  XtcCoder coder_;
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
          [](const Frame& frame) {
            std::vector<std::string> list{"everything but positions and box is left out"};
            if (!std::in_range<std::int32_t>(frame.configuration.step))
              list.emplace_back("steps are not kept: XTC has the lowest 32 bits of them");
            return list;
          }};
}

}  // namespace perrin::io
