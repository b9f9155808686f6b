// Processes that are threads of a test: messages between them, in memory, come late and at random.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/communicator/communicator.h"
#include "engine/communicator/messages.h"

namespace perrin {

/// What all threads have in common.
struct InProcessHub {
  using Bytes = std::vector<unsigned char>;
  struct Collective {
    std::vector<Bytes> given;  // [process]
    int joined = 0, taken = 0;
  };
  explicit InProcessHub(int processes) : count(processes) {}

  const int count;
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, std::deque<Bytes>> sent;  // kind, from, to
  std::map<std::int64_t, Collective> collectives;               // by number
  std::atomic<bool> rung{false};
};

/// Of one of them.
class InProcessMessages : public Messages {
 public:
  InProcessMessages(InProcessHub& hub, int rank)
      : hub_(hub), rank_(rank), random_(unsigned(rank)) {}

  int rank() const override { return rank_; }
  int count() const override { return hub_.count; }
  int host_rank() const override { return rank_; }
  int host_count() const override { return hub_.count; }

  void send(Kind kind, int to, const void* data, std::size_t bytes) override {
    const auto* const from = static_cast<const unsigned char*>(data);
    const std::lock_guard lock(hub_.mutex);
    hub_.sent[{int(kind), rank_, to}].emplace_back(from, from + bytes);
  }
  void receive(Kind kind, int from, void* data, std::size_t bytes) override {
    awaited_[int(kind)].push_back([this, kind, from, data, bytes] {
      auto& sent = hub_.sent[{int(kind), from, rank_}];
      if (sent.empty()) return false;
      EXPECT_EQ(sent.front().size(), bytes);
      std::copy_n(sent.front().begin(), std::min(bytes, sent.front().size()),
                  static_cast<unsigned char*>(data));
      sent.pop_front();
      return true;
    });
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    together(data, rank_ == root ? bytes : 0, [=](const std::vector<Bytes>& given) {
      EXPECT_EQ(given[std::size_t(root)].size(), bytes);
      std::memcpy(data, given[std::size_t(root)].data(), bytes);
    });
  }
  void all_gather(void* data, const std::vector<std::size_t>& offsets) override {
    auto* const all = static_cast<unsigned char*>(data);
    const auto me = std::size_t(rank_);
    together(all + offsets[me], offsets[me + 1] - offsets[me],
             [=](const std::vector<Bytes>& given) {
               for (std::size_t p = 0; p < given.size(); ++p) {
                 EXPECT_EQ(given[p].size(), offsets[p + 1] - offsets[p]);
                 std::ranges::copy(given[p], all + offsets[p]);
               }
             });
  }
  void reduce(std::int64_t* values, int n, Reduction reduction) override {
    together(values, std::size_t(n) * sizeof *values, [=](const std::vector<Bytes>& given) {
      std::vector<std::int64_t> theirs(static_cast<std::size_t>(n));
      for (std::size_t p = 0; p < given.size(); ++p) {
        std::memcpy(theirs.data(), given[p].data(), given[p].size());
        for (int k = 0; k < n; ++k) {
          const std::int64_t x = theirs[std::size_t(k)];
          values[k] = p == 0                        ? x
                      : reduction == Reduction::sum ? values[k] + x
                      : reduction == Reduction::min ? std::min(values[k], x)
                                                    : std::max(values[k], x);
        }
      }
    });
  }
  std::unique_ptr<Post> post(int) override { return nullptr; }

  bool done(Kind kind) override {
    auto& awaited = awaited_[int(kind)];
    if (random_() % 4 != 0) return awaited.empty();  // it takes its time
    const std::lock_guard lock(hub_.mutex);
    while (!awaited.empty() && awaited.front()()) awaited.pop_front();
    return awaited.empty();
  }
  bool rung() override { return hub_.rung; }
  void ring() override { hub_.rung = true; }
  void finish() override {}
  void abort(int) override { std::abort(); }

 private:
  using Bytes = InProcessHub::Bytes;

  void together(const void* data, std::size_t bytes,
                std::function<void(const std::vector<Bytes>&)> take) {
    const std::int64_t number = collectives_++;
    const auto* const from = static_cast<const unsigned char*>(data);
    const std::lock_guard lock(hub_.mutex);
    InProcessHub::Collective& c = hub_.collectives[number];
    c.given.resize(std::size_t(hub_.count));
    c.given[std::size_t(rank_)].assign(from, from + bytes);
    ++c.joined;
    awaited_[int(Kind::collective)].push_back([this, number, take = std::move(take)] {
      const auto it = hub_.collectives.find(number);
      if (it->second.joined < hub_.count) return false;
      take(it->second.given);
      if (++it->second.taken == hub_.count) hub_.collectives.erase(it);
      return true;
    });
  }

  InProcessHub& hub_;
  int rank_;
  std::minstd_rand random_;
  std::int64_t collectives_ = 0;
  std::deque<std::function<bool()>> awaited_[3];  // true: it has come
};

/// f(communicator) in so many processes, each a thread. A failure of one ends all.
template <class F>
void run_in_processes(int count, const F& f) {
  InProcessHub hub(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&hub, &f, rank] {
      Communicator communicator(std::make_shared<InProcessMessages>(hub, rank));
      try {
        f(communicator);
      } catch (const std::exception& e) {
        hub.rung = true;
        ADD_FAILURE() << "process " << rank << ": " << e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace perrin
