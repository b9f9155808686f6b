// Stage "monte_carlo".
#pragma once

namespace perrin {
class Registry;
}

namespace perrin::monte_carlo {

void register_stage(Registry& registry);

}  // namespace perrin::monte_carlo
