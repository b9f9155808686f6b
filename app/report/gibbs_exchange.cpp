#include "app/report/gibbs_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "app/ensemble/ensemble_files.h"
#include "app/report/lines.h"
#include "app/report/record.h"
#include "engine/job/cache.h"

namespace perrin::report {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Of exchange.json, which is there when the run has ended or was stopped.
Json counts_of_pairs(const fs::path& folder) {
  const Json all = json_of(read_whole_file(folder / exchange_file_name).value_or(""));
  Json pairs = Json::array();
  if (!all.is_object() || !all.contains("pairs") || !all["pairs"].is_array()) return pairs;
  const auto counts = [](const Json& pair, const char* key) {
    const Json two = pair.is_object() ? pair.value(key, Json()) : Json();
    const bool good = two.is_array() && two.size() == 2 && two[0].is_number_integer() &&
                      two[1].is_number_integer();
    return good ? two : Json::array({0, 0});
  };
  for (const Json& pair : all["pairs"])
    pairs.push_back({{"systems", {2 * pairs.size(), 2 * pairs.size() + 1}},
                     {"transfers", counts(pair, "transfers")},
                     {"volumes", counts(pair, "volumes")}});
  return pairs;
}

}  // namespace

Json gibbs_exchange(const fs::path& folder,
                    const std::function<void(const std::string&)>& problem) {
  std::ifstream in(folder / "exchange.csv");
  std::string line;
  if (!std::getline(in, line)) return nullptr;
  const std::vector<std::string> names = cells_of(line);
  std::vector<double> steps;
  std::vector<std::vector<double>> columns(names.size());
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != names.size()) {
      problem(fmt::format("not a row of {} columns: {}", names.size(), line));
      break;
    }
    steps.push_back(std::strtod(cells[0].c_str(), nullptr));
    for (std::size_t k = 0; k < cells.size(); ++k)
      columns[k].push_back(std::strtod(cells[k].c_str(), nullptr));
  }
  Json lines = Json::array();
  for (std::size_t k = 1; k < names.size(); ++k)
    if (std::ranges::any_of(columns[k], [](double x) { return std::isfinite(x); }))
      lines.push_back({{"name", names[k]}, {"line", series_line(names[k], steps, columns[k])}});
  return {{"pairs", counts_of_pairs(folder)}, {"columns", lines}};
}

}  // namespace perrin::report
