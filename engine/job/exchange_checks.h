// What an ensemble's "exchange" wants of the settings that vary.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/ensemble_settings.h"

namespace perrin {

/// [system]: paths and values that vary. Reports at paths of the job.
void check_exchange(
    const EnsembleSettings& settings,
    const std::vector<std::vector<std::pair<std::string, Json>>>& values,
    const std::function<void(const std::string& path, const std::string& what)>& report);
/// `stages`: of all jobs of the ensemble.
void check_exchange_stages(
    const ExchangeSettings& settings, const Json& stages,
    const std::function<void(const std::string& path, const std::string& what)>& report);

}  // namespace perrin
