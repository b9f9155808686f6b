// What two systems of an ensemble exchanged, of exchange.csv and exchange.json (Gibbs ensemble).
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace perrin::report {

/// {pairs: [{systems, transfers, volumes}], columns: [{name, line}]}: counts [tried, accepted] of
/// each pair, and the columns of the table as lines; null where there is no table. `problem`: takes
/// what is wrong with it.
nlohmann::ordered_json gibbs_exchange(const std::filesystem::path& folder,
                                      const std::function<void(const std::string&)>& problem);

}  // namespace perrin::report
