// The files of an ensemble beside those of its systems: ensemble.json (the job), system.json in the
// folder of each system (its values, and how it ended), exchange.csv and exchange.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/ensemble/exchange.h"
#include "engine/job/variations.h"

namespace perrin {

constexpr const char* ensemble_file_name = "ensemble.json";
constexpr const char* system_file_name = "system.json";

struct EnsembleRecord {
  std::string job;  // JSON with "ensemble" and seed
  std::string job_directory, device;
  /// --set of resumed runs, in turn: `job` has them, checkpoints of systems that have not gone on
  /// since do not.
  std::vector<std::string> changes;
};
void write_ensemble_file(const std::filesystem::path& folder, const Variations& variations,
                         const EnsembleRecord& record);
/// Throws UserError where there is none or it is damaged.
EnsembleRecord read_ensemble_file(const std::filesystem::path& folder);
bool is_ensemble_folder(const std::filesystem::path& folder);

/// When a system has ended. `error`: why it failed; empty: it is complete. It is not brought to the
/// disk, which would take longer than a small system: where the power fails soon after, a system
/// without this file, or with an empty one, is one that has not ended.
void write_system_file(const std::filesystem::path& folder, const Variations& variations,
                       std::int64_t system, const std::string& error);
/// True: complete; false: failed; nothing: it has not ended.
std::optional<bool> system_ended(const std::filesystem::path& folder);

constexpr const char* exchange_file_name = "exchange.json";
/// What Exchange::state() says, when all systems have written a checkpoint, have ended or were
/// stopped.
void write_exchange_file(const std::filesystem::path& folder, const Exchange& exchange);

/// exchange.csv: step, and what the exchange says of it.
class ExchangeTable {
 public:
  /// Goes on behind the row of Exchange::last_step(); 0: begins anew.
  ExchangeTable(const std::filesystem::path& folder, const Exchange& exchange);
  void add(const Exchange& exchange);
  /// Brings its rows to the disk. Throws RunError.
  void sync() const;

 private:
  std::filesystem::path file_;
};

}  // namespace perrin
