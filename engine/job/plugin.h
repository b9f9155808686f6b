// Finds and loads plug-ins: shared libraries with the symbol `perrin_plugin`
// (engine/job/plugin_api.h).
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/components/registry.h"
#include "engine/job/engine_library.h"

namespace perrin {

struct PluginDescription;

class PluginLoader {
 public:
  struct Loaded {
    std::string name, version;
    std::filesystem::path path;
    std::vector<std::string> brings;  // "force example", …
  };
  struct Refused {
    std::filesystem::path path;  // of a plug-in, or a folder without one
    std::string reason;
    std::string text() const {
      return (path.extension() == ".so" ? "this plug-in was not loaded: " : "") + reason;
    }
  };

  /// Makes the registry ask for all plug-ins that can be found when a type is unknown.
  explicit PluginLoader(Registry& registry);

  /// Loads a plug-in by name (NAME.so in plugin_folders()) or path (anything with a '/' or ending
  /// in .so; relative to `base`). Throws UserError: with the paths tried and the loader's words, or
  /// why it was refused. A plug-in that is loaded already is left alone. `before` is called with
  /// the file before anything of it can run.
  using Before = std::function<void(const std::filesystem::path& file)>;
  void load(const std::string& name, const std::filesystem::path& base, const Before& before = {});
  /// Whether load() takes it for the path of a file.
  static bool is_path(const std::string& name);
  /// Loads every plug-in in plugin_folders(); what is refused is kept, not thrown.
  void load_all();

  const std::vector<Loaded>& loaded() const { return loaded_; }
  const std::vector<Refused>& refused() const { return refused_; }

 private:
  void load_file(const std::filesystem::path& path, bool named_by_job, const Before& before = {});
  Registry& registry_;
  std::vector<Loaded> loaded_;
  std::vector<Refused> refused_;
  std::set<std::filesystem::path> files_;  // loaded
};

/// Throws UserError with one sentence that names both sides where the engine cannot use a plug-in.
void check_plugin(const PluginDescription& plugin);

}  // namespace perrin
