// Rows of observables in H5MD 1.1, in the layout that docs/guide/files.md describes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "io/open_when_used.h"
#include "io/run_record.h"

namespace perrin::io {

/// A file of one-dimensional (or small) series under /observables, each with value, step and time.
struct ObservableColumn {
  std::string name;   // "pressure_tensor"
  Shape row;          // {} for a number
  std::string unit;   // empty: none
  double factor = 1;  // what is written is the number of the job times this
  /// The column that says where its values are, where more than one would fit.
  std::string axis = {};
};

class ObservablesWriter final : OpenWhenUsed {
 public:
  static void create(const std::string& path, const std::vector<ObservableColumn>& columns,
                     const JobRecord& record, const Units& units, bool overwrite);
  static void trim(const std::string& path, const JobRecord& record, std::int64_t rows,
                   std::int64_t last_step);

  /// Opens for appending; where many files are open, when it is needed.
  ObservablesWriter(const std::string& path, const std::vector<ObservableColumn>& columns);
  ~ObservablesWriter();
  /// Values of all columns one after another. While the file is closed, rows wait for others.
  void append(std::int64_t step, double time, const std::vector<double>& values);
  /// Into the file, behind what waits, where it is open; else they wait.
  void write_neighbors(const std::string& report);
  void write_stage(std::size_t stages, std::size_t k, std::int64_t step, const std::string& remark);
  void flush();
  void flush_to_disk() {
    flush();
    sync();
  }
  void close();

 private:
  void open_parts(const Node& root) override;
  void close_parts() override;
  void write_waiting();
  void write(std::int64_t step, double time, const double* values);

  struct Waiting {
    std::int64_t step;
    double time;
    std::vector<double> values;
  };
  static constexpr std::size_t most_waiting = 16384;  // bytes
  std::vector<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  LateRecord late_;
  std::vector<ObservableColumn> columns_;
  Series step_, time_;
  std::vector<Series> values_;
  std::vector<std::size_t> widths_;
  std::vector<double> factors_;
  double time_factor_ = 1;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

}  // namespace perrin::io
