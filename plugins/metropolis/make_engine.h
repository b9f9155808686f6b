// An engine of any kind.
#pragma once

#include "engine.h"

namespace perrin::metropolis {

/// Throws UserError where the engine cannot do the model, with the reason. `system` outlives the
/// engine.
std::unique_ptr<MoveEngine> make_engine(System& system, const ChainOptions& chain,
                                        const EngineOptions& options);
/// The engine of this name with its standard options.
std::unique_ptr<MoveEngine> make_engine(const std::string& name, System& system,
                                        const ChainOptions& chain);

}  // namespace perrin::metropolis
