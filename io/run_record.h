// What every output file of a run says about the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/run/setup.h"
#include "io/hdf5.h"

namespace perrin::io {

/// Author, creator, and /parameters/perrin.
void write_run_record(const Node& root, const JobRecord& record, bool named_units);
/// For a resumed run: where it has something otherwise than the run before, it becomes the record,
/// and that one goes to /parameters/perrin/earlier/0, 1, … with the last step written under it.
void renew_run_record(const Node& root, const JobRecord& record, std::int64_t last_step);

/// An H5MD module that the file follows, in version 1.0.
void write_module(const Node& root, const std::string& name);
/// How pairs were found: Simulation::neighbor_report(). At most 1024 characters.
void rewrite_neighbors(const File& file, const std::string& report);
/// At which step each stage of the job began, -1: not yet (Simulation::stage_steps), and what it
/// has warned of at its end (stage_remarks), at most 1024 bytes each.
void rewrite_stages(const File& file, const std::vector<std::int64_t>& steps,
                    const std::vector<std::string>& remarks);
/// `path`: a series of steps. Throws UserError where it has not so many rows, or where the last of
/// them is of another step: the file is not the one that the checkpoint knows.
void check_steps(const Node& root, const std::string& path, std::int64_t rows,
                 std::int64_t last_step);

}  // namespace perrin::io
