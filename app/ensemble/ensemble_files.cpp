#include "app/ensemble/ensemble_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/base/error.h"
#include "engine/job/cache.h"
#include "engine/job/plugin.h"
#include "engine/settings/json_file.h"
#include "io/new_file.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

void write_aside(const io::NewFile& file, const fs::path& path, const std::string& text) {
  std::ofstream out(file.aside(), std::ios::binary);
  out << text;
  out.close();
  if (!out) throw RunError(fmt::format("{}: cannot be written", path.string()));
}

void write_text(const fs::path& path, const std::string& text) {
  io::NewFile file(path.string());
  write_aside(file, path, text);
  file.put_in_place(true);
}

Json object_of(const std::vector<std::pair<std::string, Json>>& values) {
  Json object = Json::object();
  for (const auto& [path, value] : values) object[path] = value;
  return object;
}

}  // namespace

void write_ensemble_file(const fs::path& folder, const Variations& variations,
                         const EnsembleRecord& record) {
  Json systems = Json::array();
  for (std::int64_t k = 0; k < variations.count(); ++k)
    systems.push_back(
        {{"folder", variations.name(k)}, {"values", object_of(variations.values(k))}});
  Json all{{"perrin", engine_version()},
           {"job_directory", record.job_directory},
           {"device", record.device},
           {"job", Json::parse(record.job)},
           {"systems", systems}};
  if (!record.changes.empty()) all["changes"] = record.changes;
  write_text(folder / ensemble_file_name, all.dump(1) + "\n");
}

bool is_ensemble_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / ensemble_file_name, ignored);
}

EnsembleRecord read_ensemble_file(const fs::path& folder) {
  const fs::path file = folder / ensemble_file_name;
  const Json all = Json::parse(read_whole_file(file).value_or(""), nullptr, false);
  const auto text = [&](const char* key) {
    if (!all.is_object() || !all.contains(key) || !all[key].is_string())
      throw UserError(
          fmt::format("{}: not a file of an ensemble: it has no \"{}\"", file.string(), key));
    return all[key].get<std::string>();
  };
  EnsembleRecord record;
  record.job_directory = text("job_directory");
  record.device = text("device");
  if (!all.contains("job") || !all["job"].is_object() || !all["job"].contains("ensemble"))
    throw UserError(fmt::format("{}: not a file of an ensemble: it has no \"job\"", file.string()));
  record.job = all["job"].dump();
  const Json changes = all.value("changes", Json::array());
  if (!changes.is_array() ||
      !std::ranges::all_of(changes, [](const Json& change) { return change.is_string(); }))
    throw UserError(fmt::format("{}: \"changes\": expected a list of strings", file.string()));
  record.changes = changes.get<std::vector<std::string>>();
  return record;
}

void write_system_file(const fs::path& folder, const Variations& variations, std::int64_t system,
                       const std::string& error) {
  Json all{{"system", system},
           {"values", object_of(variations.values(system))},
           {"state", error.empty() ? "complete" : "failed"}};
  if (!error.empty()) all["error"] = error;
  const fs::path path = folder / system_file_name;
  io::NewFile file(path.string());
  write_aside(file, path, all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  file.put_in_place_unsynced(true);
}

std::optional<bool> system_ended(const fs::path& folder) {
  const Json all =
      Json::parse(read_whole_file(folder / system_file_name).value_or(""), nullptr, false);
  if (!all.is_object() || !all.contains("state")) return {};
  if (all["state"] == "complete") return true;
  if (all["state"] == "failed") return false;
  return {};
}

void write_exchange_file(const fs::path& folder, const Exchange& exchange) {
  write_text(folder / exchange_file_name, Json::parse(exchange.state()).dump(1) + "\n");
}

ExchangeTable::ExchangeTable(const fs::path& folder, const Exchange& exchange)
    : file_(folder / "exchange.csv") {
  std::string text = fmt::format("step,{}\n", fmt::join(exchange.columns(), ","));
  if (const std::uint64_t last_step = exchange.last_step(); last_step > 0) {
    std::istringstream before(read_whole_file(file_).value_or(""));
    std::string line;
    std::getline(before, line);
    while (std::getline(before, line) && !before.eof())  // a row without its end is torn
      if (std::strtoull(line.c_str(), nullptr, 10) <= last_step) text += line + '\n';
  }
  write_text(file_, text);
}

void ExchangeTable::sync() const { io::sync_file(file_.string()); }

void ExchangeTable::add(const Exchange& exchange) {
  const std::vector<std::string> row = exchange.row();
  if (row.empty()) return;
  std::ofstream out(file_, std::ios::binary | std::ios::app);
  out << fmt::format("{},{}\n", exchange.last_step(), fmt::join(row, ","));
  out.close();
  if (!out) throw RunError(fmt::format("{}: cannot be written", file_.string()));
}

}  // namespace perrin
