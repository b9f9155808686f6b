#include "io/observables_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "io/h5md_elements.h"
#include "io/new_file.h"
#include "io/run_record.h"

namespace perrin::io {

static constexpr std::int64_t most_rows = 1 << 18;  // until the file is opened anew

static void write_contents(const Node& root, const std::vector<ObservableColumn>& columns,
                           const JobRecord& record, const Units& units) {
  write_run_record(root, record, !units.reduced());
  write_module(root, "thermodynamics");
  root.make_group("particles");
  Node step, time;
  for (const ObservableColumn& column : columns) {
    const Node group = root.make_group("observables/" + column.name);
    if (step.file().empty()) {
      make_clock(group, file_time(units));
      step = group.open("step");
      time = group.open("time");
    } else {
      group.hard_link(step, "step");
      group.hard_link(time, "time");
    }
    if (!column.axis.empty()) group.attribute("axis", column.axis);
    hsize_t width = 1;
    for (const hsize_t extent : column.row) width *= extent;
    // Wide rows (profiles, spectra) in chunks that still fit a cache.
    const hsize_t chunk = width <= 64 ? scalar_chunk : std::max<hsize_t>(1, 32768 / width);
    set_unit(Series::make(group, "value", H5T_IEEE_F64LE, column.row, chunk).node(),
             {column.unit, column.factor});
  }
}

void ObservablesWriter::create(const std::string& path,
                               const std::vector<ObservableColumn>& columns,
                               const JobRecord& record, const Units& units, bool overwrite) {
  NewFile place(path);
  File file = File::create(place.aside());
  write_contents(file.root(), columns, record, units);
  file.close();
  place.put_in_place(overwrite);
}

void ObservablesWriter::trim(const std::string& path, const JobRecord& record, std::int64_t rows,
                             std::int64_t last_step) {
  File file = File::modify(path);
  const auto names = file.root().open("observables").children();
  if (names.empty()) throw UserError(path + ": cannot be continued: it has no observables");
  const std::string clock = "observables/" + names[0];
  check_steps(file.root(), clock + "/step", rows, last_step);
  const auto cut = [&](const std::string& name) {
    Series series = Series::open(file.root(), name, H5T_NATIVE_DOUBLE);
    if (series.size() < rows)
      throw UserError(fmt::format("{}: cannot be continued: {} has {} rows, expected {}", path,
                                  series.node().path(), series.size(), rows));
    series.truncate(rows);
  };
  for (const std::string& name : names) cut("observables/" + name + "/value");
  cut(clock + "/step");
  cut(clock + "/time");
  renew_run_record(file.root(), record, last_step);
  file.close();
}

ObservablesWriter::ObservablesWriter(const std::string& path,
                                     const std::vector<ObservableColumn>& columns)
    : OpenWhenUsed(path, most_rows), columns_(columns) {
  if (has_room()) use();
}

ObservablesWriter::~ObservablesWriter() {
  try {
    close();
  } catch (const std::exception& error) {
    remember_output_failure(error.what());
  }
}

void ObservablesWriter::open_parts(const Node& root) {
  const Node group = root.open("observables");
  step_ = Series::open(group, columns_.front().name + "/step", H5T_NATIVE_INT64);
  time_ = Series::open(group, columns_.front().name + "/time", H5T_NATIVE_DOUBLE);
  for (const ObservableColumn& column : columns_) {
    values_.push_back(Series::open(group, column.name + "/value", H5T_NATIVE_DOUBLE));
    std::size_t width = 1;
    for (const hsize_t extent : column.row) width *= extent;
    widths_.push_back(width);
    factors_.push_back(factor_of(values_.back()));
  }
  time_factor_ = factor_of(time_);
}

void ObservablesWriter::write(std::int64_t step, double time, const double* values) {
  step_.append(&step);
  io::append(time_, &time, 1, time_factor_);
  for (std::size_t k = 0; k < values_.size(); ++k) {
    io::append(values_[k], values, widths_[k], factors_[k]);
    values += widths_[k];
  }
}

void ObservablesWriter::write_waiting() {
  if (waiting_.empty() && !late_.waits()) return;
  File& file = use();
  for (const Waiting& row : std::exchange(waiting_, {}))
    write(row.step, row.time, row.values.data());
  waiting_bytes_ = 0;
  late_.write(file);
}

void ObservablesWriter::append(std::int64_t step, double time, const std::vector<double>& values) {
  if (!is_open() && !has_room() && waiting_bytes_ < most_waiting) {
    waiting_.push_back({step, time, values});
    waiting_bytes_ += sizeof(Waiting) + 8 * values.size();
    return;
  }
  use();
  write_waiting();
  write(step, time, values.data());
  // Rows come far oftener than anybody looks.
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ > std::chrono::milliseconds(250)) {
    flush();
    flushed_ = now;
  }
}

void ObservablesWriter::write_neighbors(const std::string& report) {
  late_.neighbors(report);
  if (is_open()) flush();
}

void ObservablesWriter::write_stage(std::size_t stages, std::size_t k, std::int64_t step,
                                    const std::string& remark) {
  late_.stage(stages, k, step, remark);
  if (is_open()) flush();
}

void ObservablesWriter::flush() {
  write_waiting();
  if (!is_open()) return;  // closing it has flushed it
  step_.flush();
  time_.flush();
  for (Series& series : values_) series.flush();
}

void ObservablesWriter::close_parts() {
  step_ = Series();
  time_ = Series();
  values_.clear();
  widths_.clear();
  factors_.clear();
}

void ObservablesWriter::close() {
  write_waiting();
  close_for_good();
}

}  // namespace perrin::io
