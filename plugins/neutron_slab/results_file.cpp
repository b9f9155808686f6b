#include "results_file.h"

#include <vector>

namespace neutron {
namespace {

using perrin::io::ObservableColumn;

std::vector<ObservableColumn> columns(int depth_bins, int angle_bins, const std::string& length) {
  std::vector<ObservableColumn> list;
  for (const char* name : {"transmission", "reflection", "absorption", "collisions"}) {
    list.push_back({name, {}, ""});
    list.push_back({std::string(name) + "_error", {}, ""});
  }
  list.push_back({"simulated_collisions", {}, ""});
  const auto bins = [&](const std::string& edges, const std::string& unit, int n,
                        std::initializer_list<const char*> names) {
    if (n == 0) return;
    list.push_back({edges, {hsize_t(n) + 1}, unit});
    for (const char* name : names) {
      list.push_back({name, {hsize_t(n)}, "", 1, edges});
      list.push_back({std::string(name) + "_error", {hsize_t(n)}, "", 1, edges});
    }
  };
  bins("depth_edges", length, depth_bins, {"flux"});
  bins("cosine_edges", "", angle_bins, {"transmitted_angles", "reflected_angles"});
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

/// Histories in place of times: without a unit.
perrin::Units counting_histories(perrin::Units units) {
  units.time.clear();
  return units;
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path, int depth_bins, int angle_bins,
                         double thickness, const perrin::Setup& setup)
    : depth_bins_(depth_bins),
      angle_bins_(angle_bins),
      thickness_(thickness),
      file_(std::move(path), columns(depth_bins, angle_bins, setup.units().length), setup,
            counting_histories(setup.units())) {}

void ResultsFile::append(const Results& results) {
  std::vector<double> row;
  put(results.transmission(), row);
  put(results.reflection(), row);
  put(results.absorption(), row);
  put(results.collisions(), row);
  row.push_back(results.simulated_collisions());
  put_edges(depth_bins_, thickness_, row);
  put(results.flux(), row);
  put_edges(angle_bins_, 1, row);
  put(results.transmitted_angles(), row);
  put(results.reflected_angles(), row);
  const std::int64_t histories = results.histories();
  file_.append(histories, double(histories), std::move(row));
}

}  // namespace neutron
