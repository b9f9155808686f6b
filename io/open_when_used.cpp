#include "io/open_when_used.h"

#include <utility>

#include "engine/base/error.h"
#include "io/new_file.h"

namespace perrin::io {
namespace {

/// Used last, first.
std::list<OpenWhenUsed*>& open_files() {
  static std::list<OpenWhenUsed*> it;
  return it;
}

}  // namespace

OpenWhenUsed::~OpenWhenUsed() {
  if (is_open()) open_files().erase(place_);
}

bool OpenWhenUsed::has_room() { return open_files().size() < most; }

File& OpenWhenUsed::use() {
  auto& all = open_files();
  if (is_open() && ++uses_ > most_uses_) shut();
  if (is_open()) {
    all.splice(all.begin(), all, place_);
    return *file_;
  }
  while (all.size() >= most) all.back()->shut();
  File file = File::append(path_);
  const auto state = file.state();
  if (state_ && (state_->device != state->device || state_->inode != state->inode))
    throw RunError(path_ + ": was deleted, moved or replaced while it was being written");
  try {
    open_parts(file.root());
  } catch (...) {
    close_parts();
    throw;
  }
  all.push_front(this);
  place_ = all.begin();
  state_ = state;
  watched_ = file.watched();
  file_ = std::move(file);
  uses_ = 1;
  return *file_;
}

void OpenWhenUsed::sync() {
  if (is_open())
    file_->flush(true);
  else
    sync_file(path_);
}

void OpenWhenUsed::shut() {
  if (!is_open()) return;
  open_files().erase(place_);
  close_parts();
  File file = std::move(*file_);
  file_.reset();
  file.close();
}

void OpenWhenUsed::close_for_good() {
  shut();
  watched_.reset();
}

}  // namespace perrin::io
