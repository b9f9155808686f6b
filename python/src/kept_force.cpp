#include "python/src/kept_force.h"

#include <fmt/format.h>

namespace perrin::python {

KeptForce::KeptForce(const PythonForceSettings& settings, Functions functions, Setup& setup)
    : settings_(settings),
      functions_(std::move(functions)),
      present_(setup.configuration()),
      kept_(setup.device(), std::int64_t(setup.configuration().position.size())),
      virial_(setup.device(), 6) {
  if (std::size_t(settings.function) >= functions_->list.size())
    setup.error("function", fmt::format("is number {} (from 0) of the job's PythonForce objects, "
                                        "and {} were given",
                                        settings.function, functions_->list.size()));
}

MomentumChange KeptForce::momentum_change(std::span<const std::int64_t> particles) const {
  if (settings_.conserves_momentum) return {};
  return Force::momentum_change(particles);
}

void KeptForce::state(Archive& archive) {
  std::uint64_t instant = kept_instant();
  archive("instant", instant);
  auto kept = kept_.to_host();
  archive("kept", kept);
  archive.require(std::int64_t(kept.size()) == kept_.size(), "kept", "a force of every particle");
  auto virial = virial_.to_host();
  archive("virial", virial);
  archive.require(virial.size() == 6, "virial", "six numbers");
  if (archive.is_saving()) return;
  set_kept_instant(instant);
  kept_.assign(kept);
  virial_.assign(virial);
}

}  // namespace perrin::python
