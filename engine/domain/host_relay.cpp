#include "engine/domain/host_relay.h"

#include <chrono>

namespace perrin {

HostRelay::HostRelay(std::unique_ptr<Post> post, std::vector<int> processes, unsigned char* parcels,
                     std::size_t parcel_bytes)
    : post_(std::move(post)), parcels_(parcels), parcel_bytes_(parcel_bytes) {
  for (const int process : processes) with_.push_back({process, int(with_.size())});
  for (const Correspondent& from : with_)
    for (const std::uint64_t exchange : {1, 2}) expect(from, exchange);
  thread_ = std::thread([this] { work(); });
}

HostRelay::~HostRelay() {
  ends_ = true;
  thread_.join();
  for (const Correspondent& from : with_)
    for (const std::uint64_t exchange : {0, 1}) post_->cancel(slot(from, true, exchange));
}

void HostRelay::expect(const Correspondent& from, std::uint64_t exchange) {
  post_->receive(slot(from, true, exchange), from.process, &parcel(from, true, exchange)->sent,
                 parcel_bytes_ - offsetof(Parcel, sent));
}

bool HostRelay::send_complete(Correspondent& to) {
  Parcel& next = *parcel(to, false, to.next_out);
  const int here = slot(to, false, to.next_out);
  const std::uint64_t ready = std::atomic_ref(next.ready).load(std::memory_order_acquire);
  if (ready >> 8 != to.next_out || !post_->done(here)) return false;
  post_->send(here, to.process, &next.sent, next.bytes);
  ++to.next_out;
  return true;
}

bool HostRelay::deliver(Correspondent& from) {
  if (!post_->done(slot(from, true, from.next_in))) return false;
  Parcel& come = *parcel(from, true, from.next_in);
  std::atomic_ref(come.ready).store(come.sent, std::memory_order_release);
  // The next message for this parcel is sent after its sender has had ours of the exchange between,
  // which our kernel writes when it has taken what is here.
  expect(from, from.next_in + 2);
  ++from.next_in;
  return true;
}

bool HostRelay::all_sent() {
  bool all = true;
  for (const Correspondent& to : with_)
    for (const std::uint64_t exchange : {0, 1}) all = post_->done(slot(to, false, exchange)) && all;
  return all;
}

void HostRelay::work() {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  constexpr long at_once = 1024;    // looks before the next one at the clock
  Clock::time_point busy{}, end{};  // when something was under way last; when it is late
  bool idle = false;                // long enough that no process waits for a parcel
  for (long looks = 1;; ++looks) {
    bool found = false;
    for (Correspondent& with : with_) {
      found = send_complete(with) || found;
      found = deliver(with) || found;
    }
    if (!found && looks % 64 == 0) std::this_thread::yield();
    if (!found && !idle && looks % at_once != 0) continue;
    const auto now = Clock::now();
    const bool sent = all_sent();
    if (found || !sent) busy = now;
    idle = now - busy > milliseconds(50);
    if (idle) std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (!ends_) continue;
    if (end == Clock::time_point()) end = now + std::chrono::minutes(1);
    if ((sent && !found) || now > end) return;
  }
}

}  // namespace perrin
