#include "plugins/metropolis/engine.h"

#include "plugins/metropolis/checkerboard.h"

namespace perrin::metropolis {

std::unique_ptr<MoveEngine> make_engine(const std::string& name, System& system,
                                        const EngineOptions& options) {
  if (name == "sequential") return make_sequential(system, options);
  if (name == "reduction") return make_reduction(system, options);
  if (name == "pipelined") return make_pipelined(system, options);
  if (name == "checkerboard") return make_checkerboard(system, options);
  throw UserError("unknown engine \"" + name +
                  "\", expected sequential, reduction, pipelined or checkerboard");
}

}  // namespace perrin::metropolis
