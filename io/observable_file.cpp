#include "io/observable_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/error.h"
#include "engine/dynamics/observation.h"
#include "engine/system/changed_since.h"
#include "io/continued_file.h"
#include "io/hdf5.h"
#include "io/journal.h"

namespace perrin::io {
namespace {

/// Throws UserError where a file has other columns.
void check_columns(const std::string& path, const std::vector<ObservableColumn>& columns) {
  finish_changes(path);
  const File file = File::read(path);
  const auto refuse = [&](const std::string& what) { refuse_to_continue(path, what); };
  if (!file.root().has("observables")) refuse("it has no /observables");
  const Node group = file.root().open("observables");
  for (const ObservableColumn& column : columns) {
    if (!group.has(column.name + "/value")) refuse("it has no column " + column.name);
    Shape row = group.open(column.name + "/value").shape();
    if (!row.empty()) row.erase(row.begin());
    if (row != column.row)
      refuse(fmt::format("its column {} has rows of the shape [{}], expected [{}]", column.name,
                         fmt::join(row, "]["), fmt::join(column.row, "][")));
  }
  if (const std::size_t n = group.children().size(); n != columns.size())
    refuse(fmt::format("it has {} columns, expected {}", n, columns.size()));
}

}  // namespace

ObservableFile::ObservableFile(std::filesystem::path path, std::vector<ObservableColumn> columns,
                               const Setup& setup, const Units& units)
    : OutputFile(std::move(path), setup, units), columns_(std::move(columns)) {}

ObservableFile::ObservableFile(std::filesystem::path path, std::vector<ObservableColumn> columns,
                               const Setup& setup)
    : ObservableFile(std::move(path), std::move(columns), setup, setup.units()) {}

void ObservableFile::open(bool resumed, const std::function<void(const Node& root)>& constants) {
  const std::string path = path_.string();
  const auto create = [&] {
    ObservablesWriter::create(path, columns_, *record_, units_, overwrite_);
    if (!constants) return;
    File file = File::modify(path);
    constants(file.root());
    file.close();
  };
  make_or_trim(
      resumed, create, [&] { return std::make_shared<ObservablesWriter>(path, columns_); },
      [&] { check_columns(path, columns_); });
}

void ObservableFile::append(std::int64_t step, double time, std::vector<double> row) {
  const std::size_t bytes = 8 * row.capacity();
  push(step, bytes, [step, time, row = std::move(row)](ObservablesWriter& file) {
    file.append(step, time, row);
  });
}

void ObservableFile::begin(const Observation& seen, bool resumed,
                           const std::function<void(const Node& root)>& constants) {
  if (!is_open()) {
    open(resumed, constants);
    write_neighbors(seen.neighbor_report());
  }
  write_stages(seen.stages().steps(), seen.stages().remarks());
}

void ObservableFile::end(const Observation& seen) {
  if (is_open()) {
    write_neighbors(seen.neighbor_report());
    write_stages(seen.stages().steps(), seen.stages().remarks());
  }
  writer().wait();
}

void ObservableFile::state(Archive& archive) {
  save_or_restore(archive, "rows");
  std::string names, before;
  for (const ObservableColumn& column : columns_) {
    names += " " + column.name;
    for (const hsize_t n : column.row) names += fmt::format("[{}]", n);
  }
  if (changed_since(archive, "columns", names, &before) && !path_.empty())
    throw UserError(fmt::format("{}: its columns are{}; a resumed run cannot have{}",
                                path_.string(), before, names));
}

}  // namespace perrin::io
