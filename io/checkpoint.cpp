#include "io/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/error.h"
#include "engine/run_control.h"
#include "engine/simulation.h"
#include "io/h5md_file.h"
#include "io/hdf5.h"
#include "io/writer.h"

namespace perrin {
namespace {

constexpr std::int32_t layout_version = 2;

using io::File;
using io::Node;
using io::Shape;

/// The HDF5 type for a record's; bytes where HDF5 has none.
hid_t file_type(const Record& record) {
  if (record.type == "f4" && record.element_size == 4) return H5T_NATIVE_FLOAT;
  if (record.type == "f8" && record.element_size == 8) return H5T_NATIVE_DOUBLE;
  if (record.type == "i4" && record.element_size == 4) return H5T_NATIVE_INT32;
  if (record.type == "u4" && record.element_size == 4) return H5T_NATIVE_UINT32;
  if (record.type == "i8" && record.element_size == 8) return H5T_NATIVE_INT64;
  if (record.type == "u8" && record.element_size == 8) return H5T_NATIVE_UINT64;
  return H5T_NATIVE_UCHAR;
}

void sync_folder(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // the rename is done; its durability is up to the file system
  ::fsync(descriptor);
  ::close(descriptor);
}

void write_file(const std::string& path, const Checkpoint& checkpoint) {
  File file = File::create(path);
  const Node& root = file.root();
  root.attribute("perrin_checkpoint", layout_version);
  root.write_text("job", checkpoint.job);
  root.write_text("version", checkpoint.version);
  root.make_group("facts");
  for (const auto& [name, text] : checkpoint.facts) root.write_text("facts/" + name, text);
  root.make_group("state");
  for (const auto& [name, record] : checkpoint.records) {
    const hid_t type = file_type(record);
    const std::size_t size = type == H5T_NATIVE_UCHAR ? 1 : record.element_size;
    const Node node =
        root.write("state/" + name, type, Shape{record.bytes.size() / size}, record.bytes.data());
    node.attribute("type", record.type);
    node.attribute("element_size", std::int32_t(record.element_size));
  }
  file.flush(true);
  file.close();
}

void read_records(const Node& group, const std::string& prefix,
                  std::map<std::string, Record>& records) {
  for (const std::string& name : group.children()) {
    const Node node = group.open(name);
    if (!node.is_dataset()) {
      read_records(node, prefix + name + "/", records);
      continue;
    }
    Record record;
    record.type = node.text_attribute("type");
    record.element_size = std::size_t(node.ints_attribute("element_size").at(0));
    const hid_t type = file_type(record);
    const Shape shape = node.shape();
    record.bytes.resize(shape.at(0) * (type == H5T_NATIVE_UCHAR ? 1 : record.element_size));
    if (!record.bytes.empty()) node.read(type, record.bytes.data());
    records.emplace(prefix + name, std::move(record));
  }
}

}  // namespace

std::filesystem::path previous_checkpoint(const std::filesystem::path& path) {
  return path.string() + ".prev";
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  io::writer().flush_and_wait();
  const std::string aside = io::name_aside(path.string());
  ::unlink(aside.c_str());
  try {
    io::writer().call([&] { write_file(aside, checkpoint); });
  } catch (const std::exception& error) {
    ::unlink(aside.c_str());
    throw RunError(fmt::format("{}: cannot write the checkpoint: {}", path.string(), error.what()));
  }
  const std::string previous = previous_checkpoint(path).string();
  // A link, not a rename, keeps the current one under its name until the new one takes it.
  ::unlink(previous.c_str());
  if (::link(path.c_str(), previous.c_str()) != 0 && errno != ENOENT)
    ::rename(path.c_str(), previous.c_str());  // a file system without hard links
  if (::rename(aside.c_str(), path.c_str()) != 0) {
    const int why = errno;
    ::unlink(aside.c_str());
    throw RunError(
        fmt::format("{}: cannot write the checkpoint: {}", path.string(), std::strerror(why)));
  }
  sync_folder(path);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  Checkpoint checkpoint;
  io::writer().call([&] {
    const File file = File::read(path.string());
    const Node& root = file.root();
    if (!root.has_attribute("perrin_checkpoint"))
      throw UserError(fmt::format("{}: not a checkpoint of Perrin", path.string()));
    if (const auto found = root.ints_attribute("perrin_checkpoint").at(0); found != layout_version)
      throw UserError(fmt::format("{}: a checkpoint of layout {}, this version reads layout {}",
                                  path.string(), found, layout_version));
    checkpoint.job = root.open("job").read_text();
    checkpoint.version = root.open("version").read_text();
    const Node facts = root.open("facts");
    for (const std::string& name : facts.children())
      checkpoint.facts[name] = facts.open(name).read_text();
    read_records(root.open("state"), "", checkpoint.records);
  });
  return checkpoint;
}

CheckpointObserver::CheckpointObserver(const CheckpointSettings& settings, Setup& setup)
    : settings_(settings),
      path_(setup.output_file(settings.file, "file")),
      control_(setup.has_control() ? &setup.control() : nullptr) {
  if (control_ != nullptr) control_->add_plan(path_, 60 * settings.minutes);
}

void CheckpointObserver::observe(Simulation&) {
  if (control_ != nullptr) control_->request_checkpoint(path_);
}

}  // namespace perrin
