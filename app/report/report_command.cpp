#include "app/report/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

void report_command(const ReportArguments& a) {
  const Json data = report::run_folder(a.folder);
  const fs::path file = a.output.empty() ? fs::path(a.folder) / "report.html" : fs::path(a.output);
  const std::string page = report::page_text, mark = "@DATA@";
  const std::size_t at = page.find(mark);
  io::NewFile place(file.string());
  io::TextFile text(place.aside());
  text.put(fmt::format("{}\n{}{}{}", first_line, page.substr(0, at), for_script(data),
                       page.substr(at + mark.size())));
  text.close();
  place.put_in_place(a.overwrite || is_report(file));
  for (const Json& f : data["files"])
    if (f.contains("problem"))
      fmt::print(stderr, "warning: {}: {}\n", f["name"].get<std::string>(),
                 f["problem"].get<std::string>());
  fmt::print("{}\n", file.string());
}

}  // namespace

void add_report(CLI::App& app, ReportArguments& arguments) {
  auto* command = app.add_subcommand(
      "report",
      "write a report of a run from its files as one HTML page: curves, means, the last frame");
  command->add_option("FOLDER", arguments.folder, "output folder of the run")->required();
  command->add_option("--output", arguments.output,
                      "file of the report (default: FOLDER/report.html)");
  command->add_flag("--overwrite", arguments.overwrite,
                    "replace an existing file even if it is not a report");
  command->callback([&arguments] { report_command(arguments); });
}

}  // namespace perrin
