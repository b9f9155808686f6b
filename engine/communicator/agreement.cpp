#include "engine/communicator/agreement.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "engine/communicator/communicator.h"

namespace perrin {

double agreed(double value) { return Communicator::world().of_first(value); }
std::int64_t agreed(std::int64_t value) { return Communicator::world().of_first(value); }
std::int64_t agreed_max(std::int64_t value) { return Communicator::world().max(value); }

void first_before_others(const std::function<void()>& f) {
  Communicator& world = Communicator::world();
  if (!world.first()) world.barrier();
  f();
  if (world.first()) world.barrier();
}

bool writes_files() { return Communicator::world().first(); }

bool owns_terminal() { return ::isatty(STDOUT_FILENO) != 0 && !Communicator::world().several(); }

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, int(std::thread::hardware_concurrency()));
}

int cores_to_use() { return std::max(1, usable_cores() / Communicator::world().core_sharers()); }

}  // namespace perrin
