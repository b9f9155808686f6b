// What GPUs that share a simulation know of the next step: whether lists may become stale in it.
//
// In a recorded step nobody waits for an answer to "must lists be built?" unless somebody had come
// near the limit of moves a step before: then domains ask one another before they go on.
// Otherwise the question is settled beside the pair loop (Domain::exchange_overlapped()). When
// lists are built does not depend on any of this.
#pragma once

#include "engine/device/buffer.h"
#include "engine/device/condition.h"
#include "engine/domain/decomposition.h"

namespace perrin {

class ListForecast {
 public:
  /// Words of device memory; those that say 0 or 1 have the same value in all domains, but for
  /// `soon`.
  struct Words {
    static constexpr int slots = 32;
    std::uint32_t soon;          // of this domain: lists may be stale in the next step
    std::uint32_t warned;        // somewhere they may
    std::uint32_t built[slots];  // [update of the recording]: lists have been
    std::uint32_t unused;        // flag of conditions that are only raised
  };

  /// Of a device whose decomposition can exchange beside other work; of others there is none.
  explicit ListForecast(const Device& device);

  bool exists() const { return words_.size() > 0; }
  /// False where lists have become stale without a warning too often.
  bool serves() const { return exists() && part_ > least_part; }
  Words* words() { return exists() ? words_.data() : nullptr; }
  /// The square of how far a particle comes before it warns, where it may come as far as `limit`.
  Real early2(Real limit) const;
  /// Lists may be stale in the next step, whoever says so.
  void expect();
  /// Lists have become stale without a warning: it comes earlier from now on.
  void warn_earlier() { part_ -= 0.15; }
  /// What is agreed upon with an exchange of positions.
  void join(Votes& votes) const;

  /// A step that is being recorded: where it notes that lists were built, and the condition under
  /// which domains ask one another first.
  struct Step {
    std::uint32_t* built;
    Condition warned;
  };
  Step begin_step();
  /// The condition of the step after it; `is_last` of the recording: there is none.
  Condition end_step(bool is_last);

 private:
  static constexpr double first_part = 0.85, least_part = 0.3;

  Device device_;
  Buffer<Words> words_;
  Condition warned_{};        // of the next step of the recording
  int slot_ = -1;             // of the step that is being recorded; -1: none
  double part_ = first_part;  // of the limit of moves from which on a particle warns
};

}  // namespace perrin
