#include "engine/run/registry.h"

#include <fmt/format.h>

#include <utility>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_parse.h"

namespace perrin {

void Registry::add_row(RegistryRow row) {
  for (const auto& r : rows_)
    if (r->kind == row.kind && r->type == row.type)
      throw BugError(
          fmt::format("the {} \"{}\" is registered twice by {}", row.kind, row.type, provider_));
  rows_.push_back(std::make_unique<RegistryRow>(std::move(row)));
}

const RegistryRow* Registry::find(const std::string& kind, const std::string& type) const {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const auto& r : rows_)
      if (r->kind == kind && r->type == type) return r.get();
    if (!discover_) break;
    discover();
  }
  return nullptr;
}

void Registry::discover() const {
  if (const auto load = std::exchange(discover_, nullptr)) load();
}

std::vector<const RegistryRow*> Registry::rows(const std::string& kind) const {
  std::vector<const RegistryRow*> list;
  for (const auto& r : rows_)
    if (kind.empty() || r->kind == kind) list.push_back(r.get());
  return list;
}

std::string Registry::suggestion(const std::string& kind, const std::string& type) const {
  std::vector<std::string> known;
  for (const RegistryRow* row : rows(kind)) known.push_back(row->type);
  return suggest(type, known);
}

void Registry::merge(Registry&& staged) {
  for (const auto& r : staged.rows_)
    for (const auto& mine : rows_)
      if (mine->kind == r->kind && mine->type == r->type)
        throw UserError(fmt::format("the {} \"{}\" of plug-in {} exists already (from {})", r->kind,
                                    r->type, r->provider, mine->provider));
  for (auto& r : staged.rows_) rows_.push_back(std::move(r));
  staged.rows_.clear();
}

ComponentSettings parse_component_text(const Registry& registry, const std::string& kind,
                                       const std::string& json, SetupContext& context) {
  const auto file = std::make_shared<JsonFile>(JsonFile::parse(json, "settings"));
  const auto problems = std::make_shared<Problems>();
  context.report = [file, problems](const std::string& path, const std::string& what) {
    problems->add(file->problem(path, what));
  };
  auto settings = SettingsParser(registry, context.report).parse_component(kind, file->value(), "");
  problems->throw_if_any();
  return settings;
}

void* make_from_settings(const ComponentSettings& settings, SetupContext& context,
                         std::string& mistakes) {
  const auto report =
      std::exchange(context.report, [&](const std::string& path, const std::string& what) {
        mistakes += (mistakes.empty() ? "" : "\n") + Problem{"", 0, path, what}.text();
      });
  Setup setup(context, settings.path);
  void* component = settings.row->make(settings.settings.get(), setup);
  context.report = report;
  return component;
}

}  // namespace perrin
