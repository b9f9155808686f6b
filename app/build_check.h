// Whether a program that loads libperrin was compiled for it.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "app/commands.h"
#include "app/job_files.h"
#include "app/resumed_job.h"
#include "engine/job/job.h"
#include "engine/run/run.h"

namespace perrin {

/// Sizes of classes whose headers no build tag counts: where one differs, a call would crash.
using Layout = std::array<std::size_t, 9>;
constexpr Layout layout{sizeof(Job),        sizeof(JobOptions), sizeof(RunParts),
                        sizeof(Run),        sizeof(Simulation), sizeof(Components),
                        sizeof(ResumedJob), sizeof(JsonFile),   sizeof(io::FolderLocks)};

/// How the build of `who`, with its PERRIN_BUILD_TAG and `layout`, differs from that of the
/// library, with the names of both files; empty: it does not.
std::string other_build(const std::string& who, const std::string& tag, const Layout& sizes);

}  // namespace perrin
