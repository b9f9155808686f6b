#include "app/report/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/ensemble/ensemble_files.h"
#include "app/report/ensemble_folder.h"
#include "app/report/page_text.h"
#include "app/report/run_folder.h"
#include "engine/base/error.h"
#include "io/new_file.h"
#include "io/text_file.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;

constexpr const char* first_line = "<!DOCTYPE html><!-- made by perrin report -->";

/// Another report may be replaced: it can be made again.
bool is_report(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  return fs::is_regular_file(file) && std::getline(stream, line) && line == first_line;
}

/// Whether a file is an HTML page, by its name or by what is in it: --overwrite replaces no other.
bool is_page(const fs::path& file) {
  if (file.extension() == ".html" || file.extension() == ".htm") return true;
  std::ifstream stream(file, std::ios::binary);
  std::string head(512, '\0');
  stream.read(head.data(), std::streamsize(head.size()));
  head.resize(std::size_t(stream.gcount()));
  if (head.starts_with("\xef\xbb\xbf")) head.erase(0, 3);  // a byte order mark
  head.erase(0, head.find_first_not_of(" \t\r\n"));
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return head.starts_with("<!doctype html") || head.starts_with("<html");
}

/// Throws UserError where the page would replace a file that is none: data of a run, or a job.
void check_place(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_regular_file(file, ignored) && !is_page(file))
    throw UserError(fmt::format(
        "{}: exists and is not an HTML page: name another file (--overwrite replaces pages alone)",
        file.string()));
}

/// JSON that can stand within <script>: no "<" ends it or begins a comment.
std::string for_script(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
    text += c == '<' ? "\\u003c" : std::string(1, c);
  return text;
}

void write_page(const Json& data, const fs::path& file, bool overwrite) {
  const std::string page = report::page_text, mark = "@DATA@";
  const std::size_t at = page.find(mark);
  check_place(file);
  io::NewFile place(file.string());
  io::TextFile text(place.aside());
  text.put(fmt::format("{}\n{}{}{}", first_line, page.substr(0, at), for_script(data),
                       page.substr(at + mark.size())));
  text.close();
  place.put_in_place(overwrite || is_report(file));
  for (const Json& f : data["files"])
    if (f.contains("problem"))
      fmt::print(stderr, "warning: {}: {}\n", f["name"].get<std::string>(),
                 f["problem"].get<std::string>());
}

/// Of each system of an ensemble that has files, in its folder.
void write_systems(const fs::path& folder, bool overwrite) {
  for (const fs::path& system : report::system_folders(folder)) try {
      write_page(report::run_folder(system), system / "report.html", overwrite);
    } catch (const UserError& e) {
      fmt::print(stderr, "warning: no report of a system: {}\n", e.what());
    }
}

void report_command(const ReportArguments& a) {
  const bool ensemble = is_ensemble_folder(a.folder);
  if (a.systems && !ensemble)
    throw UserError(fmt::format("--systems: {} is not the folder of an ensemble: it has no {}",
                                a.folder, ensemble_file_name));
  if (a.systems) write_systems(a.folder, a.overwrite);
  const fs::path file = a.output.empty() ? fs::path(a.folder) / "report.html" : fs::path(a.output);
  write_page(ensemble ? report::ensemble_folder(a.folder) : report::run_folder(a.folder), file,
             a.overwrite);
  fmt::print("{}\n", file.string());
}

}  // namespace

void add_report(CLI::App& app, ReportArguments& arguments) {
  auto* command = app.add_subcommand("report",
                                     "write a report of a run from its files as one HTML page: "
                                     "curves, means, the last frame; of an "
                                     "ensemble: means against what varies, replica exchange");
  command->add_option("FOLDER", arguments.folder, "output folder of the run, or of an ensemble")
      ->required();
  command->add_option("--output", arguments.output,
                      "file of the report (default: FOLDER/report.html)");
  command->add_flag("--systems", arguments.systems,
                    "of an ensemble: also a report of each system, in its folder");
  command->add_flag("--overwrite", arguments.overwrite,
                    "replace an existing HTML page even if it is not a report");
  command->callback([&arguments] { report_command(arguments); });
}

}  // namespace perrin
