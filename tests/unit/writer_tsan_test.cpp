// What several threads touch, under ThreadSanitizer: the writer and the files that it owns,
// signals, progress. The sources are compiled for it into this program; HDF5 runs on the writer's
// thread alone.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "engine/run/progress.h"
#include "engine/run/signals.h"
#include "io/frame_memory.h"
#include "io/hdf5.h"
#include "io/writer.h"

namespace perrin {
namespace {

TEST(Writer, ServesSeveralThreads) {
  char name[] = "/tmp/perrin_tsan_XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name);
  const std::string path = folder / "series.h5";
  io::writer().call([&] {
    io::File file = io::File::create(path);
    io::Series::make(file.root(), "x", H5T_NATIVE_INT64, {}, 16);
    file.close();
  });
  struct Open {
    io::File file;
    io::Series series;
  };
  auto open = io::writer().get([&] {
    auto it = std::make_shared<Open>();
    it->file = io::File::append(path);
    it->series = io::Series::open(it->file.root(), "x", H5T_NATIVE_INT64);
    return it;
  });
  constexpr std::int64_t each = 300;
  const auto work = [&open](std::int64_t first) {
    for (std::int64_t k = 0; k < each; ++k) {
      auto value = std::make_shared<std::int64_t>(first + k);
      io::writer().push([open, value] { open->series.append(value.get()); }, io::Writer::limit / 4);
      if (k % 50 == 0) io::writer().flush_and_wait();
      if (k % 70 == 0) io::writer().call([open] { open->file.flush(true); });
    }
  };
  std::thread other(work, each);
  work(0);
  other.join();
  EXPECT_EQ(io::writer().get([&] { return open->series.size(); }), 2 * each);
  // Errors cross from the writer's thread to whoever asks next.
  io::writer().push([] { throw RunError("told"); });
  EXPECT_THROW(io::writer().flush_and_wait(), RunError);
  EXPECT_THROW(io::writer().call([] { throw UserError("told here"); }), UserError);
  io::writer().call([&] { open.reset(); });
  io::writer().flush_and_wait();
  std::filesystem::remove_all(folder);
}

TEST(Writer, QueuesSoManyPiecesOfWorkAtMost) {
  io::Writer writer;
  std::promise<void> begun, go_on;
  writer.push([&] {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  constexpr std::size_t pieces = io::Writer::most + 100;
  std::atomic<std::size_t> queued{0}, done{0};
  std::thread other([&] {
    for (std::size_t k = 0; k < pieces; ++k) {
      writer.push([&] { ++done; });
      ++queued;
    }
  });
  while (queued < io::Writer::most) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(queued, io::Writer::most);
  go_on.set_value();
  other.join();
  writer.wait();
  EXPECT_EQ(done, pieces);
}

TEST(FrameMemory, IsBoundedAndComesBackFromTheWriter) {
  constexpr std::size_t size = io::FrameMemory::limit / 2;
  std::set<std::byte*> blocks;
  {
    io::FrameMemory memory(Device(), size);
    std::atomic<int> read = 0;
    // Keeps the writer busy until every block is lent: a quick one would give the first one back
    // before the second is asked for.
    std::promise<void> all_lent;
    io::writer().push([lent = all_lent.get_future().share()] { lent.wait(); });
    for (int k = 0; k < 40; ++k) {
      if (k == 3) all_lent.set_value();
      std::shared_ptr<std::byte> block = memory.take();  // waits for the writer now and then
      blocks.insert(block.get());
      *block = std::byte(k);
      io::writer().push([block = std::move(block), k, &read] {
        if (*block == std::byte(k)) ++read;
      });
    }
    io::writer().wait();
    EXPECT_EQ(read, 40);
    EXPECT_EQ(blocks.size(), 3u);
    std::vector<std::shared_ptr<std::byte>> held{memory.take(), memory.take(), memory.take()};
    auto next = std::async(std::launch::async, [&] { return memory.take(); });
    EXPECT_EQ(next.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    held.pop_back();
    EXPECT_EQ(next.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    EXPECT_TRUE(blocks.contains(next.get().get()));
  }
  // What is lent outlives the memory it is of.
  std::shared_ptr<std::byte> last = io::FrameMemory(Device(), 100).take();
  std::fill_n(last.get(), 100, std::byte(1));
}

TEST(Signals, AreHeardWhileProgressIsShown) {
  const SignalWatch watch;
  Progress progress(false, true, nullptr);
  progress.start("stage", "steps", 0, 1000000);
  // The handler runs on the other thread.
  std::thread other([] { ::pthread_kill(::pthread_self(), SIGHUP); });
  std::int64_t done = 0;
  while (SignalWatch::received() == 0) {
    progress.update(++done % 1000000);
    io::writer().push([] {});
  }
  other.join();
  progress.print("stopped");
  progress.finish(done);
  io::writer().flush_and_wait();
  EXPECT_STREQ(SignalWatch::name(SignalWatch::received()), "SIGHUP");
}

}  // namespace
}  // namespace perrin
