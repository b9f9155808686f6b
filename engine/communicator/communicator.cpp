#include "engine/communicator/communicator.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "engine/communicator/each_alone.h"
#include "engine/communicator/messages.h"

namespace perrin {
namespace {

using Kind = Messages::Kind;

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : -1;
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// A text that names them.
[[maybe_unused]] std::string cores_by_number() {  // with MPI
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  return {reinterpret_cast<const char*>(&set), sizeof set};
}

/// Open MPI's mpirun binds a process to one core or two if it is not told how: the threads of one
/// would share it. Then processes have the cores that mpirun has.
void leave_default_binding() {
  const auto is_set = [](const char* variable) { return std::getenv(variable) != nullptr; };
  if (!is_set("OMPI_MCA_orte_bound_at_launch") || is_set("OMPI_MCA_hwloc_base_binding_policy") ||
      is_set("OMPI_MCA_rmaps_base_mapping_policy"))
    return;
  cpu_set_t of_mpirun;
  if (sched_getaffinity(getppid(), sizeof of_mpirun, &of_mpirun) == 0)
    sched_setaffinity(0, sizeof of_mpirun, &of_mpirun);
}

/// Waits without taking the core from processes that have work to do: for a moment with its eyes
/// open, then giving way, then asleep in between.
class Patience {
 public:
  void wait() {
    if (++looks_ < 2000) return __builtin_ia32_pause();
    sched_yield();
    if (looks_ % 256 == 0 && Clock::now() - begin_ > std::chrono::milliseconds(20)) asleep_ = true;
    if (asleep_) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  bool time_to_listen() const { return looks_ % 64 == 63; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  long looks_ = 0;
  bool asleep_ = false;
};

constexpr double last_wait = 60;  // seconds that a failed run waits for its processes

/// Of one process, which has nobody to speak to.
class NoMessages : public Messages {
 public:
  int rank() const override { return 0; }
  int count() const override { return 1; }
  int host_rank() const override { return 0; }
  int host_count() const override { return 1; }
  void send(Kind, int, const void*, std::size_t) override {}
  void receive(Kind, int, void*, std::size_t) override {}
  void broadcast(void*, std::size_t, int) override {}
  void all_gather(void*, const std::vector<std::size_t>&) override {}
  void reduce(std::int64_t*, int, Reduction) override {}
  std::unique_ptr<Post> post(int) override { return nullptr; }
  bool done(Kind) override { return true; }
  bool rung() override { return false; }
  void ring() override {}
  void finish() override {}
  void abort(int) override {}
};

std::atomic<Communicator*> alone = nullptr;  // while EachAlone lives

}  // namespace

Launched launched() {
  struct Words {
    const char *count, *rank;
  };
  // Open MPI, MPICH and Intel MPI, MVAPICH, srun with PMIx.
  for (const Words w : {Words{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                        {"PMI_SIZE", "PMI_RANK"},
                        {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                        {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"}})
    if (number(w.count) > 0 && number(w.rank) >= 0) return {number(w.count), number(w.rank)};
  return {};
}

std::string mpi_in_build() {
#ifdef PERRIN_MPI
  return mpi_name();
#else
  return "not built in";
#endif
}

Communicator& Communicator::world() {
  static Communicator processes;
  Communicator* const instead = alone;
  return instead ? *instead : processes;
}

EachAlone::EachAlone() : all_(Communicator::world()), before_(alone) {
  static Communicator one(std::make_shared<NoMessages>());
  alone = &one;
}
EachAlone::~EachAlone() { alone = before_; }

bool Communicator::started_together() { return launched().count > 1; }

Communicator::Communicator() : largest_(Messages::largest) {
  leave_default_binding();
  const Launched by = launched();
  if (by.count > 1) begin_mpi(by.count);
}

Communicator::Communicator(std::shared_ptr<Messages> messages)
    : messages_(std::move(messages)),
      largest_(Messages::largest),
      rank_(messages_->rank()),
      count_(messages_->count()),
      host_rank_(messages_->host_rank()),
      host_count_(messages_->host_count()) {}

Communicator::~Communicator() {
  if (messages_) messages_->finish();
}

void Communicator::begin_mpi(int expected) {
#ifdef PERRIN_MPI
  messages_ = start_mpi();
  if (messages_->count() != expected)
    throw UserError(
        fmt::format("perrin: {} processes were started, but MPI ({}) finds {}: start them with the "
                    "mpirun of that MPI",
                    expected, mpi_name(), messages_->count()));
  rank_ = messages_->rank(), count_ = messages_->count();
  host_rank_ = messages_->host_rank(), host_count_ = messages_->host_count();
  const std::string cores = host_name() + " " + cores_by_number();
  core_sharers_ = int(std::ranges::count(all_gather(cores), cores));
#else
  throw UserError(
      fmt::format("perrin: {} processes were started together, but this build of Perrin has no "
                  "MPI; start one, or build with MPI (docs/guide/processes.md)",
                  expected));
#endif
}

std::string Communicator::name() const {
  return fmt::format("process {} ({})", rank_, host_name());
}

std::string Communicator::host_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return host_name() + " " + id;
}

std::unique_ptr<Post> Communicator::post(int slots) {
  return messages_ ? messages_->post(slots) : nullptr;
}

void Communicator::wait_for(int kind) {
  if (!several()) return;
  Patience patience;
  while (!messages_->done(Kind(kind))) {
    if (patience.time_to_listen() && messages_->rung()) {
      // What has come in the meantime is taken: an error that all have then comes to all.
      if (messages_->done(Kind(kind))) return;
      throw OtherProcessFailed();
    }
    patience.wait();
  }
  waited_ += patience.seconds();
}

template <class F>
void Communicator::in_pieces(std::size_t bytes, const F& f) const {
  for (std::size_t begin = 0; begin < bytes; begin += largest_)
    f(begin, std::min(largest_, bytes - begin));
}

void Communicator::barrier() { sum(0); }

void Communicator::broadcast(void* data, std::size_t bytes, int root) {
  if (!several()) return;
  in_pieces(bytes, [&](std::size_t begin, std::size_t n) {
    messages_->broadcast(static_cast<char*>(data) + begin, n, root);
  });
  wait_for(int(Kind::collective));
}

std::int64_t Communicator::of_first(std::int64_t value) {
  if (!several()) return value;  // of any thread
  small_ = value;
  broadcast(&small_, sizeof small_);
  return small_;
}

double Communicator::of_first(double value) {
  return std::bit_cast<double>(of_first(std::bit_cast<std::int64_t>(value)));
}

std::string Communicator::of_first(const std::string& text) {
  std::string all(std::size_t(of_first(std::int64_t(text.size()))), '\0');
  if (first()) all = text;
  broadcast(all.data(), all.size());
  return all;
}

void Communicator::all_gather(void* data, const std::vector<std::size_t>& offsets) {
  if (!several()) return;
  PERRIN_ASSERT(offsets.size() == std::size_t(count_) + 1 && offsets[0] == 0);
  if (offsets.back() == 0) return;
  if (offsets.back() <= largest_) {
    messages_->all_gather(data, offsets);
  } else {
    for (int p = 0; p < count_; ++p) {
      const std::size_t begin = offsets[std::size_t(p)], end = offsets[std::size_t(p) + 1];
      in_pieces(end - begin, [&](std::size_t at, std::size_t n) {
        messages_->broadcast(static_cast<char*>(data) + begin + at, n, p);
      });
    }
  }
  wait_for(int(Kind::collective));
}

std::vector<std::string> Communicator::all_gather(const std::string& mine) {
  if (!several()) return {mine};
  std::vector<std::uint64_t> sizes(std::size_t(count_), 0);
  std::vector<std::size_t> offsets(sizes.size() + 1, 0);
  for (std::size_t p = 0; p < offsets.size(); ++p) offsets[p] = p * sizeof sizes[0];
  sizes[std::size_t(rank_)] = mine.size();
  all_gather(sizes.data(), offsets);
  for (std::size_t p = 0; p < sizes.size(); ++p) offsets[p + 1] = offsets[p] + sizes[p];
  std::string all(offsets.back(), '\0');
  std::copy(mine.begin(), mine.end(), all.begin() + std::ptrdiff_t(offsets[std::size_t(rank_)]));
  all_gather(all.data(), offsets);
  std::vector<std::string> texts;
  for (std::size_t p = 0; p < sizes.size(); ++p) texts.push_back(all.substr(offsets[p], sizes[p]));
  return texts;
}

std::int64_t Communicator::reduce(std::int64_t value, int reduction) {
  if (!several()) return value;
  small_ = value;
  messages_->reduce(&small_, 1, Messages::Reduction(reduction));
  wait_for(int(Kind::collective));
  return small_;
}

std::int64_t Communicator::sum(std::int64_t value) {
  return reduce(value, int(Messages::Reduction::sum));
}
void Communicator::sum(std::span<std::int64_t> values) {
  if (!several() || values.empty()) return;
  numbers_.assign(values.begin(), values.end());
  messages_->reduce(numbers_.data(), int(numbers_.size()), Messages::Reduction::sum);
  wait_for(int(Kind::collective));
  std::ranges::copy(numbers_, values.begin());
}
std::int64_t Communicator::min(std::int64_t value) {
  return reduce(value, int(Messages::Reduction::min));
}
std::int64_t Communicator::max(std::int64_t value) {
  return reduce(value, int(Messages::Reduction::max));
}

void Communicator::send(int to, const void* data, std::size_t bytes) {
  PERRIN_ASSERT(messages_ && to != rank_);
  in_pieces(bytes, [&](std::size_t begin, std::size_t n) {
    messages_->send(Kind::pair, to, static_cast<const char*>(data) + begin, n);
  });
}

void Communicator::receive(int from, void* data, std::size_t bytes) {
  PERRIN_ASSERT(messages_ && from != rank_);
  in_pieces(bytes, [&](std::size_t begin, std::size_t n) {
    messages_->receive(Kind::pair, from, static_cast<char*>(data) + begin, n);
  });
}

bool Communicator::arrived() { return !messages_ || messages_->done(Kind::pair); }
void Communicator::wait() { wait_for(int(Kind::pair)); }

/// How a process ended, as it tells the first one.
struct Ending {
  int status = 0;
  bool followed = false;
  std::string name, message;

  bool failed() const { return status != 0 && !followed; }
  std::string text() const {
    return fmt::format("{} {} {}\n{}", status, followed ? 1 : 0, name, message);
  }
  static Ending of(const std::string& text) {
    const std::size_t line = text.find('\n');
    Ending ending;
    int used = 0, followed = 0;
    PERRIN_ASSERT(std::sscanf(text.c_str(), "%d %d %n", &ending.status, &followed, &used) == 2);
    ending.followed = followed != 0;
    ending.name = text.substr(std::size_t(used), line - std::size_t(used));
    ending.message = text.substr(line + 1);
    return ending;
  }
};

namespace {

/// What is said of all: the message of the first of those that failed; with its name unless it is
/// the one that speaks anyway, or all say the same.
std::string verdict(const std::vector<Ending>& endings) {
  const auto failed = std::ranges::find_if(endings, &Ending::failed);
  if (failed == endings.end()) return "";
  const bool of_all = std::ranges::all_of(endings, [&](const Ending& e) {
    return e.status == failed->status && !e.followed && e.message == failed->message;
  });
  return of_all || failed == endings.begin() ? failed->message
                                             : failed->name + ": " + failed->message;
}

}  // namespace

bool Communicator::sent_or_late(bool failed) {
  // As long as all is well there is no hurry: others may have more to do.
  Patience patience, since;
  bool hurry = failed;
  while (!messages_->done(Kind::alarm)) {
    if (!hurry && patience.time_to_listen() && messages_->rung()) {
      hurry = true;
      since = Patience();
    }
    if (hurry && patience.time_to_listen() && since.seconds() > last_wait) return false;
    patience.wait();
  }
  return true;
}

bool Communicator::send_text(int to, const std::string& text, bool failed) {
  size_ = text.size();
  messages_->send(Kind::alarm, to, &size_, sizeof size_);
  messages_->send(Kind::alarm, to, text.data(), text.size());
  return sent_or_late(failed);
}

bool Communicator::receive_text(int from, std::string& text, bool failed) {
  messages_->receive(Kind::alarm, from, &size_, sizeof size_);
  if (!sent_or_late(failed)) return false;
  text.assign(size_, '\0');
  messages_->receive(Kind::alarm, from, text.data(), text.size());
  return sent_or_late(failed);
}

int Communicator::end(int status, const std::string& message, bool followed, const Print& print) {
  if (!messages_) {
    if (status != 0) print(message);
    return status;
  }
  if (status != 0 && !followed) messages_->ring();
  std::vector<Ending> endings(1, Ending{status, followed, name(), message});
  std::string text;
  if (first()) {
    for (int p = 1; p < count_; ++p) {
      const bool failed = std::ranges::any_of(endings, &Ending::failed) || status != 0;
      if (!receive_text(p, text, failed)) end_at_once(endings, p, print);
      endings.push_back(Ending::of(text));
    }
    const std::string what = verdict(endings);
    for (const Ending& e : endings)
      if (status == 0 || (followed && e.failed())) status = e.status;
    if (status != 0) print(what);
    for (int p = 1; p < count_; ++p)
      if (!send_text(p, std::to_string(status), true)) end_at_once(endings, p, print);
  } else {
    if (!send_text(0, endings[0].text(), status != 0) || !receive_text(0, text, status != 0))
      end_at_once(endings, 0, print);
    status = std::atoi(text.c_str());
  }
  messages_->finish();
  messages_.reset();
  return status;
}

void Communicator::end_at_once(const std::vector<Ending>& endings, int missing,
                               const Print& print) {
  print(fmt::format("{}perrin: process {} did not answer within {:g} s\n", verdict(endings),
                    missing, last_wait));
  const int status = endings[0].status != 0 ? endings[0].status : 3;
  messages_->abort(status);
  std::_Exit(status);
}

}  // namespace perrin
