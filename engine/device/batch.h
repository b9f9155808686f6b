// Many simulations on one GPU, whose steps are launched together.
//
// Each runs in a fiber (engine/base/fiber.h) and does what it does alone, with buffers, lists,
// halts and faults of its own. Only where it would replay recorded steps it waits until all others
// have come to theirs: then every kernel is launched once for all of those whose recordings are
// alike. A kernel's block looks up whose it is, so that no simulation's arithmetic depends on who
// else there is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/device/batch_replay.h"
#include "engine/device/device.h"

namespace perrin {

class Batch final : public BatchReplay {
 public:
  /// All members work on this device, in order: their devices are for_member() of it.
  explicit Batch(const Device& device);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  /// run(k, member) for 0 ≤ k < count, `at_once` of them in turns, in fibers; member: 0 …
  /// at_once - 1, which no other has at that time. The functions do not throw.
  void run(std::int64_t count, int at_once,
           const std::function<void(std::int64_t k, int member)>& run);
  /// run(member) for 0 ≤ member < count, once each.
  void run_members(int count, const std::function<void(int member)>& run);
  /// A handle for the simulation of a member.
  Device for_member(int member);
  /// Whether steps were launched for several at once so far; false: each member's by themselves.
  bool has_joined_steps() const;

  void replay(int member, const std::shared_ptr<const LaunchList>& list, int times) override;
  bool comes_between(int member) override;
  Seen look(int member, const std::uint64_t* number, const std::uint32_t* halt) override;
  void fetch(int member, void* to, const void* from, std::size_t bytes) override;
  bool put(int member, std::uint32_t* word, std::uint32_t value) override;
  void settle(int member) override;
  void works_alone(int member) override;
  void forget(int member) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perrin
