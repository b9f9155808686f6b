// What io/ brings: the sources "lattice", "random", "chains", "file", "parts"; the observers
// "trajectory", "thermo", "checkpoint".
#pragma once

namespace perrin {

class Registry;

void register_sources(Registry& registry);
void register_io(Registry& registry);  // the observers

}  // namespace perrin
