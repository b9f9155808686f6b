// `perrin validate --measure`: the errors of forces, beside those that are predicted.
#pragma once

#include <string>

#include "engine/job/job.h"

namespace perrin {

/// A line for each force of the job that predicts an error: what it is for the particles of the
/// start. `json`: the job's. Takes the parts of the job. Throws UserError where nothing can be
/// measured, which names `file`.
std::string measured_errors(Job& job, const Json& json, const std::string& file);

}  // namespace perrin
