#include <fmt/format.h>

#include <algorithm>

#include "engine/error.h"
#include "io/formats.h"
#include "io/sources.h"

namespace perrin {
namespace {

class FileSource : public Source {
 public:
  FileSource(const FileSettings& settings, std::string path)
      : settings_(settings), path_(std::move(path)) {}

  Configuration make() override {
    const io::Format format = settings_.format == "auto" ? io::guess_format(path_, true)
                                                         : io::format_of_name(settings_.format);
    const auto reader = io::open_frames(path_, format);
    Configuration c = io::read_frame(*reader, path_, settings_.frame).configuration;
    rename(c);
    if (settings_.periodic) {
      c.box.periodic = *settings_.periodic;
      if (c.box.dimension == 2) c.box.periodic[2] = true;
      io::check_frame(c, path_);
    }
    if (!settings_.velocities) c.velocity.clear();
    if (!settings_.keep_step) c.step = 0;
    return c;
  }

 private:
  void rename(Configuration& c) const {
    for (const auto& [from, to] : settings_.types)
      if (std::ranges::count(c.types, from) == 0)
        throw UserError(fmt::format("{}: no type \"{}\" to rename; the types are {}", path_, from,
                                    fmt::join(c.types, ", ")));
    std::vector<std::string> names;
    std::vector<std::uint32_t> index;
    for (const std::string& name : c.types) {
      const auto it = settings_.types.find(name);
      // Two types may become one.
      index.push_back(io::index_of(names, it == settings_.types.end() ? name : it->second));
    }
    for (auto& type : c.type) type = index[type];
    c.types = names;
  }

  FileSettings settings_;
  std::string path_;
};

}  // namespace

std::unique_ptr<Source> make_file_source(const FileSettings& settings, Setup& setup) {
  const auto path = setup.input_file(settings.path, "path");
  if (path.empty()) return nullptr;
  return std::make_unique<FileSource>(settings, path.string());
}

}  // namespace perrin
