#include "engine/app/report/record.h"

#include "io/hdf5_values.h"

namespace perrin::report {

Record record_of(const io::Node& root) {
  Record record;
  if (!root.has("parameters/perrin")) return record;
  const io::Node own = root.open("parameters/perrin");
  if (own.has("job")) record.job = own.open("job").read_text();
  for (const char* name : {"version", "device", "precision", "plugins"})
    if (own.has(name)) record.facts[name] = own.open(name).read_text();
  if (own.has("seed")) {
    const auto seed = own.open("seed").read<std::uint64_t>();
    if (seed.size() == 1) record.facts["seed"] = std::to_string(seed[0]);  // more than JS can hold
  }
  if (own.has("earlier"))
    record.facts["earlier"] = std::int64_t(own.open("earlier").children().size());
  if (own.has("wall_time")) record.wall_time = io::read_real(own.open("wall_time"));
  if (!own.has("stages/name") || !own.has("stages/step")) return record;
  const auto names = io::read_names(own.open("stages/name"));
  const auto steps = io::read_integers<std::int64_t>(own.open("stages/step"));
  for (std::size_t k = 0; k < names.size() && k < steps.size(); ++k)
    record.stages.emplace_back(names[k], steps[k]);
  if (own.has("stages/remark")) record.remarks = io::read_names(own.open("stages/remark"));
  return record;
}

Json stages_of(const Record& record) {
  Json list = Json::array();
  const Json job = Json::parse(record.job, nullptr, false);
  if (!job.is_object() || !job.contains("stages") || !job["stages"].is_array()) return list;
  for (const Json& stage : job["stages"]) {
    if (!stage.is_object()) continue;
    const std::size_t k = list.size();
    Json row = {{"name", stage.contains("name") ? stage["name"] : stage.value("type", Json(""))},
                {"type", stage.value("type", Json(""))},
                {"steps", stage.value("steps", Json())},
                {"begin", nullptr},
                {"remark", k < record.remarks.size() ? record.remarks[k] : std::string()}};
    if (k < record.stages.size()) {
      row["name"] = record.stages[k].first;
      if (record.stages[k].second >= 0) row["begin"] = record.stages[k].second;
    }
    list.push_back(row);
  }
  return list;
}

}  // namespace perrin::report
