#include "io/frame_file.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/system/changed_since.h"
#include "io/continued_file.h"
#include "io/hdf5.h"
#include "io/journal.h"

namespace perrin::io {
namespace {

/// Throws UserError where the frames of a file are not such of n particles.
void check_layout(const std::string& path, hsize_t n, const H5mdLayout& layout) {
  finish_changes(path);
  const File file = File::read(path);
  const Node& root = file.root();
  const auto need = [&](bool good, const std::string& what) {
    if (!good) refuse_to_continue(path, what);
  };
  const std::string all = "particles/all/";
  need(root.has(all + "position/value"), "it has no /" + all + "position/value");
  const Node position = root.open(all + "position/value");
  const Shape shape = position.shape();
  need(shape.size() == 3 && shape[2] == 3, "its positions have another shape");
  need(shape[1] == n, fmt::format("it has {} particles, expected {}", shape[1], n));
  const bool fine = H5Tget_size(Hid(H5Dget_type(position.id()))) == sizeof(double);
  need(fine == layout.fine_positions,
       fmt::format("its positions are in {} precision", fine ? "double" : "single"));
  need(position.has_attribute("rounded_to") == (layout.packing.filter == Packing::Filter::rounded),
       "its positions are rounded, or those of the observer");
  for (const auto& [name, wanted] :
       {std::pair("velocity", layout.velocity), std::pair("force", layout.force),
        std::pair("image", layout.image), std::pair("orientation", layout.orientation),
        std::pair("angular_momentum", layout.angular_momentum), std::pair("torque", layout.torque)})
    need(root.has(all + name) == wanted, fmt::format("it has {}{}", wanted ? "no " : "", name));
  for (const auto& [name, wanted] :
       {std::pair("species", layout.moving_species), std::pair("id", layout.moving_ids)})
    need(root.has(all + name) && !root.open(all + name).is_dataset() == wanted,
         fmt::format("it has {} once, or in every frame", name));
}

}  // namespace

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
      [&] { return std::make_shared<H5mdWriter>(path); },
      [&] { check_layout(path, configuration.position.size(), layout_); });
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
