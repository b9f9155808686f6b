#include "app/ensemble/system_run.h"

#include <fmt/format.h>

#include "app/ensemble/ensemble_files.h"
#include "engine/base/error.h"
#include "io/checkpoint.h"

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

SystemRun::SystemRun(EnsembleContext& ensemble, std::int64_t system)
    : ensemble_(ensemble),
      system_(system),
      folder_(ensemble.options.output_directory / ensemble.variations.name(system)),
      options_(ensemble.options) {
  options_.output_directory = folder_;
  options_.quiet = true;
  options_.time_limit = 0;  // of all systems together: EnsembleContext::stop_reason
}

SystemRun::~SystemRun() = default;

/// Where the job's checkpoints are.
fs::path SystemRun::checkpoint() const {
  const JsonFile job = ensemble_.variations.job(system_);
  for (const Json& observer : job.value().value("observers", Json::array()))
    if (observer.value("type", "") == "checkpoint")
      return folder_ / observer.value("file", CheckpointSettings().file);
  return folder_ / options_.default_checkpoint;
}

void SystemRun::begin() {
  const std::lock_guard lock(ensemble_.making);
  std::optional<Archive> restored;
  std::error_code ignored;
  if (ensemble_.resuming && fs::exists(checkpoint(), ignored)) {
    resumed_.emplace(read_resumed_job(checkpoint(), ensemble_.changes, 0, true));
    facts_ = resumed_->checkpoint.facts;
    continue_options(*resumed_, options_, false);
    restored.emplace(Archive::restoring(std::move(resumed_->checkpoint.records)));
  } else {
    const fs::path before = previous_checkpoint(checkpoint());
    if (ensemble_.resuming && fs::exists(before, ignored))
      throw UserError(fmt::format(
          "has no {}, and the checkpoint before it, {}: rename that, and the system goes on from "
          "there; remove both, and it begins anew",
          checkpoint().filename().string(), before.string()));
    if (ensemble_.resuming && system_ended(folder_) == true)
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
  if (const Configuration* const start = job_->context().configuration)
    particles_ = std::int64_t(start->position.size());
  if (options_.validating) return;
  take_folders(*job_, locks_);
  RunParts parts = job_->take_parts();
  parts.label = fmt::format("system {}: ", ensemble_.variations.name(system_));
  parts.write_checkpoint = checkpoint_writer(*job_, options_, ensemble_.facts);
  if (const auto& exchange = ensemble_.variations.settings().exchange) {
    if (!exchange->is_gibbs())
      parts.totals_every = exchange->every;
    else if (exchange->volume && parts.simulation)
      parts.simulation->particles.box_state.let_move();  // before lists are restored
  }
  parts.interrupted = [this] {
    if (const std::string why = ensemble_.stop_reason(); !why.empty())
      job_->control().request_stop(why);
    return false;
  };
  run_ = std::make_unique<Run>(std::move(parts), job_->control());
  if (restored) run_->restore(std::move(*restored));
  if (run_->has_simulation()) particles_ = run_->simulation().particles.size();
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

void SystemRun::end() { run_.reset(); }

}  // namespace perrin
