// Settings that a resumed run may have been given anew.
#pragma once

#include <string>

#include "engine/system/archive.h"

namespace perrin {

/// Keeps a setting in checkpoints, beside what has become of it. True: it is being restored, and
/// the checkpoint was made with another value than the job has; `saved` says with which.
template <class T>
bool changed_since(Archive& archive, const std::string& name, const T& now, T* saved = nullptr) {
  T value = now;
  archive(name, value);
  if (saved) *saved = value;
  return !(value == now);
}

}  // namespace perrin
