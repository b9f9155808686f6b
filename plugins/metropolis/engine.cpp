#include "engine.h"

namespace perrin::metropolis {
EngineOptions engine_named(const std::string& name) {
  if (name == "sequential") return SequentialOptions{};
  if (name == "reduction") return ReductionOptions{};
  if (name == "pipelined") return PipelinedOptions{};
  if (name == "checkerboard") return CheckerboardOptions{};
  throw UserError("unknown engine \"" + name +
                  "\", expected sequential, reduction, pipelined or checkerboard");
}

std::vector<Totals> MoveEngine::totals() {
  return compute_totals(system_, chain_.single_precision);
}

}  // namespace perrin::metropolis
