#include "observable_file.h"

#include "io/archive_extent.h"
#include "io/writer.h"

namespace perrin::analysis {

ObservableFile::ObservableFile(const std::string& name, std::vector<io::ObservableColumn> columns,
                               Setup& setup)
    : columns_(std::move(columns)),
      record_(setup.record()),
      units_(setup.units()),
      overwrite_(setup.overwrite()) {
  if (name.empty())
    setup.error("file", "must not be empty");
  else
    path_ = setup.output_file(name, "file");
}

ObservableFile::~ObservableFile() {
  if (!file_) return;
  try {
    io::writer().call([&] { file_.reset(); });
  } catch (...) {  // already told
  }
}

void ObservableFile::begin(const Simulation& simulation, bool resumed,
                           const std::function<void(const io::Node&)>& constants) {
  if (file_) return;
  const std::string path = path_.string();
  io::writer().call([&] {
    if (resumed) {
      io::ObservablesWriter::trim(path, *record_, rows_, last_step_);
    } else {
      io::ObservablesWriter::create(path, columns_, *record_, units_, overwrite_);
      if (constants) {
        io::File file = io::File::modify(path);
        constants(file.root());
        file.close();
      }
    }
    file_ = std::make_shared<io::ObservablesWriter>(path, columns_);
    file_->write_neighbors(simulation.neighbor_report());
  });
}

void ObservableFile::append(std::int64_t step, double time, std::vector<double> row) {
  if (step == last_step_ || !file_) return;
  const std::size_t bytes = 8 * row.size();
  io::writer().push(
      [file = file_, step, time, values = std::move(row)] { file->append(step, time, values); },
      bytes);
  last_step_ = step;
  ++rows_;
}

void ObservableFile::end(const Simulation& simulation) {
  if (file_)
    io::writer().push([file = file_, report = simulation.neighbor_report()] {
      file->flush();
      file->write_neighbors(report);
    });
  io::writer().wait();
}

void ObservableFile::state(Archive& archive) {
  if (archive.is_saving() && file_) {
    io::writer().wait();
    io::writer().call([&] {
      file_->flush();
      file_->flush_to_disk();
    });
  }
  io::archive_extent(archive, "rows", rows_, "last_step", last_step_);
}

}  // namespace perrin::analysis
