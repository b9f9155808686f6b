// `perrin report FOLDER`: one page about a run, from its files.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace perrin {

struct ReportArguments {
  std::string folder = ".", output;
  bool overwrite = false, systems = false;
};

void add_report(CLI::App& app, ReportArguments& arguments);

}  // namespace perrin
