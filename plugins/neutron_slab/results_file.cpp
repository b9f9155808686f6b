#include "plugins/neutron_slab/results_file.h"

#include <vector>

#include "io/h5md_file.h"
#include "io/writer.h"

namespace neutron {

using perrin::io::ObservableColumn;
using perrin::io::ObservablesWriter;
using perrin::io::writer;

struct ResultsFile::Impl {
  std::unique_ptr<ObservablesWriter> file;
  int depth_bins = 0, angle_bins = 0;
  double thickness = 0;
};

namespace {

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
      list.push_back({name, {hsize_t(n)}, ""});
      list.push_back({std::string(name) + "_error", {hsize_t(n)}, ""});
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

}  // namespace

ResultsFile::ResultsFile(const std::string& path, int depth_bins, int angle_bins, double thickness,
                         const perrin::JobRecord& record, const perrin::Units& units,
                         bool overwrite, bool resumed, std::int64_t rows, std::int64_t last_step)
    : impl_(std::make_shared<Impl>()) {
  impl_->depth_bins = depth_bins;
  impl_->angle_bins = angle_bins;
  impl_->thickness = thickness;
  const auto list = columns(depth_bins, angle_bins, units.length);
  perrin::Units counting = units;
  counting.time.clear();  // it is the number of histories
  writer().call([&] {
    if (resumed)
      ObservablesWriter::trim(path, record, rows, last_step);
    else
      ObservablesWriter::create(path, list, record, counting, overwrite);
    impl_->file = std::make_unique<ObservablesWriter>(path, list);
  });
}

ResultsFile::~ResultsFile() {
  try {
    writer().call([this] { impl_->file.reset(); });
  } catch (...) {  // told before, by append() or flush()
  }
}

void ResultsFile::append(const Results& results) {
  std::vector<double> row;
  put(results.transmission(), row);
  put(results.reflection(), row);
  put(results.absorption(), row);
  put(results.collisions(), row);
  row.push_back(results.simulated_collisions());
  put_edges(impl_->depth_bins, impl_->thickness, row);
  put(results.flux(), row);
  put_edges(impl_->angle_bins, 1, row);
  put(results.transmitted_angles(), row);
  put(results.reflected_angles(), row);
  const std::int64_t histories = results.histories();
  writer().push(
      [impl = impl_, histories, row] { impl->file->append(histories, double(histories), row); },
      8 * row.size());
}

void ResultsFile::flush() {
  writer().wait();
  writer().call([this] {
    impl_->file->flush();
    impl_->file->flush_to_disk();
  });
}

}  // namespace neutron
