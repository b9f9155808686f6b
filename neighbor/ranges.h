// How far particles interact, by pair of types.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace perrin {

/// A symmetric table of lengths; 0: such particles never interact.
class Ranges {
 public:
  /// One for all pairs of types. Implicit: most forces know no other.
  Ranges(double range = 0) : longest_(range) {}
  /// table[a · types + b].
  Ranges(std::size_t types, std::vector<double> table) : types_(types), table_(std::move(table)) {
    PERRIN_ASSERT(types > 0 && table_.size() == types * types);
    bool same = true;
    for (std::size_t a = 0; a < types; ++a)
      for (std::size_t b = 0; b < types; ++b) {
        PERRIN_ASSERT((*this)(a, b) == (*this)(b, a));
        longest_ = longest_ < (*this)(a, b) ? (*this)(a, b) : longest_;
        same = same && (*this)(a, b) == table_[0];
      }
    if (same) *this = Ranges(longest_);
  }

  double longest() const { return longest_; }
  bool uniform() const { return table_.empty(); }
  std::size_t types() const { return types_; }  // 0: as many as there are
  double operator()(std::size_t a, std::size_t b) const {
    return table_.empty() ? longest_ : table_[a * types_ + b];
  }

  /// Whatever interacts according to one of both. Tables are of the same number of types.
  friend Ranges join(const Ranges& a, const Ranges& b) {
    const std::size_t types = a.uniform() ? b.types_ : a.types_;
    if (types == 0) return a.longest_ < b.longest_ ? b : a;
    PERRIN_ASSERT(a.uniform() || b.uniform() || a.types_ == b.types_);
    std::vector<double> table;
    for (std::size_t k = 0; k < types * types; ++k) {
      const double x = a(k / types, k % types), y = b(k / types, k % types);
      table.push_back(x < y ? y : x);
    }
    return {types, std::move(table)};
  }
  /// All of them longer by the skin, but for those that are 0.
  friend Ranges with_skin(const Ranges& ranges, double skin) {
    Ranges longer = ranges;
    longer.longest_ += skin;
    for (double& r : longer.table_) r += r > 0 ? skin : 0;
    return longer;
  }

 private:
  double longest_ = 0;
  std::size_t types_ = 0;
  std::vector<double> table_;
};

}  // namespace perrin
