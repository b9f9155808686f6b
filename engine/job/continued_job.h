// What a resumed run cannot be given anew, because it would have no effect or spoil its files.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/settings/settings.h"

namespace perrin {

using ContinuedReport = std::function<void(const std::string& path, const std::string& what)>;

/// `before`: the job of the checkpoint; `said`: with what has been changed, as the user says it;
/// `after`: the same with all defaults. Attributes were made at the start, and so were groups of
/// places. An observer's rows and frames are of one definition: its settings, and those of the
/// groups that it names. The first `complete_stages` have run. `report` takes mistakes with their
/// paths.
void check_continued(const Json& before, const Json& said, Json after, std::size_t complete_stages,
                     const ContinuedReport& report);

}  // namespace perrin
