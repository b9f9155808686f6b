#include "engine/job/compile_plugin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/instruction_set.h"
#include "engine/base/printable.h"
#include "engine/communicator/agreement.h"
#include "engine/job/cache.h"
#include "engine/job/engine_library.h"

#ifdef PERRIN_CUDA
#include <cuda_runtime_api.h>
#endif

extern char** environ;

namespace perrin {
namespace fs = std::filesystem;
namespace {

std::atomic<bool> says{true};

/// Beside Perrin's library, as shipped plug-ins are; written by CMake
/// (cmake/PerrinToolchain.cmake).
fs::path toolchain_file() { return plugin_folders().back().parent_path() / "toolchain.json"; }

#ifdef PERRIN_CUDA
/// Of the GPU at hand, else $PERRIN_GPU_ARCHITECTURE, as 90; nothing: there is none.
std::optional<std::string> architecture() {
  int major = 0, minor = 0;
  const bool found =
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess;
  cudaGetLastError();  // no GPU is no error here
  if (found) return fmt::format("{}{}", major, minor);
  const char* const text = std::getenv("PERRIN_GPU_ARCHITECTURE");
  if (text == nullptr) return {};
  const std::string_view name = text;
  if (name.empty() || name.find_first_not_of("0123456789") != name.npos)
    throw UserError(
        fmt::format("PERRIN_GPU_ARCHITECTURE: expected a compute capability without "
                    "its point, as 90, got \"{}\"",
                    printable(text)));
  return text;
}
#endif

/// Compiler and options, without the files.
std::optional<std::vector<std::string>> command() {
  const fs::path path = toolchain_file();
  const auto text = read_whole_file(path);
  if (!text) return {};
  const auto toolchain = nlohmann::json::parse(*text);
#ifdef PERRIN_CUDA
  // Where there is no GPU nothing needs nvcc, which takes twice the time.
  const auto gpu = architecture();
  const auto& chosen = toolchain.at(gpu ? "gpu" : "cpu");
#else
  const auto& chosen = toolchain.at("cpu");
#endif
  const char* other = std::getenv("PERRIN_COMPILER");
  std::vector<std::string> words{other ? other : chosen.at("compiler").get<std::string>()};
  if (access(words[0].c_str(), X_OK) != 0) return {};
  for (const auto& option : chosen.at("options")) words.push_back(option.get<std::string>());
  for (const auto& folder : toolchain.at("include"))
    words.push_back("-I" +
                    (path.parent_path() / folder.get<std::string>()).lexically_normal().string());
  // One instruction set is enough for the machine at hand.
  words.push_back(fmt::format("-DPERRIN_SETS={}", 1u << unsigned(instruction_set())));
#ifdef PERRIN_CUDA
  if (gpu) words.push_back("-arch=sm_" + *gpu);
#endif
  return words;
}

/// What names the engine's own library to the linker. In a program that has loaded it for itself
/// alone (Python does) a plug-in finds its functions in no other way. Behind the source file, and
/// in the words that nvcc knows, too.
std::vector<std::string> words_for_linker() {
  const std::string library = engine_library().string();
  if (library.find(".so") == std::string::npos) return {};  // linked into the program
  return {"-Xlinker", "--no-as-needed", "-Xlinker", library};
}

/// Seconds that a compiler may take; a formula takes some ten.
double most_seconds() {
  const char* text = std::getenv("PERRIN_COMPILER_SECONDS");
  if (text == nullptr) return 300;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0))
    throw UserError(fmt::format("PERRIN_COMPILER_SECONDS: expected a positive number, got \"{}\"",
                                printable(text)));
  return seconds;
}

/// Kills a process and what it has started, which would go on without it. (A group of its own would
/// do that as well, but keep Ctrl-C from it.)
void kill_all_of(pid_t process) {
  ::kill(process, SIGSTOP);  // it shall start no more of them
  std::vector<pid_t> children;
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", process));
  for (pid_t child = 0; list >> child;) children.push_back(child);
  ::kill(process, SIGKILL);
  for (const pid_t child : children) kill_all_of(child);
}

/// Waits for its end, for so many seconds; nothing: it has not come, and the process is killed.
std::optional<int> wait_for(pid_t process, double seconds, const std::string& name) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  bool late = false;
  for (int status = 0;;) {
    const pid_t ended = waitpid(process, &status, late ? 0 : WNOHANG);
    if (ended < 0 && errno != EINTR)
      throw UserError(fmt::format("{} was lost: {}", name, strerror(errno)));
    if (ended > 0 && late) return {};
    if (ended > 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!late && Clock::now() > end) {
      late = true;
      kill_all_of(process);
    }
    if (!late) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Its exit status, nothing where it took too long; what it prints goes to `log`.
std::optional<int> run(const std::vector<std::string>& words, const fs::path& log, double seconds) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  // What this process ignores, a compiler shall not.
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, signal);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw UserError(fmt::format("cannot start {}: {}", words[0], strerror(error)));
  return wait_for(child, seconds, words[0]);
}

}  // namespace

void say_what_is_compiled(bool say) { says = say; }

fs::path keep_text(const std::string& text, const std::string& name) {
  CacheEntry entry(text);
  if (const auto file = entry.find(name)) return *file;
  write_new_file(entry.begin() / name, text);
  entry.finish();
  return entry.folder() / name;
}

namespace {

struct Made {
  std::string source, about;
};
/// By file, what this process has compiled or found.
std::map<fs::path, Made> all_made;

std::optional<fs::path> compile_or_find(const Made& what, bool again) {
  auto words = command();
  if (!words) return {};
  const auto library = words_for_linker();
  CacheEntry entry(fmt::format("{}\n{}\n{}\n{}", build_tag(), fmt::join(*words, "\n"),
                               fmt::join(library, "\n"), what.source));
  const fs::path plugin = entry.folder() / "plugin.so";
  all_made[plugin] = what;
  if (!again && entry.find("plugin.so")) return plugin;
  const fs::path folder = entry.begin(), file = folder / "plugin.cpp", log = folder / "log";
  write_new_file(file, what.source);
  if (says)
    fmt::print(stderr, "compiling {}, once (cached in {})\n", what.about, entry.folder().string());
  words->insert(words->end(), {"-o", (folder / "plugin.so").string(), file.string()});
  words->insert(words->end(), library.begin(), library.end());
  const double seconds = most_seconds();
  const auto status = run(*words, log, seconds);
  if (!status)
    throw UserError(fmt::format(
        "{} could not be compiled: {} had not ended after {:g} s (PERRIN_COMPILER_SECONDS={:g} "
        "gives it more time)",
        what.about, words->at(0), seconds, 4 * seconds));
  if (*status != 0)
    throw UserError(fmt::format("{} could not be compiled ({}, status {}):\n{}", what.about,
                                words->at(0), *status,
                                read_whole_file(log).value_or("").substr(0, 2000)));
  std::error_code ignored;
  fs::remove(log, ignored);
  entry.finish(again);
  return plugin;
}

}  // namespace

std::optional<fs::path> compile_plugin(const std::string& source, const std::string& about) {
  std::optional<fs::path> plugin;
  first_before_others([&] { plugin = compile_or_find({source, about}, false); });
  return plugin;
}

bool compile_again(const fs::path& plugin) {
  const auto made = all_made.find(plugin);
  return made != all_made.end() && compile_or_find(Made(made->second), true) == plugin;
}

}  // namespace perrin
