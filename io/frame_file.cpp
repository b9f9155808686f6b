#include "io/frame_file.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/system/changed_since.h"

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
  const std::size_t bytes = frame.bytes();
  push(step, bytes, [frame = std::move(frame)](H5mdWriter& file) { file.append(frame.arrived()); });
}

void FrameFile::state(Archive& archive) {
  save_or_restore(archive, "frames");
  std::string now, before;
  for (const auto& [name, has] :
       {std::pair("velocity ", layout_.velocity), std::pair("force ", layout_.force),
        std::pair("image ", layout_.image), std::pair("orientation ", layout_.orientation),
        std::pair("angular_momentum ", layout_.angular_momentum),
        std::pair("torque ", layout_.torque), std::pair("species ", layout_.moving_species),
        std::pair("id ", layout_.moving_ids), std::pair("unwrapped ", layout_.unwrapped),
        std::pair("double ", layout_.fine_positions),
        std::pair("bonds ", layout_.dynamic_bonds.has_value())})
    if (has) now += name;
  for (const std::string& name : layout_.changing_attributes) now += name + " ";
  if (changed_since(archive, "layout", now, &before) && !path_.empty())
    throw UserError(
        fmt::format("{}: its frames hold \"position {}\"; a resumed run cannot write "
                    "\"position {}\" into it",
                    path_.string(), before, now));
}

}  // namespace perrin::io
