#include "app/new_plugin_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/job/cache.h"
#include "engine/job/plugin.h"
#include "engine/settings/problems.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

/// <libdir>/perrin, of the build tree or installed.
fs::path data_folder() { return plugin_folders().back().parent_path(); }

void check_kind(const std::string& kind) {
  if (std::ranges::count(plugin_kinds(), kind) > 0) return;
  throw UserError(
      fmt::format("unknown kind of plug-in \"{}\"; {}", kind, suggest(kind, plugin_kinds())));
}

/// It becomes a type in jobs, a file, and a namespace and a class in C++.
void check_name(const std::string& name, const std::vector<std::string>& taken) {
  constexpr std::size_t longest = 60;
  if (name.size() > longest)
    throw UserError(
        fmt::format("the name has {} characters, expected at most {}", name.size(), longest));
  static const std::set<std::string> words{
      "and",    "asm",    "auto",     "bool",     "break",    "case",     "catch",     "char",
      "class",  "const",  "continue", "default",  "delete",   "do",       "double",    "else",
      "enum",   "export", "extern",   "false",    "float",    "for",      "friend",    "goto",
      "if",     "inline", "int",      "long",     "mutable",  "new",      "not",       "operator",
      "or",     "perrin", "private",  "public",   "register", "requires", "return",    "short",
      "signed", "sizeof", "static",   "std",      "struct",   "switch",   "template",  "test",
      "this",   "throw",  "true",     "try",      "typedef",  "typename", "union",     "unsigned",
      "using",  "void",   "virtual",  "volatile", "while",    "xor",      "protected", "namespace"};
  const auto fits = [](char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  if (name.empty() || !std::islower(name[0]) || !std::ranges::all_of(name, fits) ||
      name.find("__") != std::string::npos)
    throw UserError(fmt::format(
        "\"{}\" is not a valid name of a plug-in: the name becomes a type in jobs and a name in "
        "C++; use lower-case letters, digits and single _, and begin with a letter",
        name));
  if (words.count(name) > 0)
    throw UserError(
        fmt::format("\"{}\" is a reserved word of C++ or of the build: choose another name", name));
  if (std::ranges::count(taken, name) > 0)
    throw UserError(
        fmt::format("\"{}\" exists already (perrin help {}): choose another name", name, name));
}

/// my_force → MyForce
std::string class_name(const std::string& name) {
  std::string out;
  bool capital = true;
  for (const char c : name) {
    if (c != '_') out += capital ? char(std::toupper(c)) : c;
    capital = c == '_';
  }
  return out;
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

std::string named(const std::string& text, const std::string& name) {
  // Plug-ins draw from numbers of their own (rng/purpose.h).
  const auto purpose = std::stoull(text_hash(name), nullptr, 16) % 65534;
  return replaced(replaced(replaced(text, "plugin_name", name), "PluginName", class_name(name)),
                  "plugin_purpose(12345)", fmt::format("plugin_purpose({})", purpose));
}

void copy_named(const fs::path& from, const fs::path& folder, const std::string& name) {
  std::ifstream in(from);
  std::ostringstream text;
  text << in.rdbuf();
  const fs::path to = folder / named(from.filename().string(), name);
  std::ofstream out(to);
  out << named(text.str(), name);
  out.close();
  if (!in || !out) throw UserError(fmt::format("cannot write {}", to.string()));
}

}  // namespace

const std::vector<std::string>& plugin_kinds() {
  static const std::vector<std::string> kinds{
      "pair",       "many_body",        "bond",     "angle",  "field", "force",
      "integrator", "noisy_integrator", "observer", "system", "stage"};
  return kinds;
}

void new_plugin_command(const std::string& asked, const std::string& name,
                        const std::string& folder, const std::vector<std::string>& taken) {
  const std::string kind = asked == "source" ? "system" : asked;  // the name in C++
  check_kind(kind);
  check_name(name, taken);
  const fs::path templates = data_folder() / "templates", copy = folder.empty() ? name : folder;
  if (!fs::is_directory(templates / kind))
    throw UserError(fmt::format("no templates in {}", templates.string()));
  if (fs::exists(fs::symlink_status(copy)))
    throw UserError(fmt::format("{} exists: nothing was written", copy.string()));
  std::error_code error;
  fs::create_directories(copy, error);
  if (error) throw UserError(fmt::format("cannot create {}: {}", copy.string(), error.message()));
  for (const char* file : {"CMakeLists.txt", "checks.py"}) copy_named(templates / file, copy, name);
  for (const auto& entry : fs::directory_iterator(templates / kind))
    copy_named(entry.path(), copy, name);

  const fs::path package = data_folder().parent_path() / "cmake" / "perrin";
  const std::string prefix =
      fs::exists(package)
          ? data_folder().parent_path().parent_path().string()
          : "PREFIX   # where Perrin is installed: cmake --install BUILD --prefix PREFIX";
  fmt::print(
      "{0}\n"
      "cmake -S {0} -B {0}/build -DCMAKE_PREFIX_PATH={1}\n"
      "cmake --build {0}/build\n"
      "PERRIN_PLUGIN_PATH={0}/build perrin run {0}/job.json --output-dir {0}/build\n"
      "ctest --test-dir {0}/build -V   # needs numpy and h5py\n",
      copy.string(), prefix);
}

}  // namespace perrin
