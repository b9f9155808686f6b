// A force whose tail correction follows the number of particles, where these come and go.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/components/setup.h"
#include "engine/components/wrapped_force.h"

namespace perrin {

/// What lies beyond the cut-offs of pairs: E V = sum over a, b of n_a n_b energy[a · types + b] in
/// a box of volume V with n_a particles of type a; the virial likewise.
struct TailMatrix {
  std::vector<double> energy, virial;
  /// Of a force between pairs without structure beyond the cut-off, of which `make` says what it is
  /// among particles of these types, in the box.
  static TailMatrix of(const Box& box, std::size_t types,
                       const std::function<ForceCorrection(std::vector<std::uint32_t>)>& make);
  ForceCorrection correction(std::span<const std::int64_t> counts, double volume) const;
};

/// Another force in all but correction().
class CountedTail final : public WrappedForce {
 public:
  /// `counts`: [type], of those that are there.
  CountedTail(std::unique_ptr<Force> force, TailMatrix tail, std::vector<std::int64_t> counts)
      : WrappedForce(std::move(force)), tail_(std::move(tail)), counts_(std::move(counts)) {}

  const TailMatrix& tail() const { return tail_; }
  void set_counts(std::vector<std::int64_t> counts) { counts_ = std::move(counts); }

  ForceCorrection correction(const Box& box) const override {
    return tail_.correction(counts_, box.volume());
  }

 private:
  TailMatrix tail_;
  std::vector<std::int64_t> counts_;
};

/// Of a force that has a tail correction. `make`: the same of another setup.
std::unique_ptr<Force> with_counted_tail(
    std::unique_ptr<Force> force, const SetupContext& context,
    const std::function<std::unique_ptr<Force>(SetupContext&)>& make);

/// [type]: how many particles there are.
std::vector<std::int64_t> counts_of_types(const Configuration& configuration);

}  // namespace perrin
