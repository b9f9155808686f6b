// A fault in words.
#pragma once

#include "engine/core/faults.h"

namespace perrin {

/// Throws a RunError that names step, particle and quantity; returns where there is no fault.
void throw_fault(const Fault& fault);

}  // namespace perrin
