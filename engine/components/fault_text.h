// A fault in words.
#pragma once

#include "engine/device/faults.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Throws a RunError that names step, particle (of bonds: which) and quantity; returns where there
/// is no fault.
void throw_fault(const Fault& fault, const Topology& topology);

}  // namespace perrin
