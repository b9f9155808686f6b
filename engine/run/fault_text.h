// A fault in words.
#pragma once

#include "engine/core/configuration.h"
#include "engine/core/faults.h"

namespace perrin {

/// Throws a RunError that names step, particle (of bonds: which) and quantity; returns where there
/// is no fault.
void throw_fault(const Fault& fault, const Topology& topology);

}  // namespace perrin
