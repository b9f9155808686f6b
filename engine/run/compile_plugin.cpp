#include "engine/run/compile_plugin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/instruction_set.h"
#include "engine/core/processes.h"
#include "engine/run/plugin.h"

#ifdef PERRIN_CUDA
#include <cuda_runtime_api.h>
#endif

extern char** environ;

namespace perrin {
namespace fs = std::filesystem;
namespace {

std::atomic<bool> says{true};

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw UserError(
        fmt::format("cannot write {} (PERRIN_CACHE names another folder)", path.string()));
}

/// Beside Perrin's library, as shipped plug-ins are; written by CMake
/// (cmake/PerrinToolchain.cmake).
fs::path toolchain_file() {
  return PluginLoader::search_folders().back().parent_path() / "toolchain.json";
}

/// Compiler and options, without the files.
std::optional<std::vector<std::string>> command() {
  const fs::path path = toolchain_file();
  const auto text = read_file(path);
  if (!text) return {};
  const auto toolchain = nlohmann::json::parse(*text);
  const char* other = std::getenv("PERRIN_COMPILER");
  std::vector<std::string> words{other ? other : toolchain.at("compiler").get<std::string>()};
  if (access(words[0].c_str(), X_OK) != 0) return {};
  for (const auto& option : toolchain.at("options")) words.push_back(option.get<std::string>());
  for (const auto& folder : toolchain.at("include"))
    words.push_back("-I" +
                    (path.parent_path() / folder.get<std::string>()).lexically_normal().string());
  // One instruction set is enough for the machine at hand.
  words.push_back(fmt::format("-DPERRIN_SETS={}", 1u << unsigned(instruction_set())));
#ifdef PERRIN_CUDA
  int major = 0, minor = 0;
  std::string architecture = toolchain.at("architecture").get<std::string>();
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess)
    architecture = fmt::format("{}{}", major, minor);
  cudaGetLastError();  // no GPU is no error here
  words.push_back("-arch=sm_" + architecture);
#endif
  return words;
}

/// Its exit status; what it prints goes to `log`.
int run(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw UserError(fmt::format("cannot start {}: {}", words[0], strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw UserError(fmt::format("{} was lost: {}", words[0], strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

fs::path cache_folder() {
  const auto folder = [](const char* variable) -> fs::path {
    const char* value = std::getenv(variable);
    return value && *value ? value : "";
  };
  if (const fs::path own = folder("PERRIN_CACHE"); !own.empty()) return fs::absolute(own);
  if (const fs::path own = folder("XDG_CACHE_HOME"); !own.empty()) return own / "perrin";
  if (const fs::path home = folder("HOME"); !home.empty()) return home / ".cache" / "perrin";
  return fs::temp_directory_path() / fmt::format("perrin-{}", getuid());
}

/// For files in the making; of this process alone, also where others of another host make the same.
std::string own_name() { return fmt::format("{}-{}", getpid(), Processes::world().rank()); }

/// The folder for what is made of this text.
fs::path made_folder(const std::string& text) {
  const fs::path folder = cache_folder() / text_hash(text);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw UserError(fmt::format("cannot make the folder {}: {} (PERRIN_CACHE names another one)",
                                folder.string(), error.message()));
  return folder;
}

}  // namespace

void say_what_is_compiled(bool say) { says = say; }

std::string text_hash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

fs::path keep_text(const std::string& text, const std::string& name) {
  const fs::path folder = made_folder(text);
  const fs::path file = folder / name, own = folder / own_name();
  if (read_file(file) == text) return file;
  write_file(own, text);
  fs::rename(own, file);
  return file;
}

namespace {

std::optional<fs::path> compile_or_find(const std::string& source, const std::string& about) {
  auto words = command();
  if (!words) return {};
  std::string key = std::string(build_tag()) + "\n";
  for (const std::string& word : *words) key += word + "\n";
  key += source;
  const fs::path folder = made_folder(key);
  const fs::path plugin = folder / "plugin.so";
  std::error_code error;
  if (fs::exists(plugin, error) && read_file(folder / "key") == key) return plugin;
  // Made under another name, so that nobody ever sees half of it.
  const std::string own = own_name();
  const fs::path file = folder / (own + ".cpp"), made = folder / (own + ".so"),
                 log = folder / (own + ".log");
  write_file(file, source);
  if (says) fmt::print(stderr, "compiling {}, once (kept in {})\n", about, folder.string());
  words->insert(words->end(), {"-o", made.string(), file.string()});
  const int status = run(*words, log);
  if (status != 0) {
    const std::string said = read_file(log).value_or("");
    for (const fs::path& half : {file, made, log}) fs::remove(half, error);
    throw UserError(fmt::format("{} could not be compiled ({}, status {}):\n{}", about,
                                words->at(0), status, said.substr(0, 2000)));
  }
  write_file(folder / (own + ".key"), key);
  fs::rename(file, folder / "plugin.cpp");
  fs::rename(made, plugin);
  fs::rename(folder / (own + ".key"), folder / "key");
  fs::remove(log, error);
  return plugin;
}

}  // namespace

std::optional<fs::path> compile_plugin(const std::string& source, const std::string& about) {
  // Of several processes the first one goes first: what it has made, the others find.
  Processes& world = Processes::world();
  if (!world.first()) world.barrier();
  auto plugin = compile_or_find(source, about);
  if (world.first()) world.barrier();
  return plugin;
}

}  // namespace perrin
