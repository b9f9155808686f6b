// The integrators that come with Perrin.
#pragma once

namespace perrin {

class Registry;

/// All of those named in integrators/CMakeLists.txt.
void register_integrators(Registry& registry);

}  // namespace perrin
