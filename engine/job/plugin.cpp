#include "engine/job/plugin.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/base/error.h"
#include "engine/job/compile_plugin.h"
#include "engine/job/engine_library.h"
#include "engine/job/plugin_api.h"
#include "engine/job/plugin_file.h"

namespace perrin {
namespace fs = std::filesystem;

void check_plugin(const PluginDescription& p) {
  if (p.magic != plugin_magic)
    throw UserError(
        "its description does not begin with Perrin's mark: it is not a plug-in for Perrin");
  if (p.api_major != PERRIN_API_MAJOR || p.api_minor > PERRIN_API_MINOR)
    throw UserError(
        fmt::format("it was built for plug-in interface {}.{}, this Perrin has {}.{}: build the "
                    "plug-in again",
                    p.api_major, p.api_minor, PERRIN_API_MAJOR, PERRIN_API_MINOR));
  if (p.struct_size < sizeof(PluginDescription))
    throw UserError(
        fmt::format("its description has {} bytes, this Perrin's has {}: build the "
                    "plug-in again",
                    p.struct_size, sizeof(PluginDescription)));
  if (std::strcmp(p.build_tag, PERRIN_BUILD_TAG) != 0)
    throw UserError(
        fmt::format("it was built as \"{}\", this Perrin as \"{}\": build the plug-in "
                    "again with this Perrin's compiler and settings",
                    p.build_tag, PERRIN_BUILD_TAG));
  if ((p.instruction_sets >> unsigned(instruction_set()) & 1u) == 0)
    throw UserError(
        "its loops were compiled for another processor: build the plug-in again, here or with "
        "-DPERRIN_PLUGIN_SETS=all");
}

namespace {

/// The loader's words, with names of C++ as they are written there.
std::string loader_words() {
  std::string words = dlerror();
  const std::string before = "undefined symbol: ";
  const std::size_t at = words.find(before);
  if (at == std::string::npos) return words;
  const std::string symbol = words.substr(at + before.size());
  int status = 0;
  char* plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (plain) words = words.substr(0, at + before.size()) + plain;
  std::free(plain);
  return words +
         ": a source file or library of the plug-in is missing, or it was built for another Perrin";
}

/// Never closed: the registry holds functions of the plug-in until the program ends.
void* open_library(const fs::path& file) {
  // Declared not to throw; but constructors of the plug-in's objects do, and pass through it.
  void* (*volatile const open)(const char*, int) = dlopen;
  void* library = nullptr;
  try {
    library = open(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const std::exception& e) {
    throw UserError(
        fmt::format("a global object threw an exception while it was loaded: {}", e.what()));
  } catch (...) {
    throw UserError("a global object threw an exception while it was loaded");
  }
  if (!library) throw UserError(fmt::format("the loader says: {}", loader_words()));
  return library;
}

}  // namespace

PluginLoader::PluginLoader(Registry& registry) : registry_(registry) {
  registry.on_unknown_type([this] { load_all(); });
  registry.on_generated([this](const std::string& plugin) {
    try {
      load(plugin, "/");
    } catch (const UserError&) {
      // Whole, but for a system that was another one: once more, from its source.
      if (!compile_again(plugin)) throw;
      load(plugin, "/");
    }
  });
}

bool PluginLoader::is_path(const std::string& name) {
  return name.find('/') != std::string::npos || fs::path(name).extension() == ".so";
}

void PluginLoader::load_file(const fs::path& path, bool named_by_job, const Before& before) {
  std::error_code ignored;
  const fs::path file = fs::canonical(path, ignored);
  if (files_.count(file)) return;
  check_plugin_file(file);
  if (before) before(file);
  void* library = open_library(file);
  const auto symbol =
      reinterpret_cast<const PluginDescription* (*)()>(dlsym(library, "perrin_plugin"));
  if (!symbol) throw UserError("it has no symbol perrin_plugin: it is not a plug-in for Perrin");
  const PluginDescription* description = symbol();
  if (!description) throw UserError("its perrin_plugin() returned nothing");
  check_plugin(*description);
  const std::string name = description->name;
  for (const Loaded& other : loaded_) {
    if (other.name != name) continue;
    // In the search folders, the first of a name hides the others.
    if (!named_by_job) return;
    throw UserError(
        fmt::format("a plug-in called {} is loaded already, from {}", name, other.path.string()));
  }

  Registry staged(name);
  try {
    description->register_components(staged);
  } catch (const std::exception& e) {
    throw UserError(fmt::format("its registration failed: {}", e.what()));
  } catch (...) {
    throw UserError("its registration failed: it threw something other than a std::exception");
  }
  Loaded loaded{name, description->version, file, {}};
  for (const CatalogueRow* row : staged.rows())
    loaded.brings.push_back(row->kind + " " + row->type);
  registry_.merge(std::move(staged));
  loaded_.push_back(std::move(loaded));
  files_.insert(file);
}

void PluginLoader::load(const std::string& name, const fs::path& base, const Before& before) {
  std::vector<fs::path> candidates;
  if (is_path(name))
    candidates.push_back(base / name);
  else
    for (const auto& folder : plugin_folders()) candidates.push_back(folder / (name + ".so"));
  std::string tried;
  for (const fs::path& path : candidates) {
    std::error_code error;
    if (!fs::exists(path, error)) {
      const std::string why = error ? error.message() : std::strerror(ENOENT);
      tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", path.string(), why);
      continue;
    }
    try {
      return load_file(path, true, before);
    } catch (const UserError& e) {
      throw UserError(
          fmt::format("cannot load plug-in \"{}\" from {}: {}", name, path.string(), e.what()));
    }
  }
  throw UserError(fmt::format("cannot find plug-in \"{}\"; tried {}", name, tried));
}

void PluginLoader::load_all() {
  const auto folders = plugin_folders();
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".so") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    if (files.empty() && &folder != &folders.back())  // which is that of the shipped plug-ins
      refused_.push_back({folder, fmt::format("PERRIN_PLUGIN_PATH names this folder, which {}",
                                              fs::is_directory(folder, ignored)
                                                  ? "holds no plug-in (NAME.so): build it first"
                                                  : "is not there")});
    for (const fs::path& file : files) {
      try {
        load_file(file, false);
      } catch (const UserError& e) {
        refused_.push_back({file, e.what()});
      }
    }
  }
}

}  // namespace perrin
