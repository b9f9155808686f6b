#include "app/ensemble/ensemble_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ensemble/ensemble_files.h"
#include "app/ensemble/ensemble_store.h"
#include "engine/base/error.h"
#include "engine/settings/output_names.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

/// One name of a file, symbolic links of its folders followed.
fs::path one_name(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(file).lexically_normal();
  const fs::path name = fs::weakly_canonical(whole, error);
  return error ? whole : name;
}

}  // namespace

EnsembleOutputs::EnsembleOutputs(const Variations& variations, const fs::path& folder)
    : variations_(variations) {
  std::vector<std::string> own{ensemble_file_name};
  if (variations.settings().exchange) own.insert(own.end(), {"exchange.csv", exchange_file_name});
  if (variations.settings().files == "one") own.emplace_back(ensemble_store_name);
  for (const std::string& name : own) keep(one_name(folder / name), "the ensemble");
  for (std::int64_t k = 0; k < variations.count(); ++k)
    keep(one_name(folder / variations.name(k) / system_file_name), "the ensemble");
}

std::string EnsembleOutputs::writer_of(const fs::path& file) const {
  if (const auto same = writers_.find(file); same != writers_.end()) return same->second;
  for (const char* const added : companions) {
    if (const auto beside = writers_.find(file.string() + added); beside != writers_.end())
      return beside->second;
    const std::string name = file.string();
    if (!name.ends_with(added)) continue;
    const auto of = writers_.find(name.substr(0, name.size() - std::string(added).size()));
    if (of != writers_.end()) return of->second;
  }
  return "";
}

void EnsembleOutputs::keep(const fs::path& file, const std::string& writer) {
  writers_.emplace(file, writer);
}

void EnsembleOutputs::look(std::int64_t system, const Job& job) {
  std::vector<std::pair<fs::path, std::string>> files;  // and the component of each
  for (const auto& [file, component] : job.context().outputs)
    files.emplace_back(one_name(file), component);
  Problems problems;
  for (const auto& [file, component] : files)
    if (const std::string writer = writer_of(file); !writer.empty())
      problems.add(variations_.job(system).problem(
          component, fmt::format("{} is also written by {}; every output needs a separate file",
                                 file.string(), writer)));
  problems.throw_if_any();
  for (const auto& [file, component] : files)
    keep(file, fmt::format("system {}", variations_.name(system)));
}

}  // namespace perrin
