// What processes tell each other, under mpirun -np N and alone.
#include "engine/communicator/communicator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>

#include "engine/domain/host_relay.h"
#include "tests/processes_main.h"

namespace perrin {
namespace {

Communicator& world() { return Communicator::world(); }

TEST(Communicator, ReduceAndDecide) {
  const std::int64_t rank = world().rank(), count = world().count();
  EXPECT_EQ(world().sum(rank), count * (count - 1) / 2);
  EXPECT_EQ(world().min(rank - 5), -5);
  EXPECT_EQ(world().max(rank), count - 1);
  EXPECT_EQ(world().of_first(rank + 7), 7);
  EXPECT_EQ(world().of_first(double(rank) + 0.25), 0.25);
  EXPECT_EQ(world().of_first(fmt::format("from {}", rank)), "from 0");
  world().barrier();
}

TEST(Communicator, SumOfEach) {
  std::vector<std::int64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), world().rank());
  world().sum(numbers);
  const std::int64_t count = world().count();
  for (std::int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(numbers[std::size_t(i)], count * i + count * (count - 1) / 2);
}

TEST(Communicator, AllOnOneHost) {
  EXPECT_EQ(world().host_rank(), world().rank());
  EXPECT_EQ(world().host_count(), world().count());
}

TEST(Communicator, GatherTexts) {
  const std::string mine(std::size_t(world().rank()) * 3, 'x');
  const auto texts = world().all_gather(mine);
  ASSERT_EQ(texts.size(), std::size_t(world().count()));
  for (std::size_t p = 0; p < texts.size(); ++p) EXPECT_EQ(texts[p], std::string(3 * p, 'x'));
}

/// Does what kernels do (engine/domain/peer_signals.cuh): writes parcels to all others, and waits
/// for theirs.
class Correspondence {
 public:
  static constexpr std::size_t bytes = 1 << 20;

  Correspondence() {
    for (int p = 0; p < world().count(); ++p)
      if (p != world().rank()) others_.push_back(p);
    memory_.resize(4 * others_.size() * bytes / sizeof(Parcel));
    auto post = world().post(int(4 * others_.size()));
    if (post) relay_ = std::make_unique<HostRelay>(std::move(post), others_, parcels(), bytes);
  }
  explicit operator bool() const { return relay_ != nullptr; }
  void exchange(std::uint64_t number) {
    for (int k = 0; k < int(others_.size()); ++k) {
      Parcel& p = parcel(k, false, number);
      const std::size_t n = size(number, world().rank(), others_[std::size_t(k)]);
      std::memset(p.payload(), content(number, world().rank()), n);
      p.count[0] = std::uint32_t(n);
      p.bytes = parcel_head + n;
      p.sent = number << 8 | 3;
      std::atomic_ref(p.ready).store(p.sent, std::memory_order_release);
    }
    for (int k = 0; k < int(others_.size()); ++k) {
      Parcel& p = parcel(k, true, number);
      while (std::atomic_ref(p.ready).load(std::memory_order_acquire) != (number << 8 | 3))
        std::this_thread::yield();
      const int from = others_[std::size_t(k)];
      ASSERT_EQ(p.count[0], size(number, from, world().rank()));
      for (std::size_t b = 0; b < p.count[0]; ++b)
        ASSERT_EQ(p.payload()[b], content(number, from)) << number;
    }
  }

 private:
  unsigned char* parcels() { return reinterpret_cast<unsigned char*>(memory_.data()); }
  Parcel& parcel(int k, bool incoming, std::uint64_t number) {
    return *HostRelay::parcel(parcels(), bytes, k, incoming, number);
  }
  static std::size_t size(std::uint64_t number, int from, int to) {
    return number % 7 == 0 ? 0 : number % 50 == 1 ? 900000 : (number * 37 + 5 * from + to) % 5000;
  }
  static unsigned char content(std::uint64_t number, int from) {
    return static_cast<unsigned char>(3 * number + 100 * from);
  }

  std::vector<int> others_;
  std::vector<Parcel> memory_;
  std::unique_ptr<HostRelay> relay_;
};

TEST(Communicator, HostRelay) {
  if (!world().several()) GTEST_SKIP() << "one process";
  for (int simulation = 0; simulation < 2; ++simulation) {
    Correspondence all;
    if (!all) GTEST_SKIP() << "this MPI lets one thread send messages";
    for (std::uint64_t number = 1; number <= 100; ++number) {
      all.exchange(number);
      // The main thread has something to say as well.
      if (number % 20 == 0) {
        EXPECT_EQ(world().sum(1), world().count());
      }
    }
  }
}

/// With messages of any length, and with such as are cut into pieces.
class ProcessesPieces : public testing::TestWithParam<std::size_t> {};

TEST_P(ProcessesPieces, Broadcast) {
  world().set_largest_message(GetParam());
  for (int root = 0; root < world().count(); ++root) {
    std::vector<int> numbers(1001, -1);
    if (world().rank() == root) std::iota(numbers.begin(), numbers.end(), root);
    world().broadcast(numbers.data(), numbers.size() * sizeof numbers[0], root);
    for (int i = 0; i < 1001; ++i) ASSERT_EQ(numbers[std::size_t(i)], root + i);
  }
}

TEST_P(ProcessesPieces, GatherInPlace) {
  world().set_largest_message(GetParam());
  // Process p has 100 p numbers: the first one none.
  std::vector<std::size_t> offsets{0};
  for (int p = 0; p < world().count(); ++p)
    offsets.push_back(offsets.back() + std::size_t(100 * p) * sizeof(int));
  std::vector<int> numbers(offsets.back() / sizeof(int) + 1, -1);
  const auto begin = offsets[std::size_t(world().rank())] / sizeof(int);
  const auto end = offsets[std::size_t(world().rank()) + 1] / sizeof(int);
  for (std::size_t i = begin; i < end; ++i) numbers[i] = int(3 * i);
  world().all_gather(numbers.data(), offsets);
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) ASSERT_EQ(numbers[i], int(3 * i));
  EXPECT_EQ(numbers.back(), -1);  // what belongs to nobody is left alone
}

TEST_P(ProcessesPieces, BetweenNeighbours) {
  world().set_largest_message(GetParam());
  if (!world().several()) GTEST_SKIP() << "one process";
  const int right = (world().rank() + 1) % world().count();
  const int left = (world().rank() + world().count() - 1) % world().count();
  const std::vector<int> a(777, world().rank()), b(10, -world().rank());
  std::vector<int> c(777), d(10);
  world().receive(left, c.data(), c.size() * sizeof(int));
  world().receive(left, d.data(), d.size() * sizeof(int));
  world().send(right, a.data(), a.size() * sizeof(int));
  world().send(right, b.data(), b.size() * sizeof(int));
  world().wait();
  EXPECT_TRUE(world().arrived());
  EXPECT_EQ(c, std::vector<int>(777, left));
  EXPECT_EQ(d, std::vector<int>(10, -left));
}

INSTANTIATE_TEST_SUITE_P(Pieces, ProcessesPieces, testing::Values(std::size_t(1) << 30, 64, 1));

}  // namespace
}  // namespace perrin

int main(int argc, char** argv) { return perrin::run_tests_of_processes(argc, argv); }
