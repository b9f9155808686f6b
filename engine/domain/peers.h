// Which GPUs of this host see one another's memory, as processes need them to
// (engine/domain/decomposition.h).
#pragma once

#include <string>

namespace perrin {

/// For people: "cuda:1, cuda:2", the devices whose memory device `index` reaches; empty: none.
std::string devices_reached_by(int index);

}  // namespace perrin
