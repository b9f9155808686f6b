#include "make_engine.h"

#include "checkerboard.h"

namespace perrin::metropolis {
namespace {

struct Make {
  System& system;
  const ChainOptions& chain;
  std::unique_ptr<MoveEngine> operator()(const SequentialOptions&) const {
    return make_sequential(system, chain);
  }
  std::unique_ptr<MoveEngine> operator()(const ReductionOptions&) const {
    return make_reduction(system, chain);
  }
  std::unique_ptr<MoveEngine> operator()(const PipelinedOptions& options) const {
    return make_pipelined(system, chain, options);
  }
  std::unique_ptr<MoveEngine> operator()(const CheckerboardOptions& options) const {
    return make_checkerboard(system, chain, options);
  }
};

}  // namespace

std::unique_ptr<MoveEngine> make_engine(System& system, const ChainOptions& chain,
                                        const EngineOptions& options) {
  return std::visit(Make{system, chain}, options);
}

std::unique_ptr<MoveEngine> make_engine(const std::string& name, System& system,
                                        const ChainOptions& chain) {
  return make_engine(system, chain, engine_named(name));
}

}  // namespace perrin::metropolis
