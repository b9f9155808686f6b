// Several processes that begin a run make sure that it is the same.
#pragma once

#include <string>

#include "engine/job/job.h"
#include "io/checkpoint.h"

namespace perrin {

/// Throws UserError, the same in all processes, where `mine` is not what the first one has; it says
/// which process that is, and the first line that differs. Texts may be long.
void require_same(const std::string& what, const std::string& mine);

/// What is known before the job is made: the build, the job with --set, options.
void require_same_program(const Json& job, const JobOptions& options);
void require_same_checkpoint(const Checkpoint& checkpoint);
/// All of it. Before a simulation takes it (JobOptions::on_start).
void require_same_particles(const Configuration& start);
/// What the job consists of beside particles: plug-ins, kind of device. Afterwards no process looks
/// at what is there already any longer, and the first one may write.
void require_same_parts(const Job& job, const PluginLoader& plugins);

/// A line for the console about who works with what; "" where there is one process.
std::string processes_summary(const Job& job);

}  // namespace perrin
