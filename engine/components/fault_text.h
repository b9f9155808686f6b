// A fault in words.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/error.h"
#include "engine/device/faults.h"
#include "engine/system/configuration.h"

namespace perrin {

/// A velocity or a force is NaN or infinite.
struct NotFiniteError : RunError {
  NotFiniteError(const std::string& what, std::uint32_t id) : RunError(what), particle(id) {}
  std::uint32_t particle;
};

/// Throws a RunError that names step, particle (of bonds: which) and quantity; returns where there
/// is no fault.
void throw_fault(const Fault& fault, const Topology& topology);

}  // namespace perrin
