// The loop of forces that compute for each particle by itself what acts on it: fields, bonds,
// angles. For files compiled as CUDA.
#pragma once

#include "engine/components/step_context.h"
#include "engine/components/trial_moves.h"
#include "engine/device/parallel.h"

namespace perrin {
namespace detail {

template <class Kernel>
struct AtPlaces {
  Kernel kernel;
  const std::uint32_t* places;
  PERRIN_HD void operator()(std::int64_t k) const {
    if (places[k] != TrialMove::none) kernel(places[k]);
  }
};

}  // namespace detail

/// kernel(i) for the particles that `output` asks for, i being places in memory.
template <class Kernel>
void for_each_particle(const char* name, StepContext& s, const ForceOutput& output,
                       const Kernel& kernel) {
  if (output.places)
    for_each(s.device(), name, output.count, detail::AtPlaces<Kernel>{kernel, output.places});
  else
    for_each(s.device(), name, s.particles().share(), kernel);
}

}  // namespace perrin
