// An HDF5 file of observables as the page shows it.
#pragma once

#include "app/report/record.h"
#include "engine/settings/settings.h"
#include "io/hdf5.h"

namespace perrin::report {

/// All under /observables, on the writer's thread:
///   series   numbers (and up to 16 of them) against time: lines, thinned, with their statistics in
///            the last stage that has rows
///   curves   what stands against an axis of its own (r, lag_time, …), a bin or |k|: the mean over
///            the rows of that stage, or, where rows go on counting, the last row
///   results  numbers of a file whose rows are the best estimates yet, with errors (X and X_error)
/// Throws UserError where the file is not as expected.
Json observables_of(const io::Node& root, const Record& record);

}  // namespace perrin::report
