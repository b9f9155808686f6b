// What the plug-in brings: the observers profile, structure_factor and chain_size.
#pragma once

namespace perrin {

class Registry;

void register_analysis(Registry& registry);

}  // namespace perrin
