#include "engine/base/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "engine/base/error.h"

namespace perrin {
namespace {

constexpr std::size_t stack_bytes = std::size_t(1) << 20;

struct Cancelled {};  // thrown to leave a function that nobody will resume

}  // namespace

struct Fiber::State {
  std::function<void()> function;
  ucontext_t mine{}, caller{};
  void* stack = nullptr;
  std::size_t guard = 0;
  std::exception_ptr error;
  bool running = false, cancelled = false;

  State() : guard(std::size_t(sysconf(_SC_PAGESIZE))) {
    stack = mmap(nullptr, guard + stack_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) throw std::bad_alloc();
    mprotect(stack, guard, PROT_NONE);  // the stack grows towards it
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { munmap(stack, guard + stack_bytes); }

  void run() {
    try {
      if (!cancelled) function();
    } catch (const Cancelled&) {
    } catch (...) {
      error = std::current_exception();
    }
    running = false;
  }
  // makecontext() passes nothing but int.
  static thread_local State* starting;
  static void entry() { starting->run(); }
};

thread_local Fiber::State* Fiber::State::starting = nullptr;

Fiber::Fiber() : state_(std::make_unique<State>()) {}

Fiber::~Fiber() { cancel(); }

void Fiber::cancel() {
  if (!state_->running) return;
  state_->cancelled = true;
  State::starting = state_.get();
  swapcontext(&state_->caller, &state_->mine);
}

void Fiber::start(std::function<void()> function) {
  PERRIN_ASSERT(done());
  State& s = *state_;
  s.function = std::move(function);
  s.running = true;
  s.cancelled = false;
  getcontext(&s.mine);
  s.mine.uc_stack.ss_sp = static_cast<std::byte*>(s.stack) + s.guard;
  s.mine.uc_stack.ss_size = stack_bytes;
  s.mine.uc_link = &s.caller;
  makecontext(&s.mine, &State::entry, 0);
}

void Fiber::resume() {
  PERRIN_ASSERT(!done());
  State::starting = state_.get();
  swapcontext(&state_->caller, &state_->mine);
  if (auto error = std::exchange(state_->error, nullptr)) std::rethrow_exception(error);
}

bool Fiber::done() const { return !state_->running; }

void Fiber::wait() {
  swapcontext(&state_->mine, &state_->caller);
  if (state_->cancelled) throw Cancelled{};
}

}  // namespace perrin
