// A vector that changes with time: along each axis a number or a formula of t.
#pragma once

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/formula/program.h"
#include "engine/settings/settings.h"
#include "engine/system/box.h"

namespace perrin::formula {

struct VectorOfTime {
  Vec3<double> number{0, 0, 0};                  // 0 where there is a formula
  std::array<std::vector<Instruction>, 3> code;  // of t; empty: the number

  bool has(int axis) const { return !code[std::size_t(axis)].empty(); }
  bool any() const { return has(0) || has(1) || has(2); }
};

/// What the entries of `key` say, in two dimensions of two or three; `report` takes keys and
/// mistakes. `what`: "a velocity".
VectorOfTime vector_of_time(
    const std::vector<Json>& entries, int dimension, const std::string& key, const char* what,
    const std::function<void(const std::string&, const std::string&)>& report);

}  // namespace perrin::formula
