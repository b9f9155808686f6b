#include "app/report/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
                    "replace an existing file even if it is not a report");
  command->callback([&arguments] { report_command(arguments); });
}

}  // namespace perrin
