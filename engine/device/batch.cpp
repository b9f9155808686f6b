#include "engine/device/batch.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/fiber.h"
#include "engine/device/buffer.h"
#include "engine/device/grid_launch.h"

namespace perrin {

bool LaunchList::alike(const LaunchList& other) const {
  return std::ranges::equal(entries_, other.entries_, [](const Entry& a, const Entry& b) {
    return a.kernel == b.kernel && a.name == b.name;
  });
}

#ifdef __CUDACC__

namespace {

constexpr int copy_threads = 256;
constexpr std::int64_t words_of_block = 4 * copy_threads;

/// Copies words, or writes 0 where `from` is nullptr. Like a copy in a graph, whether or not the
/// device is halted.
struct CopyGrid {
  static constexpr int threads = copy_threads;
  std::uint32_t* to;
  const std::uint32_t* from;
  std::int64_t words;

  __device__ void run(unsigned block, unsigned) const {
    admit_successor();
    await_all_before();
    const std::int64_t first = block * words_of_block;
    for (std::int64_t k = first + threadIdx.x; k < first + words_of_block && k < words;
         k += copy_threads)
      to[k] = from ? from[k] : 0;
  }
};

void add_words(LaunchList& list, const char* name, void* to, const void* from, std::size_t bytes) {
  const auto odd = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 4 != 0; };
  if (bytes % 4 != 0 || odd(to) || odd(from)) return list.refuse(name);
  const auto words = std::int64_t(bytes / 4);
  list.add(
      detail::kernel_of<CopyGrid>, name, unsigned((words + words_of_block - 1) / words_of_block),
      CopyGrid{static_cast<std::uint32_t*>(to), static_cast<const std::uint32_t*>(from), words});
}

struct Watched {
  const std::uint64_t* number;
  const std::uint32_t* halt;
};

__global__ void look_kernel(const Watched* watched, int members, Batch::Seen* seen) {
  const int m = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (m < members && watched[m].number) seen[m] = {*watched[m].number, *watched[m].halt};
}

struct Put {
  std::uint32_t* word;
  std::uint32_t value;
  bool operator==(const Put&) const = default;
};

__global__ void put_kernel(const Put* puts, int count) {
  const int k = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < count) *puts[k].word = puts[k].value;
}

/// What a member fetches, and whether it has come since the device was given work for it.
struct Wish {
  static constexpr std::size_t most = 1024;  // words
  const std::uint32_t* from = nullptr;
  std::uint32_t words = 0;
  bool here = false;
};

__global__ void fetch_kernel(const Wish* wishes, std::uint32_t* to) {
  const Wish wish = wishes[blockIdx.x];
  for (std::uint32_t k = threadIdx.x; k < wish.words; k += blockDim.x)
    to[blockIdx.x * Wish::most + k] = wish.from[k];
}

/// Recordings that are alike, and the graph that does them for all.
class Program {
 public:
  using List = std::shared_ptr<const LaunchList>;

  Program(const Device& device, int members, const List& like)
      : device_(device),
        like_(like),
        lists_(std::size_t(members)),
        active_(device, members),
        blocks_(device, 0),
        grids_(device, 0),
        table_(device, 0) {}

  bool serves(const LaunchList& list) const { return like_->alike(list); }

  /// `times` times for these members, whose lists are wanted. `changing`: other members will want
  /// theirs the next time, and these again.
  void run(const std::vector<int>& members, const std::vector<List>& wanted, int times,
           bool changing) {
    const bool known = std::ranges::all_of(
        members, [&](int m) { return lists_[std::size_t(m)] == wanted[std::size_t(m)]; });
    const bool crowded = !changing && 2 * members.size() < in_table_;
    if (!known || crowded) {
      if (!changing) std::ranges::fill(lists_, nullptr);
      for (const int m : members) lists_[std::size_t(m)] = wanted[std::size_t(m)];
      like_ = wanted[std::size_t(members.front())];
      make();
    }
    set_active(members);
    graph_.replay(times);
  }

 private:
  /// The graph for all that have lists.
  void make() {
    std::vector<std::size_t> members;
    for (std::size_t m = 0; m < lists_.size(); ++m)
      if (lists_[m]) members.push_back(m);
    in_table_ = members.size();
    std::vector<std::byte> grids;
    std::vector<std::size_t> begin;  // of the grids of each entry
    std::vector<std::size_t> table_of;
    std::map<std::pair<LaunchList::Turns, std::vector<std::uint32_t>>, std::size_t> tables;
    for (std::size_t e = 0; e < like_->entries().size(); ++e) {
      const std::size_t bytes = like_->entries()[e].kernel->bytes;
      begin.push_back(grids.size());
      grids.resize((grids.size() + bytes * lists_.size() + 255) / 256 * 256);
      std::vector<std::uint32_t> blocks(lists_.size(), 0);
      for (const std::size_t m : members) {
        const LaunchList& list = *lists_[m];
        std::memcpy(grids.data() + begin[e] + bytes * m, list.grid(list.entries()[e]), bytes);
        blocks[m] = list.entries()[e].blocks;
      }
      const LaunchList::Kernel* const kernel = like_->entries()[e].kernel;
      table_of.push_back(
          tables.emplace(std::pair{kernel->turns, std::move(blocks)}, tables.size()).first->second);
    }
    std::vector<std::uint32_t> blocks(tables.size() * lists_.size());
    std::vector<std::size_t> first(tables.size()), count(tables.size());
    std::vector<BatchBlock> table;
    for (const auto& [what, t] : tables) {
      const auto& [turns, of] = what;
      std::ranges::copy(of, blocks.begin() + std::ptrdiff_t(t * lists_.size()));
      const std::uint32_t in_turn = blocks_in_turn(turns, of);
      first[t] = table.size();
      for (std::uint32_t m = 0; m < lists_.size(); ++m)
        for (std::uint32_t b = 0; b < of[m]; b += in_turn)
          table.push_back({m, b, std::min(b + in_turn, of[m])});
      count[t] = table.size() - first[t];
    }
    device_.synchronize();  // the arrays may be in use
    grids_.assign(grids), blocks_.assign(blocks), table_.assign(table);
    graph_ = Recording(device_, [&] {
      for (std::size_t e = 0; e < like_->entries().size(); ++e) {
        const LaunchList::Entry& entry = like_->entries()[e];
        const std::size_t t = table_of[e];
        entry.kernel->launch({&device_, entry.name, grids_.data() + begin[e],
                              blocks_.data() + t * lists_.size(), active_.data(),
                              table_.data() + first[t], unsigned(count[t])});
      }
    });
  }

  /// As many as leave enough to fill the device.
  std::uint32_t blocks_in_turn(const LaunchList::Turns& turns,
                               const std::vector<std::uint32_t>& blocks) const {
    std::uint64_t all = 0;
    for (const std::uint32_t of : blocks) all += of;
    const std::uint64_t wanted =
        std::uint64_t(turns.resident) * std::uint64_t(device_.multiprocessors());
    return std::uint32_t(std::clamp<std::uint64_t>(all / wanted, 1, turns.most_in_turn));
  }

  void set_active(const std::vector<int>& members) {
    if (members == active_members_) return;
    active_members_ = members;
    std::vector<std::uint32_t> active(lists_.size(), 0);
    for (const int m : members) active[std::size_t(m)] = 1;
    active_.assign(active);
  }

  Device device_;
  List like_;
  std::vector<List> lists_;  // [member], in the table
  std::size_t in_table_ = 0;
  std::vector<int> active_members_;
  Buffer<std::uint32_t> active_, blocks_;
  Buffer<std::byte> grids_;
  Buffer<BatchBlock> table_;
  Recording graph_;
};

}  // namespace

void LaunchList::add_zero(void* memory, std::size_t bytes) {
  add_words(*this, "zeroing", memory, nullptr, bytes);
}
void LaunchList::add_copy(void* to, const void* from, std::size_t bytes) {
  add_words(*this, "copying", to, from, bytes);
}

struct Batch::State {
  struct Member {
    Fiber fiber;
    std::shared_ptr<const LaunchList> list;
    int times = 0;         // that it is wanted
    bool between = false;  // steps
    bool seen = false;
    std::vector<Put> puts;  // not done yet
  };
  Device device;
  std::vector<std::unique_ptr<Member>> members;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<Watched> watched;  // [member]
  bool watches_others = false;   // than the device knows of
  bool has_joined = false;
  Buffer<Watched> watched_there;
  Seen* seen = nullptr;      // [member], mapped memory of the host
  std::vector<Wish> wishes;  // [member]
  bool has_new_wishes = false;
  Buffer<Wish> wishes_there;
  std::uint32_t* fetched = nullptr;  // [member · Wish::most + word], mapped memory of the host
  std::vector<Put> puts;             // as the device has them
  Buffer<Put> puts_there;

  explicit State(const Device& of) : device(of.apart()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    members.clear();
    cudaFreeHost(seen);
    cudaFreeHost(fetched);
  }

  void make_room(int count) {
    while (int(members.size()) < count) members.push_back(std::make_unique<Member>());
    if (int(watched.size()) >= count) return;
    programs.clear();
    watched.resize(std::size_t(count));
    wishes.resize(std::size_t(count));
    watched_there = {device, count}, wishes_there = {device, count};
    puts_there = {device, 0}, puts.clear();
    watches_others = has_new_wishes = true;
    map(seen, std::size_t(count));
    map(fetched, std::size_t(count) * Wish::most);
    for (Wish& wish : wishes) wish.here = false;
  }

  template <class T>
  static void map(T*& memory, std::size_t n) {
    cudaFreeHost(std::exchange(memory, nullptr));
    check_cuda(cudaHostAlloc(&memory, n * sizeof(T), cudaHostAllocMapped),
               "allocating for the host");
  }

  Program& program_of(const std::shared_ptr<const LaunchList>& list) {
    for (const auto& program : programs)
      if (program->serves(*list)) return *program;
    programs.push_back(std::make_unique<Program>(device, int(members.size()), list));
    return *programs.back();
  }

  void do_puts() {
    std::vector<Put> now;
    for (const auto& member : members) {
      now.insert(now.end(), member->puts.begin(), member->puts.end());
      member->puts.clear();
    }
    if (now.empty()) return;
    if (now != puts) puts = std::move(now), puts_there.assign(puts);
    const auto count = int(puts.size());
    perrin::launch(device, "words of members", dim3(unsigned((count + 127) / 128)), dim3(128), 0,
                   put_kernel, puts_there.data(), count);
  }

  /// What members wait for: what comes between steps, or if there is none, steps.
  void launch() {
    do_puts();
    const bool between = std::ranges::any_of(
        members, [](const auto& member) { return member->times > 0 && member->between; });
    std::vector<std::shared_ptr<const LaunchList>> wanted(members.size());
    std::vector<std::pair<Program*, std::vector<int>>> groups;
    for (std::size_t m = 0; m < members.size(); ++m) {
      Member& member = *members[m];
      member.seen = wishes[m].here = false;
      if (member.times == 0 || member.between != between) continue;
      wanted[m] = member.list;
      Program* const program = &program_of(member.list);
      auto group =
          std::ranges::find(groups, program, &std::pair<Program*, std::vector<int>>::first);
      if (group == groups.end()) group = groups.insert(groups.end(), {program, {}});
      group->second.push_back(int(m));
    }
    for (const auto& [program, waiting] : groups) has_joined = has_joined || waiting.size() > 1;
    for (auto& [program, waiting] : groups)
      while (!waiting.empty()) {
        int times = members[std::size_t(waiting.front())]->times;
        for (const int m : waiting) times = std::min(times, members[std::size_t(m)]->times);
        program->run(waiting, wanted, times, between);
        for (const int m : waiting) members[std::size_t(m)]->times -= times;
        std::erase_if(waiting, [&](int m) { return members[std::size_t(m)]->times == 0; });
      }
  }

  void look_at_all() {
    if (std::exchange(watches_others, false)) watched_there.assign(watched);
    const auto count = int(watched.size());
    perrin::launch(device, "what the host looks at", dim3(unsigned((count + 127) / 128)), dim3(128),
                   0, look_kernel, watched_there.data(), count, seen);
    device.synchronize();
    for (const auto& member : members) member->seen = true;
  }

  void fetch_all() {
    if (std::exchange(has_new_wishes, false)) wishes_there.assign(wishes);
    perrin::launch(device, "what the host fetches", dim3(unsigned(wishes.size())), dim3(128), 0,
                   fetch_kernel, wishes_there.data(), fetched);
    device.synchronize();
    for (Wish& wish : wishes) wish.here = wish.from != nullptr;
  }
};

Batch::Batch(const Device& device) : state_(std::make_unique<State>(device)) {}
Batch::~Batch() = default;

bool Batch::has_joined_steps() const { return state_->has_joined; }

Device Batch::for_member(int member) {
  const Device own = state_->device.apart();
  DeviceRole role = own.role();
  role.batch = this, role.batch_member = member;
  return own.with(std::move(role));
}

void Batch::run(std::int64_t count, int at_once,
                const std::function<void(std::int64_t, int)>& run) {
  std::int64_t next = 0;
  run_members(at_once, [&](int member) {
    while (next < count) run(next++, member);
  });
}

void Batch::run_members(int count, const std::function<void(int)>& run) {
  state_->make_room(count);
  for (int m = 0; m < count; ++m) {
    State::Member& member = *state_->members[std::size_t(m)];
    member.times = 0, member.between = false;
    member.fiber.start([&run, m] { run(m); });
  }
  std::exception_ptr error;
  try {
    for (bool alive = true; alive;) {
      alive = false;
      for (int m = 0; m < count; ++m) {
        State::Member& member = *state_->members[std::size_t(m)];
        if (!member.fiber.done() && member.times == 0) member.fiber.resume();
        alive = alive || !member.fiber.done();
      }
      state_->launch();
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (!error) return;
  for (const auto& member : state_->members) member->fiber.cancel();
  std::rethrow_exception(error);
}

void Batch::replay(int member, const std::shared_ptr<const LaunchList>& list, int times) {
  State::Member& me = *state_->members[std::size_t(member)];
  me.list = list;
  me.times = times;
  me.fiber.wait();
  me.between = false;
}

bool Batch::comes_between(int member) {
  State::Member& me = *state_->members[std::size_t(member)];
  return me.between = !me.fiber.done();
}

Batch::Seen Batch::look(int member, const std::uint64_t* number, const std::uint32_t* halt) {
  State::Member& me = *state_->members[std::size_t(member)];
  Watched& mine = state_->watched[std::size_t(member)];
  if (mine.number != number || mine.halt != halt) {
    mine = {number, halt};
    state_->watches_others = true;
    me.seen = false;
  }
  if (!me.seen) state_->look_at_all();
  me.seen = false;
  return state_->seen[member];
}

void Batch::fetch(int member, void* to, const void* from, std::size_t bytes) {
  // Of a member that is not watched nobody hears when its memory goes.
  if (bytes % sizeof(std::uint32_t) != 0 || bytes > Wish::most * sizeof(std::uint32_t) ||
      state_->watched[std::size_t(member)].number == nullptr)
    return state_->device.memory().copy_out(to, from, bytes);
  Wish& mine = state_->wishes[std::size_t(member)];
  const auto words = std::uint32_t(bytes / sizeof(std::uint32_t));
  if (mine.from != from || mine.words != words) {
    mine = {static_cast<const std::uint32_t*>(from), words, false};
    state_->has_new_wishes = true;
  }
  if (!mine.here) state_->fetch_all();
  mine.here = false;
  std::memcpy(to, state_->fetched + std::size_t(member) * Wish::most, bytes);
}

bool Batch::put(int member, std::uint32_t* word, std::uint32_t value) {
  if (std::size_t(member) >= state_->members.size()) return false;
  std::vector<Put>& puts = state_->members[std::size_t(member)]->puts;
  const auto same = std::ranges::find(puts, word, &Put::word);
  if (same != puts.end())
    same->value = value;
  else
    puts.push_back({word, value});
  return true;
}

void Batch::settle(int member) {
  if (std::size_t(member) < state_->members.size() &&
      !state_->members[std::size_t(member)]->puts.empty())
    state_->do_puts();
}

void Batch::works_alone(int member) {
  if (std::size_t(member) >= state_->members.size()) return;  // it is being set up
  settle(member);
  State::Member& me = *state_->members[std::size_t(member)];
  me.seen = me.between = false;
  state_->wishes[std::size_t(member)].here = false;
}

void Batch::forget(int member) {
  state_->members[std::size_t(member)]->seen = false;
  state_->watched[std::size_t(member)] = {};
  state_->watches_others = true;
  state_->wishes[std::size_t(member)] = {};
  state_->has_new_wishes = true;
}

#else

void LaunchList::add_zero(void*, std::size_t) {}
void LaunchList::add_copy(void*, const void*, std::size_t) {}

struct Batch::State {};
Batch::Batch(const Device&) {}
Batch::~Batch() = default;
Device Batch::for_member(int) { return {}; }
bool Batch::has_joined_steps() const { return false; }
void Batch::run(std::int64_t, int, const std::function<void(std::int64_t, int)>&) {}
void Batch::run_members(int, const std::function<void(int)>&) {}
void Batch::replay(int, const std::shared_ptr<const LaunchList>&, int) {}
bool Batch::comes_between(int) { return false; }
Batch::Seen Batch::look(int, const std::uint64_t*, const std::uint32_t*) { return {}; }
void Batch::fetch(int, void*, const void*, std::size_t) {}
bool Batch::put(int, std::uint32_t*, std::uint32_t) { return false; }
void Batch::settle(int) {}
void Batch::works_alone(int) {}
void Batch::forget(int) {}

#endif

}  // namespace perrin
