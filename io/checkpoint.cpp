#include "io/checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <new>

#include "engine/base/error.h"
#include "engine/dynamics/observation.h"
#include "io/checkpoint_layout.h"
#include "io/checksum.h"
#include "io/hdf5.h"
#include "io/new_file.h"
#include "io/seal.h"
#include "io/writer.h"

namespace perrin {
namespace {

constexpr std::int32_t layout_version = 2;

using io::File;
using io::Node;
using io::Shape;
using io::xxh64;

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

std::uint64_t hash_of(const std::string& text, std::uint64_t seed = 0) {
  return xxh64(text.data(), text.size(), seed);
}

std::uint64_t hash_of(const std::string& name, const Record& record) {
  return xxh64(record.bytes.data(), record.bytes.size(),
               hash_of(fmt::format("{} {} {}", name, record.type, record.element_size)));
}

/// Of everything that a checkpoint holds but its records, whose hashes are added to it: in any
/// order.
std::uint64_t hash_of_texts(const Checkpoint& c) {
  std::uint64_t hash = hash_of(c.version, hash_of(c.job));
  for (const auto& [name, text] : c.facts) hash += hash_of(text, hash_of(name));
  return hash;
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
  std::uint64_t hash = hash_of_texts(checkpoint);
  for (const auto& [name, record] : checkpoint.records) {
    hash += hash_of(name, record);
    const hid_t type = file_type(record);
    const std::size_t size = type == H5T_NATIVE_UCHAR ? 1 : record.element_size;
    const Node node =
        root.write("state/" + name, type, Shape{record.bytes.size() / size}, record.bytes.data());
    node.attribute("type", record.type);
    node.attribute("element_size", std::int32_t(record.element_size));
  }
  root.write("checksum", {}, &hash);
  file.flush();
  file.close();
}

/// Bytes of an element of a dataset.
std::size_t stored_size(const Node& node) { return H5Tget_size(io::Hid(H5Dget_type(node.id()))); }

using TakeRecord = std::function<void(const std::string& name, Record record)>;

/// One record after the other; check_checkpoint_layout() has bounded their sizes and the depth.
void read_records(const Node& group, const std::string& prefix, const TakeRecord& take) {
  for (const std::string& name : group.children()) {
    const Node node = group.open(name);
    if (!node.is_dataset()) {
      read_records(node, prefix + name + "/", take);
      continue;
    }
    Record record;
    record.type = node.text_attribute("type");
    const auto sizes = node.ints_attribute("element_size");
    const Shape shape = node.shape();
    record.element_size = sizes.size() == 1 && sizes[0] > 0 ? std::size_t(sizes[0]) : 0;
    const hid_t type = file_type(record);
    const std::size_t size = type == H5T_NATIVE_UCHAR ? 1 : record.element_size;
    if (record.element_size == 0 || shape.size() != 1 || size != stored_size(node))
      throw UserError(
          fmt::format("{}: {} has a wrong shape or element size", node.file(), node.path()));
    record.bytes.resize(shape[0] * size);
    if (!record.bytes.empty()) node.read(type, record.bytes.data());
    take(prefix + name, std::move(record));
  }
}

/// Reads a file whose seal is whole, and compares its contents with their hash.
Checkpoint read_file(const std::string& path, const TakeRecord& take) {
  Checkpoint checkpoint;
  const File file = File::read(path);
  const Node& root = file.root();
  if (!root.has_attribute("perrin_checkpoint"))
    throw UserError(path + ": not a checkpoint of Perrin");
  if (const auto found = root.ints_attribute("perrin_checkpoint");
      found.size() != 1 || found[0] != layout_version)
    throw UserError(fmt::format("{}: the checkpoint has layout {}, this version reads layout {}",
                                path, found.empty() ? 0 : found[0], layout_version));
  io::check_checkpoint_layout(file);
  checkpoint.job = root.open("job").read_text();
  checkpoint.version = root.open("version").read_text();
  const Node facts = root.open("facts");
  for (const std::string& name : facts.children())
    checkpoint.facts[name] = facts.open(name).read_text();
  std::uint64_t hash = hash_of_texts(checkpoint);
  read_records(root.open("state"), "", [&](const std::string& name, Record record) {
    hash += hash_of(name, record);
    take(name, std::move(record));
  });
  const auto stored = root.open("checksum").read<std::uint64_t>();
  if (stored.size() != 1 || stored[0] != hash)
    throw UserError(path + ": its state differs from what was saved");
  return checkpoint;
}

Checkpoint read_whole(const std::string& path) {
  if (const std::string what = io::broken_seal(path); !what.empty())
    throw UserError(fmt::format("{}: not a valid checkpoint of Perrin: {}", path, what));
  std::map<std::string, Record> records;
  Checkpoint checkpoint = io::writer().get([&] {
    return read_file(path, [&](const std::string& name, Record record) {
      records.emplace(name, std::move(record));
    });
  });
  checkpoint.records = std::move(records);
  return checkpoint;
}

bool is_whole(const std::string& path) {
  try {
    return io::broken_seal(path).empty();
  } catch (const UserError&) {
    return false;
  }
}

/// Gives `aside` the name `path`; what had it keeps a name, `previous`, at every moment. What is
/// not whole is not worth that, and a whole one before it stays.
void take_place(const std::string& aside, const std::string& path, const std::string& previous) {
  const auto refused = [&](const char* call) {
    throw RunError(fmt::format("{}: {}", call, std::strerror(errno)));
  };
  bool moved = false;
  if (is_whole(path)) {
    const std::string second = previous + ".part";
    ::unlink(second.c_str());
    if (::link(path.c_str(), second.c_str()) == 0) {
      const bool done = ::rename(second.c_str(), previous.c_str()) == 0;
      const int why = errno;
      ::unlink(second.c_str());  // it is still there where both were the same file already
      errno = why;
      if (!done) refused("rename");
    } else {  // a file system without hard links
      if (::rename(path.c_str(), previous.c_str()) != 0) refused("rename");
      moved = true;
    }
  }
  if (::rename(aside.c_str(), path.c_str()) == 0) return;
  const int why = errno;
  if (moved) ::rename(previous.c_str(), path.c_str());
  errno = why;
  refused("rename");
}

}  // namespace

void write_checkpoint(const std::filesystem::path& where, const Checkpoint& checkpoint) {
  const std::string path = where.string();
  try {
    io::writer().flush_and_wait();
    const io::NewFile place(path);
    io::writer().call([&] { write_file(place.aside(), checkpoint); });
    io::seal(place.aside());
    // Read back, so that whatever went wrong on the way is noticed before the name is given.
    io::writer().call([&] { read_file(place.aside(), [](const std::string&, Record) {}); });
    take_place(place.aside(), path, previous_checkpoint(where).string());
    io::sync_folder_of(path);
  } catch (const BugError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw RunError(path + ": cannot write the checkpoint: out of memory");
  } catch (const std::exception& error) {
    throw RunError(fmt::format("{}: cannot write the checkpoint: {}", path, error.what()));
  }
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  try {
    return read_whole(path.string());
  } catch (const UserError& error) {
    const std::string previous = previous_checkpoint(path).string();
    if (!is_whole(previous)) throw;
    throw UserError(
        fmt::format("{}\nthe previous checkpoint is intact; continue with: perrin resume {}",
                    error.what(), previous));
  }
}

CheckpointObserver::CheckpointObserver(const CheckpointSettings& settings, Setup& setup)
    : settings_(settings),
      path_(setup.output_file(settings.file, "file")),
      control_(setup.has_control() ? &setup.control() : nullptr) {
  setup.output_file(previous_checkpoint(settings.file), "file");
  if (control_ != nullptr) control_->add_plan(path_, 60 * settings.minutes);
}

void CheckpointObserver::observe(const Observation&) {
  if (control_ != nullptr) control_->request_checkpoint(path_);
}

}  // namespace perrin
