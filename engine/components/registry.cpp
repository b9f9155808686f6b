#include "engine/components/registry.h"

#include <fmt/format.h>

#include <utility>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_parse.h"

namespace perrin {

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
