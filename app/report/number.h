// Numbers as a page needs them.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/settings/settings.h"

namespace perrin::report {

/// To seven digits; null where it is none (JSON has no NaN).
inline Json number(double x) {
  if (!std::isfinite(x)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", x);
  return std::strtod(text, nullptr);
}

template <class List>
Json numbers(const List& list) {
  Json out = Json::array();
  for (const double x : list) out.push_back(number(x));
  return out;
}

}  // namespace perrin::report
