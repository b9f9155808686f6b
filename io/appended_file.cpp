#include "io/appended_file.h"

#include <fcntl.h>

#include <utility>

#include "io/hdf5.h"

namespace perrin::io {
namespace {

std::optional<RawFile<>>* open_one = nullptr;  // that use() has opened last

}  // namespace

AppendedFile::AppendedFile(const std::string& path)
    : path_(path), state_(std::make_shared<SteadyState>()) {
  const RawFile<> file(path, O_RDWR);
  size_ = file.size();
  state_->device = file.device();
  state_->inode = file.inode();
  watched_ = watch_output_file(path, state_);
}

AppendedFile::~AppendedFile() {
  if (open_one == &file_) open_one = nullptr;
  watched_.reset();
  if (const std::string wrong = what_is_wrong(path_, *state_); !wrong.empty())
    remember_output_failure(wrong);
}

RawFile<>& AppendedFile::use() {
  if (file_) return *file_;
  if (open_one != nullptr) {
    std::optional<RawFile<>>& other = *std::exchange(open_one, nullptr);
    try {
      other->close();
    } catch (...) {
      other.reset();
      throw;
    }
    other.reset();
  }
  file_.emplace(path_, O_RDWR);
  if (file_->device() != state_->device || file_->inode() != state_->inode) {
    file_.reset();
    throw RunError(path_ + ": was deleted, moved or replaced while it was being written");
  }
  open_one = &file_;
  return *file_;
}

template <class Work>
void AppendedFile::change(const Work& work) {
  if (state_->error != 0) throw RunError(what_is_wrong(path_, *state_));
  try {
    work(use());
  } catch (const RunError&) {
    state_->error = errno != 0 ? errno : EIO;
    throw;
  }
}

void AppendedFile::write(std::uint64_t at, const void* data, std::size_t n) {
  change([&](RawFile<>& file) { file.write(at, data, n); });
}

void AppendedFile::set_size(std::uint64_t size) {
  change([&](RawFile<>& file) { file.set_size(size); });
}

void AppendedFile::sync() {
  change([&](RawFile<>& file) { file.sync(); });
}

}  // namespace perrin::io
