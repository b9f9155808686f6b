#include "engine/job/continued_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"

namespace perrin {
namespace {

using Keys = std::initializer_list<const char*>;

bool is_one_of(const std::string& key, Keys keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* k) { return key == k; });
}

/// A member of an object; null where there is none.
Json member(const Json& object, const std::string& key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && it != object.end() ? *it : Json();
}

/// The first key, but for `free` ones, whose values differ.
std::optional<std::string> changed_key(const Json& before, const Json& after, Keys free) {
  for (const Json* const one : {&after, &before})
    for (const auto& [key, value] : one->items())
      if (!is_one_of(key, free) && member(before, key) != member(after, key)) return key;
  return {};
}

std::string text_of(const Json& value) {
  std::string text = value.is_null() ? "none" : value.dump();
  return text.size() <= 60 ? text : shown(value);
}

/// Leaves out the defaults that neither job says: of settings that an earlier version, which made
/// the checkpoint, did not have.
void leave_out_unsaid(Json& value, const Json& before, const Json& said) {
  if (value.is_array() && before.is_array() && said.is_array())
    for (std::size_t k = 0; k < std::min({value.size(), before.size(), said.size()}); ++k)
      leave_out_unsaid(value[k], before[k], said[k]);
  if (!value.is_object() || !before.is_object() || !said.is_object()) return;
  Json rest = Json::object();
  for (auto& [key, one] : value.items()) {
    if (!before.contains(key) && !said.contains(key)) continue;
    if (before.contains(key) && said.contains(key)) leave_out_unsaid(one, before[key], said[key]);
    rest[key] = std::move(one);
  }
  value = std::move(rest);
}

/// "expected 1, as in the checkpoint, got 2".
std::string expected(const Json& before, const Json& after) {
  return fmt::format("expected {}, as in the checkpoint, got {}", text_of(before), text_of(after));
}
std::string difference(const Json& before, const Json& after, const std::string& key) {
  return expected(member(before, key), member(after, key));
}

class ContinuedJob {
 public:
  ContinuedJob(const Json& before, const Json& after, const ContinuedReport& report)
      : before_(before), after_(after), report_(report) {}

  void check(std::size_t complete_stages) const {
    check_stages(complete_stages);
    check_attributes();
    check_groups_of_places();
    const Json was = member(before_, "observers"), now = member(after_, "observers");
    for (std::size_t k = 0; k < std::min(was.size(), now.size()); ++k)
      check_observer(was[k], now[k], join_path("observers", k));
  }

 private:
  void check_stages(std::size_t complete) const {
    const Json was = member(before_, "stages"), now = member(after_, "stages");
    for (std::size_t k = 0; k < std::min(complete, was.size()); ++k) {
      const std::string path = join_path("stages", k);
      if (k >= now.size())
        return report_(path, "is complete and cannot be left out in a resumed run");
      if (const auto key = changed_key(was[k], now[k], {}))
        report_(join_path(path, *key),
                fmt::format("cannot change in a resumed run: this stage is complete: {}",
                            difference(was[k], now[k], *key)));
    }
  }

  /// Their numbers are the checkpoint's.
  void check_attributes() const {
    const Json was = member(before_, "attributes"), now = member(after_, "attributes");
    for (const auto& [name, one] : now.items()) {
      const std::string path = join_path("attributes", name);
      if (!was.contains(name)) {
        report_(path,
                "cannot be added to a resumed run: its particles have the attributes of the start");
        continue;
      }
      if (const auto key = changed_key(was[name], one, {"updates", "changes"}))
        report_(join_path(path, *key),
                fmt::format("cannot change in a resumed run, which has the numbers of its "
                            "checkpoint (\"updates\" and \"changes\" can): {}",
                            difference(was[name], one, *key)));
    }
    for (const auto& [name, one] : was.items())
      if (!now.contains(name))
        report_(join_path("attributes", name), "cannot be left out in a resumed run");
  }

  /// A region or formula that was looked at when the run began is not looked at again.
  void check_groups_of_places() const {
    const Json was = member(before_, "groups"), now = member(after_, "groups");
    for (const auto& [name, one] : now.items()) {
      if (!was.contains(name) || !member(one, "every").is_null()) continue;
      if (member(one, "box").empty() && member(one, "formula").is_null()) continue;
      if (const auto key = changed_key(was[name], one, {"every"}))
        report_(join_path(join_path("groups", name), *key),
                fmt::format("cannot change in a resumed run: a group with a box or a formula has "
                            "the members of the start, unless it has \"every\": {}",
                            difference(was[name], one, *key)));
    }
  }

  void check_observer(const Json& was, const Json& now, const std::string& path) const {
    const Json type = member(now, "type"), file = member(now, "file");
    if (type != member(was, "type") || type == "checkpoint" || !file.is_string()) return;
    // Others are: when and where it writes, and what a frame says of itself.
    const auto key =
        type == "xtc" ? changed_key(was, now, {"stride", "file", "stages", "schedule", "decimals"})
                      : changed_key(was, now,
                                    {"stride", "rows_every", "file", "stages", "schedule", "author",
                                     "console", "console_stride", "insertions"});
    if (key)
      report_(join_path(path, *key),
              fmt::format("cannot change in a resumed run, which goes on with {}: {}",
                          file_of(file, type), difference(was, now, *key)));
    std::set<std::string> named;
    for (const auto& [at, value] : now.items())
      if (at.find("group") != std::string::npos || (type == "group_distance" && at == "pairs"))
        find_names(value, named);
    for (const std::string& name : named)
      if (const auto changed = changed_group(name))
        report_(*changed,
                fmt::format("cannot change in a resumed run: {} goes on with {} with the members "
                            "that group \"{}\" had: {}; what acts on other particles can name "
                            "another group",
                            path, file_of(file, type), name, difference_at(*changed)));
  }

  static std::string file_of(const Json& file, const Json& type) {
    const auto name = file.get<std::string>();
    return name.empty() ? type.get<std::string>() : name;
  }

  /// All texts in it.
  static void find_names(const Json& value, std::set<std::string>& names) {
    if (value.is_string()) names.insert(value.get<std::string>());
    if (value.is_array())
      for (const Json& one : value) find_names(one, names);
  }

  /// The path of what has changed in a group, or in those that it is made of.
  std::optional<std::string> changed_group(const std::string& name, int depth = 0) const {
    const Json was = member(member(before_, "groups"), name),
               now = member(member(after_, "groups"), name);
    if (!was.is_object() || !now.is_object() || depth > 100) return {};
    if (const auto key = changed_key(was, now, {"every"}))
      return join_path(join_path("groups", name), *key);
    for (const char* list : {"and", "or", "not"})
      for (const Json& other : member(now, list))
        if (other.is_string())
          if (const auto found = changed_group(other.get<std::string>(), depth + 1)) return found;
    return {};
  }

  std::string difference_at(const std::string& path) const {
    const auto of = [&](Json job) {
      const Json* const found = at_path(job, path);
      return found ? *found : Json();
    };
    return expected(of(before_), of(after_));
  }

  const Json &before_, &after_;
  const ContinuedReport& report_;
};

}  // namespace

void check_continued(const Json& before, const Json& said, Json after, std::size_t complete_stages,
                     const ContinuedReport& report) {
  leave_out_unsaid(after, before, said);
  ContinuedJob(before, after, report).check(complete_stages);
}

}  // namespace perrin
