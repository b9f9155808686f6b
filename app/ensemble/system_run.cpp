#include "app/ensemble/system_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ensemble/ensemble_files.h"
#include "engine/base/error.h"
#include "io/checkpoint.h"
#include "io/new_file.h"

#ifdef PERRIN_CUDA
#include <cuda_runtime_api.h>
#endif

namespace perrin {
namespace fs = std::filesystem;

void use_device([[maybe_unused]] const Device& device) {
#ifdef PERRIN_CUDA
  if (device.is_cuda())
    check_cuda(cudaSetDevice(std::stoi(device.name().substr(5))), "selecting the device");
#endif
}

fs::path EnsembleContext::folder(std::int64_t system) const {
  return options.output_directory / variations.name(system);
}

fs::path EnsembleContext::checkpoint(std::int64_t system) const {
  const JsonFile job = variations.job(system);
  for (const Json& observer : job.value().value("observers", Json::array()))
    if (observer.value("type", "") == "checkpoint")
      return folder(system) / observer.value("file", CheckpointSettings().file);
  return folder(system) / options.default_checkpoint;
}

SystemRun::SystemRun(EnsembleContext& ensemble, std::int64_t system)
    : ensemble_(ensemble),
      system_(system),
      folder_(ensemble.folder(system)),
      options_(ensemble.options) {
  options_.output_directory = folder_;
  options_.quiet = true;
  options_.time_limit = 0;  // of all systems together: EnsembleContext::stop_reason
}

SystemRun::~SystemRun() = default;

void SystemRun::begin() {
  const std::lock_guard lock(ensemble_.making);
  std::optional<Archive> restored;
  std::error_code ignored;
  const Start start = ensemble_.start(system_);
  const fs::path newest = ensemble_.checkpoint(system_), before = previous_checkpoint(newest);
  const fs::path& from = start == Start::previous ? before : newest;
  const bool continued = ensemble_.resuming && start != Start::anew;
  if (continued && fs::exists(from, ignored)) {
    resumed_.emplace(read_resumed_job(from, ensemble_.changes, 0, true));
    facts_ = resumed_->checkpoint.facts;
    continue_options(*resumed_, options_, false);
    restored.emplace(Archive::restoring(std::move(resumed_->checkpoint.records)));
  } else {
    if (continued && fs::exists(before, ignored))
      throw UserError(fmt::format(
          "has no {}, and the checkpoint before it, {}: rename that, and the system goes on from "
          "there; remove both, and it begins anew",
          newest.filename().string(), before.string()));
    if (continued && system_ended(folder_) == true)
      throw UserError(
          "is complete and has no checkpoint to go on from: an observer of type \"checkpoint\" "
          "writes one at the end");
    file_.emplace(ensemble_.variations.job(system_));
    // What a killed run has left of a system without a checkpoint is begun anew.
    options_.overwrite = options_.overwrite || ensemble_.resuming;
  }
  job_ = std::make_unique<Job>(resumed_ ? resumed_->file : *file_, ensemble_.components.registry,
                               ensemble_.components.plugins, options_,
                               restored ? &*restored : nullptr);
  if (const Configuration* const given = job_->context().configuration)
    particles_ = std::int64_t(given->position.size());
  if (options_.validating) return;
  take_folders(*job_, locks_);
  if (start == Start::previous) {
    // The next one must find it in the place from which it becomes the previous one again.
    fs::rename(before, newest);
    io::sync_folder_of(newest.string());
  }
  RunParts parts = job_->take_parts();
  parts.label = fmt::format("system {}: ", ensemble_.variations.name(system_));
  parts.write_checkpoint = checkpoint_writer(*job_, options_, ensemble_.facts);
  if (const auto& exchange = ensemble_.variations.settings().exchange) {
    parts.saved_from_outside = true;
    if (!exchange->is_gibbs())
      parts.totals_every = exchange->every;
    else if (exchange->volume && parts.simulation)
      parts.simulation->particles().box_state().let_move();  // before lists are restored
  }
  parts.interrupted = [this] {
    if (const std::string why = ensemble_.stop_reason(); !why.empty())
      job_->control().request_stop(why);
    return false;
  };
  run_ = std::make_unique<Run>(std::move(parts), job_->control());
  if (restored) run_->restore(std::move(*restored));
  if (run_->has_simulation()) particles_ = run_->simulation().particles().size();
}

void SystemRun::run_to(std::uint64_t step) {
  const auto now = [this] {
    return run_->has_simulation() ? std::int64_t(run_->simulation().step()) : 0;
  };
  use_device(job_->context().device);
  const std::int64_t before = now();
  run_->pause_at(step);
  complete_ = run_->execute();
  stopped_ = !complete_ && !run_->stop_reason().empty();
  steps_made_ += now() - before;
}

bool SystemRun::wants_checkpoint(double seconds) const {
  return job_->control().has_requests() ||
         std::ranges::any_of(job_->control().plans(), [seconds](const RunControl::Plan& plan) {
           return plan.seconds > 0 && seconds >= plan.seconds;
         });
}

void SystemRun::save() {
  use_device(job_->context().device);
  run_->save_all();
}

void SystemRun::end() { run_.reset(); }

}  // namespace perrin
