#include "app/report/ensemble_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "app/ensemble/ensemble_files.h"
#include "app/ensemble/ensemble_store.h"
#include "app/report/ensemble_curves.h"
#include "app/report/gibbs_exchange.h"
#include "app/report/lines.h"
#include "app/report/number.h"
#include "app/report/observables.h"
#include "app/report/record.h"
#include "engine/base/error.h"
#include "engine/job/cache.h"
#include "engine/job/plugin.h"
#include "engine/settings/output_names.h"
#include "io/hdf5_values.h"
#include "io/writer.h"

namespace perrin::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_paths = 6;  // replicas whose paths are drawn
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

Json read_json(const fs::path& file) { return json_of(read_whole_file(file).value_or("")); }

/// "systems" of ensemble.json: {folder, values} each.
Json systems_of(const Json& all, const fs::path& folder) {
  const auto refuse = [&](const std::string& what) {
    throw UserError(fmt::format("{}: not a file of an ensemble: {}",
                                (folder / ensemble_file_name).string(), what));
  };
  if (!all.is_object() || !all.contains("systems") || !all["systems"].is_array())
    refuse("it has no list \"systems\"");
  for (const Json& system : all["systems"]) {
    if (!system.is_object() || !system.contains("folder") || !system["folder"].is_string() ||
        !system.contains("values") || !system["values"].is_object())
      refuse("expected {\"folder\": …, \"values\": …} of each system");
    const fs::path name = system["folder"].get<std::string>();
    if (name.empty() || name.has_parent_path() || name == "..")
      refuse(fmt::format("\"{}\" is no folder of a system", name.string()));
  }
  return all["systems"];
}

/// A number that all rows of a series, or all rows up to the last, say of each system.
struct Quantity {
  std::string file, name, label, unit;
  std::vector<double> mean, error;  // [system]; NaN: not known
  std::vector<char> level;          // [system]
};

class EnsembleFolder {
 public:
  explicit EnsembleFolder(const fs::path& folder)
      : folder_(folder),
        all_(read_json(folder / ensemble_file_name)),
        systems_(systems_of(all_, folder)) {
    job_ = all_.contains("job") && all_["job"].is_object() ? all_["job"] : Json::object();
  }

  Json page() {
    Json rows = Json::array();
    for (std::size_t k = 0; k < systems_.size(); ++k) rows.push_back(system_row(k));
    group_systems();
    read_tables();
    take_files();
    std::string text =
        fmt::format("Ensemble of {} systems: {} complete", systems_.size(), count("complete"));
    if (count("failed") > 0) text += fmt::format(", {} failed", count("failed"));
    if (count("") > 0) text += fmt::format(", {} have not ended", count(""));
    const Json run = {{"job", job_.dump()},
                      {"files", Json::array()},
                      {"version", all_.value("perrin", Json())},
                      {"seed", job_.contains("seed") ? job_["seed"].dump() : ""}};
    return {{"ensemble",
             {{"systems", rows},
              {"axes", axes()},
              {"groups", groups_json()},
              {"quantities", quantities_json()},
              {"curves", curves_->json()},
              {"exchange", is_gibbs() ? Json() : exchange()},
              {"gibbs", is_gibbs() ? gibbs_exchange(folder_, problem()) : Json()}}},
            {"runs", {run}},
            {"standing",
             {{"state", count("complete") == systems_.size() ? "complete" : "stopped"},
              {"text", text + "."}}},
            {"stages", Json::array()},
            {"files", files_},
            {"observables", Json::array()},
            {"trajectories", Json::array()},
            {"timings", nullptr},
            {"wall_time", nullptr},
            {"folder", fs::absolute(folder_).lexically_normal().string()},
            {"version", engine_version()},
            {"made", std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count()}};
  }

 private:
  std::string name(std::size_t k) const { return systems_[k]["folder"].get<std::string>(); }
  std::size_t count(const std::string& state) const {
    return std::size_t(std::ranges::count(states_, state));
  }

  Json system_row(std::size_t k) {
    const Json ended = read_json(folder_ / name(k) / "system.json");
    const auto text = [&](const char* key) {
      return ended.is_object() && ended.contains(key) && ended[key].is_string()
                 ? ended[key].get<std::string>()
                 : "";
    };
    states_.push_back(text("state"));
    std::error_code ignored;
    const bool has_page = fs::exists(folder_ / name(k) / "report.html", ignored);
    return {{"name", name(k)},
            {"state", states_.back()},
            {"error", text("error")},
            {"values", systems_[k]["values"]},
            {"report", has_page ? Json(name(k) + "/report.html") : Json()}};
  }

  void read_tables() {
    io::writer().call([&] {
      std::optional<io::File> store;
      std::error_code ignored;
      if (const fs::path file = folder_ / ensemble_store_name; fs::exists(file, ignored)) try {
          store = io::File::read(file.string());
        } catch (const UserError& e) {
          add_problem(ensemble_store_name, e.what());
        }
      for (std::size_t k = 0; k < systems_.size(); ++k) {
        std::set<std::string> seen;
        for (const fs::path& file : hdf5_files(folder_ / name(k))) {
          const std::string own = file.filename().string();
          seen.insert(own);
          guarded(name(k) + "/" + own,
                  [&] { take_table(k, own, io::File::read(file.string()).root()); });
        }
        const std::string path = "systems/" + name(k);
        if (!store || !store->root().has(path)) continue;
        const io::Node group = store->root().open(path);
        for (const std::string& own : io::read_text_attribute(group, "files"))
          if (!seen.contains(own))
            guarded(fmt::format("{}/{}/{}", ensemble_store_name, path, own),
                    [&] { take_table(k, own, group.open(own)); });
      }
    });
  }

  static std::vector<fs::path> hdf5_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(folder, gone))
      if (const auto end = entry.path().extension();
          entry.is_regular_file(gone) && (end == ".h5" || end == ".h5md" || end == ".hdf5"))
        files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  }

  template <class F>
  void guarded(const std::string& file, const F& f) {
    try {
      f();
    } catch (const std::exception& e) {
      add_problem(file, e.what());
    }
  }
  void add_problem(const std::string& file, const std::string& what) {
    files_.push_back({{"name", file}, {"bytes", 0}, {"kind", ""}, {"problem", what}});
  }

  void take_table(std::size_t k, const std::string& file, const io::Node& root) {
    if (root.has_attribute("perrin_checkpoint") || !root.has("observables") ||
        root.open("observables").children().empty())
      return;
    const Json seen = observables_of(root, record_of(root));
    for (const Json& series : seen["series"])
      for (const Json& line : series["lines"]) {
        const Json& t = line["statistics"];
        if (!t.is_object()) continue;
        Quantity& q = quantity(file, series["name"], line["label"], series["unit"]);
        q.mean[k] = real(t["mean"]), q.error[k] = real(t["error"]);
        q.level[k] = t["level"] == true || t["verdict"] == "constant";
      }
    for (const Json& result : seen["results"]) {
      Quantity& q = quantity(file, result["name"], "", result["unit"]);
      q.mean[k] = real(result["value"]), q.error[k] = real(result["error"]);
      q.level[k] = 1;
    }
    for (const Json& curve : seen["curves"]) curves_->add(k, file, curve);
  }
  static double real(const Json& value) {
    return value.is_number() ? value.get<double>() : unknown;
  }

  Quantity& quantity(const std::string& file, const std::string& name, const std::string& label,
                     const std::string& unit) {
    const auto key = std::tuple(file, name, label);
    const auto it = places_.find(key);
    if (it != places_.end()) return quantities_[it->second];
    places_[key] = quantities_.size();
    const std::size_t n = systems_.size();
    quantities_.push_back({file, name, label, unit, std::vector(n, unknown),
                           std::vector(n, unknown), std::vector<char>(n)});
    return quantities_.back();
  }

  void take_files() {
    std::vector<fs::path> files;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(folder_, gone))
      if (entry.is_regular_file(gone)) files.push_back(entry.path());
    std::ranges::sort(files);
    const std::map<std::string, std::string> kinds{
        {ensemble_file_name, "the job of the ensemble, and the values of each system"},
        {ensemble_store_name, "files of all systems"},
        {"exchange.csv", is_gibbs() ? "acceptance and activities of each pair of systems"
                                    : "replicas of each system after every exchange"},
        {exchange_file_name, "how many exchanges were tried and accepted"},
        {log_name, "log"}};
    for (const fs::path& file : files)
      if (const auto kind = kinds.find(file.filename().string()); kind != kinds.end())
        files_.push_back({{"name", kind->first},
                          {"bytes", std::int64_t(fs::file_size(file, gone))},
                          {"kind", kind->second}});
  }

  /// Systems whose values are the same but for the seed.
  void group_systems() {
    std::map<std::string, std::size_t> known;
    std::vector<std::size_t> group_of;
    for (std::size_t k = 0; k < systems_.size(); ++k) {
      Json values = systems_[k]["values"];
      values.erase("seed");
      if (is_gibbs()) values["system"] = name(k);  // two boxes of one start are two phases
      const auto [it, is_new] = known.emplace(values.dump(), groups_.size());
      if (is_new) groups_.push_back({values, {}});
      groups_[it->second].systems.push_back(k);
      group_of.push_back(it->second);
    }
    curves_.emplace(std::move(group_of), groups_.size());
  }

  Json groups_json() const {
    Json list = Json::array();
    for (const Group& group : groups_) {
      Json names = Json::array();
      for (const std::size_t k : group.systems) names.push_back(name(k));
      list.push_back({{"values", group.values}, {"systems", names}});
    }
    return list;
  }

  /// Settings that are numbers and not everywhere the same.
  Json axes() const {
    Json list = Json::array();
    if (groups_.empty()) return list;
    for (const auto& [setting, first] : groups_[0].values.items()) {
      std::vector<double> x;
      for (const Group& group : groups_)
        if (group.values.contains(setting) && group.values[setting].is_number())
          x.push_back(group.values[setting].get<double>());
      if (x.size() == groups_.size() && std::set(x.begin(), x.end()).size() > 1)
        list.push_back({{"name", setting}, {"x", numbers(x)}});
    }
    return list;
  }

  /// Over the systems of a group: the mean of their means, and its standard error from how these
  /// differ; of a single system its own.
  Json quantities_json() const {
    Json list = Json::array();
    for (const Quantity& q : quantities_) {
      std::vector<double> mean, error;
      std::int64_t known = 0, level = 0;
      for (const Group& group : groups_) {
        std::vector<double> values;
        double own = unknown;
        for (const std::size_t k : group.systems)
          if (std::isfinite(q.mean[k])) {
            values.push_back(q.mean[k]), own = q.error[k];
            ++known, level += q.level[k];
          }
        const auto n = double(values.size());
        double sum = 0, square = 0;
        for (const double v : values) sum += v;
        for (const double v : values) square += (v - sum / n) * (v - sum / n);
        mean.push_back(values.empty() ? unknown : sum / n);
        error.push_back(values.size() > 1 ? std::sqrt(square / (n - 1) / n) : own);
      }
      list.push_back({{"file", q.file},
                      {"name", q.name},
                      {"label", q.label},
                      {"unit", q.unit},
                      {"mean", numbers(mean)},
                      {"error", numbers(error)},
                      {"systems", known},
                      {"level", level}});
    }
    return list;
  }

  bool is_gibbs() const {
    return job_.value("/ensemble/exchange/type"_json_pointer, Json()) == "gibbs";
  }
  std::function<void(const std::string&)> problem() {
    return [this](const std::string& what) { add_problem("exchange.csv", what); };
  }

  /// What exchange.csv says; null where there is none, or no row.
  Json exchange() {
    std::ifstream in(folder_ / "exchange.csv");
    std::string line;
    if (!std::getline(in, line)) return nullptr;
    const std::size_t n = systems_.size();
    std::vector<std::int64_t> before(n);
    for (std::size_t k = 0; k < n; ++k) before[k] = std::int64_t(k);
    std::int64_t every = 0;
    if (const Json at = job_.value("/ensemble/exchange/every"_json_pointer, Json());
        at.is_number_integer())
      every = at.get<std::int64_t>();
    std::vector<std::int64_t> tried(n > 0 ? n - 1 : 0), accepted(tried.size());
    std::vector<int> bound(n);
    std::int64_t trips = 0;
    std::vector<double> steps;
    std::vector<std::vector<double>> paths(std::min(n, most_paths));  // [replica drawn][row]
    while (std::getline(in, line)) {
      std::istringstream text(line);
      std::int64_t step = -1;
      char comma = 0;
      text >> step;
      std::vector<std::int64_t> now;
      for (std::int64_t r = 0; text >> comma >> r;) now.push_back(r);
      auto sorted = now;
      std::ranges::sort(sorted);
      bool good = step > 0 && now.size() == n;
      for (std::size_t k = 0; good && k < n; ++k) good = sorted[k] == std::int64_t(k);
      if (!good) {
        add_problem("exchange.csv", fmt::format("not a row of {} replicas: {}", n, line));
        break;
      }
      for (auto k = std::size_t(every > 0 ? step / every % 2 : 0); k + 1 < n; k += 2)
        ++tried[k], accepted[k] += now[k] != before[k];
      if (n > 1) {
        int& first = bound[std::size_t(now.front())];
        trips += first == 2;
        first = 1;
        if (int& last = bound[std::size_t(now.back())]; last == 1) last = 2;
      }
      steps.push_back(double(step));
      for (std::size_t p = 0; p < paths.size(); ++p)
        paths[p].push_back(double(std::ranges::find(now, std::int64_t(drawn(p, n))) - now.begin()));
      before = now;
    }
    if (steps.empty()) return nullptr;
    take_counts(std::int64_t(steps.back()), tried, accepted);
    Json lines = Json::array();
    for (std::size_t p = 0; p < paths.size(); ++p)
      lines.push_back(series_line(fmt::format("replica {}", drawn(p, n)), steps, paths[p]));
    return {{"every", every},       {"rows", std::int64_t(steps.size())},
            {"tried", tried},       {"accepted", accepted},
            {"round_trips", trips}, {"paths", lines}};
  }
  /// Those that the run has counted: in some stages, or after failures, not all pairs take part.
  void take_counts(std::int64_t last_step, std::vector<std::int64_t>& tried,
                   std::vector<std::int64_t>& accepted) const {
    const Json counted = read_json(folder_ / exchange_file_name);
    if (!counted.is_object() || counted.value("last_step", Json()) != last_step ||
        !counted.contains("pairs") || !counted["pairs"].is_array() ||
        counted["pairs"].size() != tried.size())
      return;
    const auto is_pair = [](const Json& pair) {
      return pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() &&
             pair[1].is_number_integer();
    };
    if (!std::ranges::all_of(counted["pairs"], is_pair)) return;
    for (std::size_t k = 0; k < tried.size(); ++k)
      tried[k] = counted["pairs"][k][0], accepted[k] = counted["pairs"][k][1];
  }
  /// Of all replicas a few, the first and the last among them.
  static std::size_t drawn(std::size_t p, std::size_t n) {
    return n <= most_paths ? p : p * (n - 1) / (most_paths - 1);
  }

  struct Group {
    Json values;
    std::vector<std::size_t> systems;
  };
  fs::path folder_;
  Json all_, systems_, job_, files_ = Json::array();
  std::vector<std::string> states_;  // [system]
  std::vector<Quantity> quantities_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places_;
  std::vector<Group> groups_;
  std::optional<EnsembleCurves> curves_;
};

}  // namespace

Json ensemble_folder(const fs::path& folder) { return EnsembleFolder(folder).page(); }

std::vector<fs::path> system_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code gone;
  for (const Json& system : systems_of(read_json(folder / ensemble_file_name), folder))
    if (const fs::path one = folder / system["folder"].get<std::string>();
        fs::is_directory(one, gone))
      folders.push_back(one);
  return folders;
}

}  // namespace perrin::report
