// The force types that come with Perrin.
#pragma once

namespace perrin {

class Registry;

/// All of those named in forces/CMakeLists.txt.
void register_forces(Registry& registry);

}  // namespace perrin
