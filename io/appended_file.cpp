#include "io/appended_file.h"

#include <fcntl.h>

#include "io/hdf5.h"

namespace perrin::io {

AppendedFile::AppendedFile(const std::string& path)
    : path_(path), file_(path, O_RDWR), state_(std::make_shared<SteadyState>()) {
  state_->device = file_.device();
  state_->inode = file_.inode();
  watched_ = watch_output_file(path, state_);
}

AppendedFile::~AppendedFile() {
  watched_.reset();
  if (const std::string wrong = what_is_wrong(path_, *state_); !wrong.empty())
    remember_output_failure(wrong);
}

template <class Work>
void AppendedFile::change(const Work& work) {
  if (state_->error != 0) throw RunError(what_is_wrong(path_, *state_));
  try {
    work();
  } catch (const RunError&) {
    state_->error = errno != 0 ? errno : EIO;
    throw;
  }
}

void AppendedFile::write(std::uint64_t at, const void* data, std::size_t n) {
  change([&] { file_.write(at, data, n); });
}

void AppendedFile::set_size(std::uint64_t size) {
  change([&] { file_.set_size(size); });
}

void AppendedFile::sync() {
  change([&] { file_.sync(); });
}

}  // namespace perrin::io
