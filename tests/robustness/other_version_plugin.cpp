// A plug-in that says that it was built for another Perrin: it must be refused before its
// registration function is called.
#include <cstdlib>

#include "engine/job/plugin_api.h"

extern "C" __attribute__((visibility("default"))) const perrin::PluginDescription* perrin_plugin() {
  static const perrin::PluginDescription description{perrin::plugin_magic,
                                                     sizeof(perrin::PluginDescription),
                                                     PERRIN_API_MAJOR,
                                                     PERRIN_API_MINOR,
                                                     "gcc-1 cpu-only perrin-0.0.1",
                                                     "other_version",
                                                     "1.0",
                                                     [](perrin::Registry&) { std::abort(); },
                                                     perrin::instruction_sets};
  return &description;
}
