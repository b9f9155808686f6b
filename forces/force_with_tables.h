// The force around a potential, and the tables that its coefficients point to.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/components/wrapped_force.h"

namespace perrin {

/// Table: has fingerprint(), a hash of its numbers for checkpoints.
template <class Table>
class ForceWithTables final : public WrappedForce {
 public:
  using Tables = std::vector<std::shared_ptr<const Table>>;

  ForceWithTables(std::unique_ptr<Force> force, Tables tables)
      : WrappedForce(std::move(force)), tables_(std::move(tables)) {
    for (const auto& table : tables_) traits_.fingerprint += table->fingerprint();
  }

 private:
  Tables tables_;
};

}  // namespace perrin
