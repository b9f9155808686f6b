#include "plugins/metropolis/output.h"

#include <fmt/format.h>

#include "engine/core/changed_since.h"
#include "io/archive_extent.h"
#include "io/writer.h"

namespace perrin::metropolis {
namespace {

Box box_of(const System& system) {
  Box box;
  box.length = system.box();
  box.origin = {0, 0, 0};
  return box;
}

}  // namespace

RowsFile::RowsFile(std::filesystem::path path, std::vector<io::ObservableColumn> columns,
                   const Setup& setup, const Units& units)
    : path_(std::move(path)),
      columns_(std::move(columns)),
      record_(setup.record()),
      units_(units),
      overwrite_(setup.overwrite()) {
  units_.time.clear();  // it is the cycle
}

RowsFile::~RowsFile() {
  if (!file_) return;
  try {
    io::writer().call([&] { file_.reset(); });
  } catch (...) {  // told before, by append() or flush()
  }
}

void RowsFile::open(bool resumed) {
  if (file_) return;
  io::writer().call([&] {
    if (resumed)
      io::ObservablesWriter::trim(path_.string(), *record_, rows_, last_);
    else
      io::ObservablesWriter::create(path_.string(), columns_, *record_, units_, overwrite_);
    file_ = std::make_shared<io::ObservablesWriter>(path_.string(), columns_);
  });
}

void RowsFile::append(std::int64_t cycle, std::vector<double> row) {
  if (!file_ || cycle == last_) return;
  const std::size_t bytes = 8 * row.size();
  io::writer().push([file = file_, cycle,
                     values = std::move(row)] { file->append(cycle, double(cycle), values); },
                    bytes);
  last_ = cycle;
  ++rows_;
}

void RowsFile::flush() {
  io::writer().wait();
  if (file_)
    io::writer().call([&] {
      file_->flush();
      file_->flush_to_disk();
    });
}

void RowsFile::state(Archive& archive) {
  if (archive.is_saving()) flush();
  std::string names, before;
  for (const io::ObservableColumn& column : columns_) {
    names += " " + column.name;
    for (const hsize_t n : column.row) names += fmt::format("[{}]", n);
  }
  if (changed_since(archive, "columns", names, &before))
    throw UserError(fmt::format("{}: its columns are{}; a resumed run cannot have{}",
                                path_.string(), before, names));
  io::archive_extent(archive, "rows", rows_, "last", last_);
}

FramesFile::FramesFile(std::filesystem::path path, const Setup& setup, const Units& units)
    : path_(std::move(path)),
      record_(setup.record()),
      units_(units),
      overwrite_(setup.overwrite()) {
  units_.time.clear();
}

FramesFile::~FramesFile() {
  if (!file_) return;
  try {
    io::writer().call([&] { file_.reset(); });
  } catch (...) {  // told before
  }
}

void FramesFile::open(bool resumed, const System& system) {
  if (file_) return;
  Configuration c;
  c.box = box_of(system);
  const Model& model = system.model();
  c.types = model.types;
  for (std::uint32_t m = 0; m < model.molecule.size(); ++m)
    for (const auto& site : model.templates[model.molecule[m]].sites) {
      c.type.push_back(site.type);
      c.topology.molecule.push_back(m);
    }
  for (const Position& p : system.site_positions()) c.position.push_back(c.box.point(p));
  io::H5mdLayout layout;
  layout.image = false;
  io::writer().call([&] {
    if (resumed)
      io::H5mdWriter::trim(path_.string(), *record_, frames_, last_);
    else
      io::H5mdWriter::create(path_.string(), c, layout, *record_, units_, overwrite_);
    file_ = std::make_shared<io::H5mdWriter>(path_.string());
  });
}

void FramesFile::append(std::int64_t cycle, const System& system) {
  if (!file_ || cycle == last_) return;
  io::H5mdFrame frame;
  frame.step = cycle;
  frame.time = double(cycle);
  frame.set_box(box_of(system));
  const Vec3<double> edge = system.box();
  for (const Position& p : system.site_positions())
    for (const double x : {double(p.x) * edge.x, double(p.y) * edge.y, double(p.z) * edge.z})
      frame.position.push_back(float(x * 0x1p-32));
  const std::size_t bytes = 4 * frame.position.size();
  io::writer().push([file = file_, f = std::move(frame)] { file->append(f); }, bytes);
  last_ = cycle;
  ++frames_;
}

void FramesFile::flush() {
  io::writer().wait();
  if (file_) io::writer().call([&] { file_->flush_to_disk(); });
}

void FramesFile::state(Archive& archive) {
  if (archive.is_saving()) flush();
  io::archive_extent(archive, "frames", frames_, "last", last_);
}

}  // namespace perrin::metropolis
