// Every component type that a job can name: built-ins and plug-ins register the same way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/force.h"
#include "engine/integrator.h"
#include "engine/observer.h"
#include "engine/setup.h"
#include "engine/source.h"
#include "engine/stage.h"

namespace perrin {

/// Component is one of Source, Force, Integrator, Observer, Stage.
///
///     void register_forces(Registry& registry) {
///       registry.add<Force, HarmonicTrapSettings>("harmonic_trap", "a spring to a fixed point",
///           [](const HarmonicTrapSettings& s, Setup& setup) { return std::make_unique<HarmonicTrap>(s, setup); });
///     }
///
/// A maker that finds a mistake calls setup.error(key, …) and may return nullptr.
class Registry {
 public:
  template <class Component, class Settings, class Maker>
  void add(const std::string& type, const std::string& help, Maker maker);
  // … (rows, lookup by kind and type, suggestions)
};

}  // namespace perrin
