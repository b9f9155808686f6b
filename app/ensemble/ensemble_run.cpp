#include "app/ensemble/ensemble_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <limits>
#include <thread>

#include "app/ensemble/common_time.h"
#include "app/ensemble/deal_out.h"
#include "app/ensemble/ensemble_outputs.h"
#include "app/ensemble/ensemble_store.h"
#include "app/ensemble/gibbs_checks.h"
#include "app/ensemble/make_exchange.h"
#include "app/ensemble/replica_checks.h"
#include "app/same_run.h"
#include "engine/base/error.h"
#include "engine/communicator/communicator.h"
#include "engine/device/threads.h"
#include "engine/run/signals.h"
#include "io/writer.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_shown = 5;                               // different mistakes of systems
constexpr std::int64_t most_on_a_gpu = 1024;                        // systems at once …
constexpr std::int64_t particles_on_a_gpu = std::int64_t(1) << 24;  // … and their particles

/// Threads and the GPU of this process, of all that the host has. While no process is alone yet.
JobOptions with_share_of_host(JobOptions options) {
  if (options.threads <= 0) options.threads = default_threads();
  const Communicator& world = Communicator::world();
  const int gpus = cuda_device_count();
  if (world.several() && gpus > 0 && (options.device == "auto" || options.device == "cuda"))
    options.device = fmt::format("cuda:{}", world.host_rank() % gpus);
  return options;
}

/// Runs work(k) on threads k = 0 … count - 1, of which this one is the first. `hears`: who hears
/// the warnings of runs on the others.
template <class F>
void on_threads(int count, const WarningsHeard::Function& hears, const F& work) {
  std::vector<std::jthread> threads;
  for (int k = 1; k < count; ++k)
    threads.emplace_back([&work, &hears, k] {
      const WarningsHeard heard(hears);
      work(k);
    });
  work(0);
}

}  // namespace

EnsembleRun::EnsembleRun(const Variations& variations, JobOptions options, Resumed resumed,
                         WarningsHeard::Function hears)
    : variations_(variations),
      options_(with_share_of_host(for_exchange(variations, std::move(options)))),
      hears_(std::move(hears)),
      hears_runs_([this](const std::string& line) { hear(line); }),
      console_(options_.quiet || !all_.first()),
      context_{variations, {}, resumed.resuming, std::move(resumed.changes)} {
  const int threads = options_.threads;
  const std::int64_t count = (variations.count() + all_.count() - 1) / all_.count();
  if (!options_.validating)
    if (const Device device = Device::parse(options_.device, threads); device.is_cuda())
      batch_ = std::make_unique<Batch>(device);
  if (!options_.validating && !batch_)
    workers_ = int(std::min<std::int64_t>({count, threads, Threads::most}));
  at_once_ = batch_ ? int(std::min(count, most_on_a_gpu)) : workers_;
  JobOptions of_system = options_;
  of_system.threads = std::max(1, threads / std::max(workers_, 1));
  context_.options = of_system;
  context_.stop_reason = [this] { return stop_reason(); };
  exchange_ = make_exchange(variations, all_, workers_);
  if (exchange_) context_.facts = [this](auto& facts) { facts["ensemble"] = exchange_record_; };
  if (exchange_ && context_.resuming) agree_on_time();
  const bool terminal = isatty(STDOUT_FILENO) != 0 && !all_.several();
  progress_ =
      std::make_unique<Progress>(options_.quiet || !all_.first(), terminal, &console_.log());
}

/// As the first process sees it.
void EnsembleRun::agree_on_time() {
  Json found;
  if (all_.first()) try {
      found["time"] = to_text(find_common_time(context_));
    } catch (const UserError& e) {
      found["error"] = e.what();
    }
  found = Json::parse(all_.of_first(found.dump(-1, ' ', false, Json::error_handler_t::replace)));
  if (found.contains("error")) throw UserError(found["error"].get<std::string>());
  CommonTime time = common_time_of(found["time"].get<std::string>());
  context_.starts = std::move(time.starts);
  undone_ = std::move(time.undone);
}

std::string EnsembleRun::stop_reason() {
  if (over_) return "the stop of the other systems";
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (options_.time_limit > 0 && seconds >= options_.time_limit)
    return fmt::format("the time limit of {:g} s", options_.time_limit);
  return "";
}

void EnsembleRun::validate() {
  context_.options.validating = true;
  std::vector<std::string> mistakes(std::size_t(variations_.count()));
  GibbsChecks gibbs(variations_);
  ReplicaChecks replicas(variations_);
  EnsembleOutputs outputs(variations_, options_.output_directory);
  for (std::int64_t k = 0; k < variations_.count(); ++k) try {
      SystemRun system(context_, k);
      system.begin();
      tell_warnings(system);
      most_particles_ = std::max(most_particles_, system.particles());
      if (!system.is_complete()) left_.push_back(k);
      outputs.look(k, system.job());
      gibbs.look(k, system.job());
      replicas.look(k, system.job());
    } catch (const UserError& e) {
      mistakes[std::size_t(k)] = e.what();
    }
  context_.options.validating = options_.validating;
  std::vector<std::string> different;  // mostly all systems have the same
  for (const std::string& what : mistakes)
    if (!what.empty() && std::ranges::find(different, what) == different.end())
      different.push_back(what);
  if (different.empty()) return;
  std::string text;
  for (std::size_t k = 0; k < std::min(different.size(), most_shown); ++k) {
    const auto first = std::ranges::find(mistakes, different[k]) - mistakes.begin();
    const auto count = std::ranges::count(mistakes, different[k]);
    text += fmt::format("{}system {}{}:\n{}", k > 0 ? "\n" : "", variations_.name(first),
                        count > 1 ? fmt::format(" and {} others", count - 1) : "", different[k]);
  }
  if (different.size() > most_shown)
    text += fmt::format("\nother systems have {} other mistakes", different.size() - most_shown);
  throw UserError(text);
}

void EnsembleRun::tell_warnings(const SystemRun& run) {
  if (!all_.first()) return;  // it has looked at all systems
  const std::lock_guard lock(telling_);
  for (const std::string& warning : run.warnings()) {
    if (std::ranges::find(warnings_, warning) != warnings_.end()) continue;
    warnings_.push_back(warning);
    warn(warning);
  }
}

void EnsembleRun::warn(const std::string& what) {
  if (!hears_) return console_.warn(what);
  console_.log().put(what);
  hears_(what);
}

/// What the run of a system warns of, on any thread: "system 3: warning: …". Lines without a system
/// before them are in the log already.
void EnsembleRun::hear(const std::string& line) {
  const std::lock_guard lock(hearing_);
  if (line.starts_with("system ")) console_.log().put(line);
  if (hears_)
    hears_(WarningsHeard::without_mark(line));
  else
    fmt::print(stderr, "{}\n", line);
}

void EnsembleRun::tell_failure(const Failure& failure) {
  progress_->print(
      fmt::format("warning: system {} failed: {}", variations_.name(failure.system), failure.what));
}

void EnsembleRun::failed(std::int64_t system, const std::string& what) {
  const std::lock_guard lock(telling_);
  failures_.push_back({system, what});
  if (all_.first()) tell_failure(failures_.back());
  try {
    const fs::path folder = options_.output_directory / variations_.name(system);
    make_folder(folder);
    write_system_file(folder, variations_, system, what);
  } catch (const std::exception&) {  // said already
  }
}

void EnsembleRun::ended(std::int64_t system, SystemRun& run) {
  const bool complete = run.complete();
  run.end();
  io::writer().flush_and_wait();
  if (complete) write_system_file(run.folder(), variations_, system, "");
  const std::lock_guard lock(telling_);
  ++(complete ? complete_ : stopped_);
  particle_steps_ += double(run.steps_made()) * double(run.particles());
  if (!all_.several()) progress_->update(ended_before_ + complete_);
}

/// Whether it went well.
template <class F>
bool EnsembleRun::guarded(std::int64_t system, const F& f) {
  try {
    f();
    return true;
  } catch (const std::exception& e) {
    failed(system, e.what());
    return false;
  }
}

void EnsembleRun::run_whole(std::int64_t system, int member) {
  guarded(system, [&] {
    SystemRun run(context_, system);
    if (batch_) run.set_device(batch_->for_member(member));
    run.begin();
    tell_warnings(run);
    run.run_to(std::numeric_limits<std::uint64_t>::max());
    ended(system, run);
  });
}

void EnsembleRun::run_one(std::int64_t system, int member) {
  if (SignalWatch::received() != 0 || !stop_reason().empty()) {
    const std::lock_guard lock(telling_);
    ++stopped_;
    return;
  }
  run_whole(system, member);
}

void EnsembleRun::run_beside_one_another() {
  const auto n = std::int64_t(mine_.size());
  if (n == 0) return;
  if (batch_)
    return batch_->run(n, at_once_,
                       [&](std::int64_t k, int member) { run_one(mine_[std::size_t(k)], member); });
  std::atomic<std::int64_t> next = 0;
  on_threads(workers_, hears_runs_, [&](int worker) {
    for (std::int64_t k; (k = next++) < n;) run_one(mine_[std::size_t(k)], worker);
  });
}

/// Systems of several processes, which go their own ways: the main thread alone speaks to others.
void EnsembleRun::run_dealt_out() {
  if (!all_.several()) return run_beside_one_another();
  std::atomic<bool> done = false;
  std::jthread work([&] {
    const WarningsHeard heard(hears_runs_);
    try {
      if (batch_) use_device(batch_->for_member(0));
      run_beside_one_another();
    } catch (const std::exception& e) {
      error_ = fmt::format("{}: {}", all_.name(), e.what());
    }
    done = true;
  });
  try {
    listen(done);
  } catch (...) {
    over_ = true;  // they stop with a checkpoint before this process ends
    work.join();
    throw;
  }
}

/// Until all processes are done: a signal to one stops the systems of all.
void EnsembleRun::listen(const std::atomic<bool>& done) {
  std::chrono::microseconds pause{5000};
  while (true) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 5 / 4, std::chrono::microseconds(200000));
    std::int64_t sums[] = {done ? 1 : 0, SignalWatch::received() != 0 ? 1 : 0, 0};
    {
      const std::lock_guard lock(telling_);
      sums[2] = complete_;
    }
    all_.sum(sums);
    if (sums[1] > 0) over_ = true;
    if (sums[0] == all_.count()) return;
    const std::lock_guard lock(telling_);
    progress_->update(ended_before_ + sums[2]);
  }
}

/// What the checkpoints of all systems say of exchanges must be the same, but for those that were
/// complete before.
void EnsembleRun::begin_exchange() {
  Json mine = Json::array();
  for (const std::int64_t k : mine_)
    if (const SystemRun* const system = systems_[std::size_t(k)].get()) {
      const auto it = system->facts().find("ensemble");
      mine.push_back(
          {k, it == system->facts().end() ? "" : it->second, int(!system->is_complete())});
    }
  std::vector<Json> records;
  for (const std::string& text : all_.all_gather(mine.dump()))
    for (const Json& record : Json::parse(text)) records.push_back(record);
  const auto goes_on = [](const Json& record) { return record[2] == 1; };
  const auto first = std::ranges::find_if(records, goes_on);
  for (const Json& record : records)
    if (goes_on(record) && record[1] != (*first)[1])
      throw UserError(fmt::format(
          "{}: the checkpoints of systems {} and {} are of times between which replicas were "
          "exchanged: they do not go together",
          options_.output_directory.string(), variations_.name((*first)[0]),
          variations_.name(record[0])));
  const Json* last = first == records.end() ? nullptr : &*first;
  const auto step = [](const Json& record) {
    const Json state = Json::parse(record[1].get<std::string>(), nullptr, false);
    return state.is_object() ? state.value("last_step", std::uint64_t(0)) : 0;
  };
  if (last == nullptr)  // all are complete
    for (const Json& record : records)
      if (last == nullptr || step(record) > step(*last)) last = &record;
  if (last != nullptr && (*last)[1] != "") exchange_->restore((*last)[1].get<std::string>());
  exchange_record_ = exchange_->state();
  if (all_.first()) table_ = std::make_unique<ExchangeTable>(options_.output_directory, *exchange_);
}

/// Between rounds, while all systems wait.
void EnsembleRun::exchange_all(std::uint64_t step) {
  std::vector<Run*> ready(systems_.size());
  for (std::size_t k = 0; k < systems_.size(); ++k) {
    SystemRun* const system = systems_[k].get();
    if (system && !system->complete() && !system->stopped() && system->step() == step)
      ready[k] = &system->run();
  }
  for (const auto& [system, what] : exchange_->exchange(step, ready)) {
    failed(system, what);
    systems_[std::size_t(system)].reset();
  }
  exchange_record_ = exchange_->state();
  if (table_) table_->add(*exchange_);
}

/// Before an exchange: whether all systems are to write their checkpoints, as one of them wants. At
/// one moment for all, whatever the clocks of processes say, so that they go together.
bool EnsembleRun::wants_checkpoints() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - saved_).count();
  return std::ranges::any_of(systems_, [seconds](const auto& system) {
    return system && !system->complete() && system->wants_checkpoint(seconds);
  });
}

/// When all have written them: the files of the ensemble have what they count on.
void EnsembleRun::checkpoints_are_written() {
  saved_ = Clock::now();
  if (!table_) return;
  table_->sync();
  write_exchange_file(options_.output_directory, *exchange_);
}

/// The step of the first exchange; the same in all processes. One that a stopped ensemble has come
/// to and not made is made now.
std::uint64_t EnsembleRun::first_exchange() const {
  constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least = nowhere;
  for (const auto& system : systems_)
    if (system) least = std::min(least, system->step());
  for (const std::string& text : all_.all_gather(std::to_string(least)))
    least = std::min<std::uint64_t>(least, std::stoull(text));
  if (least == nowhere) least = 0;
  const std::uint64_t before = context_.resuming && least > 0 ? least - 1 : least;
  return exchange_->next_step(std::max(exchange_->last_step(), before));
}

/// Sets up the systems of this process, as far as their first step.
void EnsembleRun::begin_systems() {
  const auto n = std::int64_t(mine_.size());
  systems_.resize(std::size_t(variations_.count()));
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t k = mine_[std::size_t(j)];
    guarded(k, [&] {
      if (context_.start(k) == Start::left_out)
        throw UserError("has failed before, and the others have gone on without it");
      auto system = std::make_unique<SystemRun>(context_, k);
      if (batch_) system->set_device(batch_->for_member(int(j)));
      system->begin();
      tell_warnings(*system);
      if (!system->run().has_simulation())
        throw UserError("ensemble.exchange: the job has no system");
      systems_[std::size_t(k)] = std::move(system);
    });
  }
}

void EnsembleRun::run_with_exchange() {
  const auto n = std::int64_t(mine_.size());
  begin_systems();
  begin_exchange();
  std::uint64_t to = first_exchange();
  bool done = false;
  enum class Task { steps, checkpoints } task = Task::steps;
  std::exception_ptr error;
  const auto between = [&]() noexcept {
    try {
      bool waiting = false, stopped = false;
      for (const auto& system : systems_) {
        if (!system) continue;
        waiting = waiting || !(system->complete() || system->stopped());
        stopped = stopped || system->stopped();
      }
      const bool saved = task == Task::checkpoints;
      std::int64_t sums[] = {waiting, stopped, !saved && wants_checkpoints()};
      all_.sum(sums);
      waiting = sums[0] > 0, stopped = sums[1] > 0;
      if (saved) checkpoints_are_written();
      task = waiting && !stopped && sums[2] > 0 ? Task::checkpoints : Task::steps;
      done = !waiting;
      if (task == Task::checkpoints) return;
      if (stopped) {
        // Those that have come to the exchange, which is not made, have to hear of it.
        over_ = true;
        to = std::numeric_limits<std::uint64_t>::max();
      } else if (waiting) {
        exchange_all(to);
        to = exchange_->next_step(to);
      }
    } catch (...) {
      error = std::current_exception();
      done = true;
    }
  };
  const auto go_on = [&](std::int64_t j) {
    const std::int64_t k = mine_[std::size_t(j)];
    auto& system = systems_[std::size_t(k)];
    if (!system || system->complete() || system->stopped()) return;
    const auto work = [&] { task == Task::steps ? system->run_to(to) : system->save(); };
    if (!guarded(k, work)) system.reset();
  };
  const auto close = [&](std::int64_t j) {
    const std::int64_t k = mine_[std::size_t(j)];
    if (auto& system = systems_[std::size_t(k)]) guarded(k, [&] { ended(k, *system); });
  };
  if (batch_) {
    while (!done) {
      if (n > 0) batch_->run_members(int(n), go_on);
      between();
    }
    for (std::int64_t j = 0; j < n; ++j) close(j);
  } else {
    std::barrier meeting(workers_);
    on_threads(workers_, hears_runs_, [&](int worker) {
      while (!done) {
        for (std::int64_t j = worker; j < n; j += workers_) go_on(j);
        meeting.arrive_and_wait();
        if (worker == 0) between();  // the main thread, which alone speaks to other processes
        meeting.arrive_and_wait();
      }
      for (std::int64_t j = worker; j < n; j += workers_) close(j);
    });
  }
  if (error) std::rethrow_exception(error);
}

/// How many particles systems have, from one that has not ended: nobody has validated a resumed
/// one.
void EnsembleRun::look_at_one() {
  if (mine_.empty()) return;
  context_.options.validating = true;
  try {
    SystemRun system(context_, mine_.front());
    system.begin();
    most_particles_ = system.particles();
  } catch (const std::exception&) {  // it will say so when it is run
  }
  context_.options.validating = options_.validating;
}

/// Which systems are left, as the first process sees it, and which of them are run here. Those that
/// exchange something stay beside their neighbours; others are dealt out like cards.
void EnsembleRun::deal_out() {
  const std::int64_t n = variations_.count();
  complete_before_.assign(std::size_t(n), 0);
  if (all_.first()) {
    for (const std::int64_t k : undone_) {
      std::error_code ignored;
      fs::remove(context_.folder(k) / system_file_name, ignored);
    }
    for (std::int64_t k = 0; k < n; ++k)
      if (system_ended(options_.output_directory / variations_.name(k)) == true)
        complete_before_[std::size_t(k)] = 1;
  }
  all_.broadcast(complete_before_.data(), complete_before_.size());
  ended_before_ = std::ranges::count(complete_before_, 1);
  mine_ = perrin::deal_out(complete_before_, exchange_ ? exchange_->together() : 1,
                           exchange_ != nullptr, all_.rank(), all_.count());
}

void EnsembleRun::execute() {
  if (all_.first())
    console_.open_log(options_.output_directory,
                      fmt::format("perrin {} {}", context_.resuming ? "resume" : "run",
                                  context_.resuming ? options_.output_directory.string()
                                                    : options_.job_file.string()));
  for (const std::string& warning : warnings_) console_.log().put(warning);  // of validate()
  const WarningsHeard heard(hears_runs_);
  try {
    run_all();
  } catch (const std::exception& e) {
    console_.error(e.what());
    throw;
  }
}

void EnsembleRun::run_all() {
  const SignalWatch signals;
  const std::int64_t n = variations_.count();
  deal_out();
  if (batch_ && context_.resuming) look_at_one();
  if (batch_ && !exchange_ && most_particles_ > 0)
    at_once_ = int(std::clamp<std::int64_t>(particles_on_a_gpu / most_particles_, 1, at_once_));
  const std::int64_t at_once = all_.sum(std::min(std::int64_t(at_once_), std::ssize(mine_)));
  console_.say(fmt::format(
      "Perrin {}\nensemble  {} systems, {} at a time{}{}\n", engine_version(), n, at_once,
      all_.several() ? fmt::format(" in {} processes", all_.count()) : "",
      exchange_ ? fmt::format("; exchange every {} steps", variations_.settings().exchange->every)
                : ""));
  if (ended_before_ > 0) console_.say(fmt::format("complete  {} systems already\n", ended_before_));
  progress_->start("ensemble", "systems", ended_before_, n);
  if (exchange_ && ended_before_ < n)
    run_with_exchange();
  else
    run_dealt_out();
  gather_results();
  if (table_) write_exchange_file(options_.output_directory, *exchange_);
  if (all_.first() && variations_.settings().files == "one")
    store_systems(options_.output_directory, variations_);
  if (stopped_ == 0) progress_->finish(ended_before_ + complete_);
  summary(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
}

/// Afterwards all processes know how all systems have ended.
void EnsembleRun::gather_results() {
  Json failures = Json::array();
  for (const Failure& failure : failures_) failures.push_back({failure.system, failure.what});
  const Json mine{{"counts", {complete_, stopped_}},
                  {"particle_steps", particle_steps_},
                  {"failures", failures},
                  {"error", error_}};
  const auto texts = all_.all_gather(mine.dump(-1, ' ', false, Json::error_handler_t::replace));
  complete_ = stopped_ = 0, particle_steps_ = 0;
  failures_.clear(), error_.clear();
  for (std::size_t p = 0; p < texts.size(); ++p) {
    const Json results = Json::parse(texts[p]);
    complete_ += results["counts"][0].get<std::int64_t>();
    stopped_ += results["counts"][1].get<std::int64_t>();
    particle_steps_ += results["particle_steps"].get<double>();
    if (error_.empty()) error_ = results["error"];
    for (const Json& failure : results["failures"]) {
      failures_.push_back({failure[0], failure[1]});
      if (p > 0 && all_.first()) tell_failure(failures_.back());
    }
  }
  std::ranges::sort(failures_, {}, &Failure::system);
}

void EnsembleRun::summary(double seconds) {
  if (exchange_) {
    for (const std::string& line : exchange_->summary()) console_.say(line + "\n");
    // Of an ensemble that was stopped they are not known yet: exchanges may begin after it goes on.
    if (all_.first() && stopped_ == 0)
      for (const std::string& line : exchange_->warnings()) warn(line);
  }
  console_.say(fmt::format("{} systems complete{}{}, {:.2f} s, {} million particle steps/s\n",
                           ended_before_ + complete_,
                           failures_.empty() ? "" : fmt::format(", {} failed", failures_.size()),
                           stopped_ > 0 ? fmt::format(", {} stopped or not begun", stopped_) : "",
                           seconds, rate_text(seconds > 0 ? 1e-6 * particle_steps_ / seconds : 0)));
  if (batch_ && std::min<std::int64_t>(at_once_, complete_) > 1 && !batch_->has_joined_steps())
    console_.say(
        "the systems took turns on the GPU: no steps were launched for several at once; "
        "docs/guide/ensembles.md says which can be\n");
  if (stopped_ > 0)
    console_.say_always(fmt::format("stopped; continue with: perrin resume {}\n",
                                    options_.output_directory.string()));
  if (!error_.empty()) throw RunError(error_);
  if (!failures_.empty())
    throw RunError(fmt::format("{} of {} systems failed, the first of them system {}: {}",
                               failures_.size(), variations_.count(),
                               variations_.name(failures_.front().system), failures_.front().what));
}

}  // namespace perrin
