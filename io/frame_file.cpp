#include "io/frame_file.h"

namespace perrin::io {

FrameFile::FrameFile(std::filesystem::path path, const H5mdLayout& layout, const Setup& setup,
                     const Units& units, const std::string& author)
    : OutputFile(std::move(path), setup, units), layout_(layout) {
  if (author.empty()) return;
  JobRecord own = *record_;
  own.author = author;
  record_ = std::make_shared<const JobRecord>(std::move(own));
}

void FrameFile::open(bool resumed, const Configuration& configuration) {
  const std::string path = path_.string();
  make_or_trim(
      resumed,
      [&] { H5mdWriter::create(path, configuration, layout_, *record_, units_, overwrite_); },
      [&] { return std::make_shared<H5mdWriter>(path); });
}

void FrameFile::append(H5mdFrame frame) {
  const std::int64_t step = frame.step;
  const std::size_t bytes = 4 * (frame.position.size() + frame.velocity.size() +
                                 frame.force.size() + frame.image.size() + frame.species.size());
  push(step, bytes, [frame = std::move(frame)](H5mdWriter& file) { file.append(frame); });
}

}  // namespace perrin::io
