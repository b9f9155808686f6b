#include "results_file.h"

#include <span>
#include <vector>

namespace neutron {
namespace {

using perrin::io::ObservableColumn;

/// In the order of Bins::Spectrum.
constexpr const char* spectra[] = {"reflected_spectrum", "transmitted_spectrum",
                                   "absorbed_spectrum", "flux_spectrum"};

/// `energies`: bins of the spectra; nothing where neutrons are of one speed.
std::vector<ObservableColumn> columns(int depth_bins, int angle_bins, std::optional<int> energies,
                                      const perrin::Units& units) {
  std::vector<ObservableColumn> list;
  std::vector<const char*> outcomes{"transmission", "reflection", "absorption", "collisions"};
  if (energies) outcomes.push_back("slowed_down");
  for (const char* name : outcomes) {
    list.push_back({name, {}, ""});
    list.push_back({std::string(name) + "_error", {}, ""});
  }
  list.push_back({"simulated_collisions", {}, ""});
  const auto bins = [&](const std::string& edges, const std::string& unit, int n,
                        std::span<const char* const> names) {
    if (n == 0) return;
    list.push_back({edges, {hsize_t(n) + 1}, unit});
    for (const char* name : names) {
      list.push_back({name, {hsize_t(n)}, "", 1, edges});
      list.push_back({std::string(name) + "_error", {hsize_t(n)}, "", 1, edges});
    }
  };
  constexpr const char *depth[] = {"flux"}, *angles[] = {"transmitted_angles", "reflected_angles"};
  bins("depth_edges", units.length, depth_bins, depth);
  bins("cosine_edges", "", angle_bins, angles);
  bins("energy_edges", units.energy, energies.value_or(0), spectra);
  return list;
}

void put(const Estimate& e, std::vector<double>& row) { row.insert(row.end(), {e.mean, e.error}); }

void put(const std::vector<Estimate>& list, std::vector<double>& row) {
  for (const Estimate& e : list) row.push_back(e.mean);
  for (const Estimate& e : list) row.push_back(e.error);
}

void put_edges(int n, double end, std::vector<double>& row) {
  for (int k = 0; n > 0 && k <= n; ++k) row.push_back(end * k / n);
}

std::optional<int> spectral_bins(const std::optional<std::vector<double>>& edges) {
  if (!edges) return {};
  return edges->empty() ? 0 : int(edges->size()) - 1;
}

/// Histories in place of times: without a unit.
perrin::Units counting_histories(perrin::Units units) {
  units.time.clear();
  return units;
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path, int depth_bins, int angle_bins,
                         double thickness, std::optional<std::vector<double>> energy_edges,
                         const perrin::Setup& setup)
    : depth_bins_(depth_bins),
      angle_bins_(angle_bins),
      thickness_(thickness),
      energy_edges_(std::move(energy_edges)),
      file_(std::move(path),
            columns(depth_bins, angle_bins, spectral_bins(energy_edges_), setup.units()), setup,
            counting_histories(setup.units())) {}

void ResultsFile::append(const Results& results) {
  std::vector<double> row;
  put(results.transmission(), row);
  put(results.reflection(), row);
  put(results.absorption(), row);
  put(results.collisions(), row);
  if (energy_edges_) put(results.slowed_down(), row);
  row.push_back(results.simulated_collisions());
  put_edges(depth_bins_, thickness_, row);
  put(results.flux(), row);
  put_edges(angle_bins_, 1, row);
  put(results.transmitted_angles(), row);
  put(results.reflected_angles(), row);
  if (energy_edges_ && !energy_edges_->empty()) {
    row.insert(row.end(), energy_edges_->begin(), energy_edges_->end());
    for (int kind = 0; kind < Bins::spectra; ++kind)
      put(results.spectrum(Bins::Spectrum(kind)), row);
  }
  const std::int64_t histories = results.histories();
  file_.append(histories, double(histories), std::move(row));
}

}  // namespace neutron
