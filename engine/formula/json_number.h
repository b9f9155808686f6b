// Formulas of numbers in a job.
#pragma once

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "engine/settings/settings.h"

namespace perrin::formula {

/// Text that is a formula of numbers becomes its value; all else stays, and is for those to refuse
/// who want a number.
inline void compute(Json& value) {
  try {
    if (value.is_string()) value = value_of_numbers(value.get<std::string>());
  } catch (const UserError&) {
  }
}

}  // namespace perrin::formula
