#include "engine/components/setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/communicator/agreement.h"
#include "engine/components/run_control.h"
#include "engine/settings/catalogue.h"
#include "engine/settings/output_names.h"
#include "engine/settings/output_path.h"
#include "engine/settings/problems.h"

namespace perrin {
namespace fs = std::filesystem;

const Configuration& Setup::configuration() const {
  if (!context_.configuration && context_.no_system)
    throw UserError("needs particles, but the job has no \"system\"");
  if (!context_.configuration)
    throw BugError(path_ + ": asked for the particles before they were made");
  return *context_.configuration;
}

RunControl& Setup::control() const {
  if (!context_.control) throw BugError(path_ + ": asked for the run outside of a job");
  return *context_.control;
}

std::uint32_t Setup::instance(Purpose purpose) {
  auto& drawers = context_.drawers[purpose];
  const auto me = std::find(drawers.begin(), drawers.end(), path_);
  const auto place = static_cast<std::uint32_t>(me - drawers.begin());
  if (me == drawers.end()) drawers.push_back(path_);
  return place;
}

bool Setup::excludes(const std::string& kind) const {
  const auto& list = context_.exclusions;
  return std::find(list.begin(), list.end(), kind) != list.end();
}

std::string Setup::path_of(const std::string& key) const {
  // Keys may be paths ("pairs[2].sigma"): they are appended as they are.
  return key.empty() ? path_ : path_.empty() ? key : path_ + "." + key;
}

void Setup::warn(const std::string& key, const std::string& what) {
  if (context_.warn) context_.warn(path_of(key), what);
}

void Setup::error(const std::string& key, const std::string& what) {
  const std::string path = path_of(key);
  if (!context_.report) throw UserError(path + ": " + what);
  context_.report(path, what);
}

void Setup::refuse_z(const std::string& key, const Vec3<double>& v) {
  if (configuration().box.dimension == 2 && v.z != 0)
    error(key, fmt::format("must have no z component in two dimensions, got {}", v.z));
}

std::uint32_t Setup::type_index(const std::string& name, const std::string& key) {
  const auto& types = configuration().types;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] == name) return static_cast<std::uint32_t>(i);
  std::string known;
  for (const auto& t : types) known += (known.empty() ? "" : ", ") + t;
  error(key, fmt::format("unknown particle type \"{}\"; the system has {}", name, known));
  return 0;
}

/// Whether a job (JSON) defines a group of this name.
static bool is_group_of(const std::string& job, const std::string& name) {
  const Json record = Json::parse(job, nullptr, false);
  return record.is_object() && record.contains("groups") && record.at("groups").contains(name);
}

const Group* Setup::group(const std::string& name, const std::string& key) {
  const Configuration& c = configuration();
  if (name == "all") {
    const auto at = context_.all.find(name);
    if (at != context_.all.end()) return &at->second;
    Group::Members members(c.position.size(), 1);
    bool changes = false;  // who is there
    for (std::size_t id = 0; id < members.size(); ++id)
      members[id] = is_absent(c.types[c.type[id]]) ? 0 : 1;
    for (const std::string& type : c.types) changes = changes || is_absent(type);
    return &context_.all.try_emplace(name, name, std::move(members), changes ? 1 : 0).first->second;
  }
  std::vector<std::string> known{"all"};
  for (const Group& group : c.groups) {
    if (group.name() == name) return &group;
    known.push_back(group.name());
  }
  // What is wrong with it is reported.
  if (context_.record && is_group_of(context_.record->job, name)) return nullptr;
  error(key, fmt::format("unknown group \"{}\"; {}", name, suggest(name, known)));
  return nullptr;
}

const Group* Setup::fixed_group(const std::string& name, const std::string& key) {
  const Group* const found = group(name, key);
  if (!found || !found->changes()) return found;
  if (name == "all")
    return error(key, "particles come and go (\"reservoir\"), and have to stay the same here"),
           nullptr;
  error(key, fmt::format("the particles of \"{}\" are chosen anew every {} steps, and have to stay "
                         "the same here",
                         name, found->every()));
  return nullptr;
}

std::size_t Setup::watch(const Group& group) {
  auto& watched = context_.watched;
  const auto at = std::ranges::find_if(
      watched, [&](const Group& other) { return other.name() == group.name(); });
  const auto place = std::size_t(at - watched.begin());
  if (at == watched.end()) watched.push_back(group);
  return place;
}

fs::path Setup::input_file(const std::string& name, const std::string& key) {
  const fs::path file = context_.job_directory / name;
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    error(key, fmt::format("{} is a folder, not a file", file.string()));
  else if (access(file.c_str(), R_OK) != 0)
    error(key, fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  if (context_.control) context_.control->add_input(file, path_of(key));
  return file;
}

fs::path Setup::output_file(const std::string& name, const std::string& key) {
  const fs::path file = (context_.output_directory / name).lexically_normal();
  if (const std::string what = why_no_output_name(name); !what.empty())
    return error(key, what), file;
  const auto [other, is_new] = context_.outputs.emplace(file, path_);
  if (!is_new && other->second != path_)
    error(key, fmt::format("{} is also written by {}; every output needs a separate file",
                           file.string(), other->second));
  // A checkpoint names its FILE.prev itself.
  for (const auto& [one, component] : context_.outputs)
    if (is_new && component != path_ && (is_companion(file, one) || is_companion(one, file)))
      error(key, fmt::format("{} and {} of {} need the same temporary name: choose another one",
                             file.string(), one.string(), component));
  if (!writes_files()) return file;  // it writes none
  std::string what =
      why_not_writable(file, existing_outputs(context_.resuming, context_.overwrite));
  if (what.empty() && fs::path(name).is_absolute()) what = why_no_folder(file.parent_path(), 0);
  if (!what.empty()) error(key, what);
  return file;
}

void* Setup::make_part(const ComponentSettings& part) {
  if (!part) return nullptr;
  Setup setup(context_, part.path);
  return part.row->make(part.settings.get(), setup);
}

}  // namespace perrin
