#include "app/examples_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base/error.h"
#include "engine/job/plugin.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

/// Beside the shipped plug-ins, in the build tree as after installation.
fs::path examples_folder() { return plugin_folders().back().parent_path() / "examples"; }

std::vector<fs::path> all_examples() {
  std::vector<fs::path> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(examples_folder(), error))
    if (entry.is_directory()) list.push_back(entry.path());
  if (list.empty()) throw UserError(fmt::format("no examples in {}", examples_folder().string()));
  std::ranges::sort(list);
  return list;
}

std::string title_of(const fs::path& example) {
  const fs::path job = example / "job.json";
  return fs::exists(job) ? JsonFile::read(job).value().value("title", "") : "an exercise";
}

}  // namespace

void examples_command(const std::string& name, const std::string& folder) {
  const std::vector<fs::path> all = all_examples();
  if (name.empty()) {
    for (const fs::path& example : all)
      fmt::print("{:<26} {}\n", example.filename().string(), title_of(example));
    fmt::print("perrin examples NAME copies one into a new folder\n");
    return;
  }
  std::vector<std::string> names, found;
  for (const fs::path& example : all) {
    names.push_back(example.filename().string());
    if (names.back() == name) found = {name};
    if (names.back() == name) break;
    if (names.back().find(name) != std::string::npos) found.push_back(names.back());
  }
  if (found.empty())
    throw UserError(fmt::format("unknown example \"{}\"; {}", name, suggest(name, names)));
  if (found.size() > 1)
    throw UserError(fmt::format("\"{}\" matches {} examples: {} and {}", name, found.size(),
                                found[0], found[1]));
  const fs::path copy = folder.empty() ? found[0] : folder;
  if (fs::exists(copy))
    throw UserError(fmt::format("{} exists: nothing was copied", copy.string()));
  std::error_code error;
  fs::copy(examples_folder() / found[0], copy, fs::copy_options::recursive, error);
  if (error) throw UserError(fmt::format("cannot copy to {}: {}", copy.string(), error.message()));
  fmt::print("{}\n", copy.string());
  if (fs::exists(copy / "job.json"))
    fmt::print("perrin run {} --output-dir {}\n", (copy / "job.json").string(), copy.string());
}

}  // namespace perrin
