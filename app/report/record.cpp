#include "app/report/record.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "io/hdf5_values.h"

namespace perrin::report {

Json json_of(const std::string& text) {
  constexpr int deepest = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (quoted && c == '\\')
      ++k;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      return Json(Json::value_t::discarded);
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return Json::parse(text, nullptr, false);
}

std::string text_of(const io::Node& node) {
  constexpr std::size_t most = 1 << 26;
  const auto refuse = [&] {
    throw UserError(fmt::format("{}: {}: expected a single text", node.file(), node.path()));
  };
  if (!node.is_dataset()) refuse();
  const io::Hid type(H5Dget_type(node.id())), space(H5Dget_space(node.id()));
  if (H5Tget_class(type) != H5T_STRING || H5Tget_size(type) > most ||
      H5Sget_simple_extent_npoints(space) != 1)
    refuse();
  return node.read_text();
}

Record record_of(const io::Node& root) {
  Record record;
  if (!root.has("parameters/perrin")) return record;
  const io::Node own = root.open("parameters/perrin");
  if (own.has("job")) record.job = text_of(own.open("job"));
  for (const char* name : {"version", "device", "precision", "plugins"})
    if (own.has(name)) record.facts[name] = text_of(own.open(name));
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
  const Json job = json_of(record.job);
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
