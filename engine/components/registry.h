// Every component type that a job can name: built-ins and plug-ins register the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "engine/components/force.h"
#include "engine/components/integrator.h"
#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/components/source.h"
#include "engine/components/stage.h"
#include "engine/settings/catalogue.h"
#include "engine/settings/settings.h"

namespace perrin {

/// When an observer is called, where that is not at every multiple of its stride.
struct ScheduleSettings {
  std::optional<std::int32_t> log;
  std::vector<std::int64_t> steps;
  std::optional<std::string> when;
};
template <class D>
void describe(D& d, ScheduleSettings& s) {
  d.optional("log", s.log, Between{1, 1000},
             "so many steps for each factor of ten, evenly spaced by their logarithms and rounded "
             "to multiples of the stride, all counted from the beginning of the stage");
  d.optional("steps", s.steps, NonNegative{},
             "these steps, counted from the beginning of the stage; the stride does not matter");
  d.optional("when", s.when, Any{},
             "formula of step, time, temperature, kinetic_energy, potential_energy, total_energy, "
             "pressure, volume and density, looked at in these steps: the observer is called "
             "whenever it becomes true, as in \"temperature > 2\"");
}

/// What a job can say of every observer, beside the settings of its type.
template <class Settings>
struct ObserverSettings {
  Settings own;
  std::vector<std::string> stages;
  std::optional<ScheduleSettings> schedule;
};
template <class Settings>
void describe(Fields& d, ObserverSettings<Settings>& s) {
  describe(d, s.own);
  d.optional("stages", s.stages, Any{},
             "names or types of the stages in which it is called; none: all");
  d.optional("schedule", s.schedule, Any{},
             "which steps, where not every multiple of the stride is meant; \"stride\": {…} and "
             "\"stride\": [steps] are short for it");
}

/// What a job can say of every force.
template <class Settings>
struct ForceSettings {
  Settings own;
  std::string on = "all";
};
template <class Settings>
void describe(Fields& d, ForceSettings<Settings>& s) {
  describe(d, s.own);
  d.optional("on", s.on, Any{}, "group of particles that an external force acts on");
}

/// And of every integrator.
template <class Settings>
struct IntegratorSettings {
  Settings own;
  std::string group;
};
template <class Settings>
void describe(Fields& d, IntegratorSettings<Settings>& s) {
  describe(d, s.own);
  d.optional("group", s.group, Any{},
             "group of particles that it moves, in the \"integrators\" of a stage");
}

namespace detail {
template <class Component, class Settings>
struct WithCommon {
  using type = Settings;
};
template <class Settings>
struct WithCommon<Observer, Settings> {
  using type = ObserverSettings<Settings>;
};
template <class Settings>
struct WithCommon<Force, Settings> {
  using type = ForceSettings<Settings>;
};
template <class Settings>
struct WithCommon<Integrator, Settings> {
  using type = IntegratorSettings<Settings>;
};
}  // namespace detail

/// Component is one of Source, Force, Integrator, Observer, Stage.
///
///     void register_forces(Registry& registry) {
///       registry.add<Force, HarmonicTrapSettings>("harmonic_trap", "a spring to a fixed point",
///           [](const HarmonicTrapSettings& s, Setup& setup) {
///             return std::make_unique<HarmonicTrap>(s, setup);
///           });
///     }
///
/// A maker that finds a mistake calls setup.error(key, …) and may return nullptr.
class Registry : public Catalogue {
 public:
  explicit Registry(std::string provider = "built-in") : Catalogue(std::move(provider)) {}

  /// Throws BugError where the type exists already.
  template <class Component, class Settings, class Maker>
  void add(const std::string& type, const std::string& help, Maker maker) {
    static_assert(component_kind<Component> != nullptr,
                  "a component is a Source, Force, Integrator, Observer or Stage");
    static_assert(Described<Settings>, "the settings need a describe(d, settings)");
    using All = typename detail::WithCommon<Component, Settings>::type;
    add_row({component_kind<Component>, type, help, provider(), &value_type<All>(),
             [maker](const void* settings, Setup& setup) -> void* {
               const Settings* own = nullptr;
               if constexpr (!std::is_same_v<All, Settings>)
                 own = &static_cast<const All*>(settings)->own;
               else
                 own = static_cast<const All*>(settings);
               std::unique_ptr<Component> component = maker(*own, setup);
               return component.release();
             }});
  }
};

/// Makes one component from JSON text, outside of a job (tests, tools):
///
///     SetupContext context;  context.configuration = &configuration;
///     auto force = make_component<Force>(registry, R"({"type": "pair", …})", context);
///
/// Throws UserError with all mistakes.
ComponentSettings parse_component_text(const Registry& registry, const std::string& kind,
                                       const std::string& json, SetupContext& context);
/// What its maker says is wrong is added to `mistakes`.
void* make_from_settings(const ComponentSettings& settings, SetupContext& context,
                         std::string& mistakes);
template <class Component>
std::unique_ptr<Component> make_component(const ComponentSettings& settings,
                                          SetupContext& context) {
  std::string mistakes;
  std::unique_ptr<Component> component(
      static_cast<Component*>(make_from_settings(settings, context, mistakes)));
  if (!mistakes.empty()) throw UserError(mistakes);
  PERRIN_ASSERT(component != nullptr);
  return component;
}
template <class Component>
std::unique_ptr<Component> make_component(const Registry& registry, const std::string& json,
                                          SetupContext context) {
  const auto settings = parse_component_text(registry, component_kind<Component>, json, context);
  return make_component<Component>(settings, context);
}

}  // namespace perrin
