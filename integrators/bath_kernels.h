// Kernels that thermostats and barostats have in common. For files compiled as CUDA.
#pragma once

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/system/orientations.h"

namespace perrin {
namespace detail {

template <class T>
struct ScaleSpin {
  const T* factor;
  Real4* angular_momentum;
  const std::uint32_t* id;
  GroupMask group;
  PERRIN_HD void operator()(std::int64_t i) const {
    if (group && !group.has(id[i])) return;
    angular_momentum[i] = times(Real(*factor), angular_momentum[i]);
  }
};

template <class Memory>
struct AddHeat {
  const Memory* memory;
  double* heat;
  PERRIN_HD void operator()(std::int64_t) const { *heat += memory->heat; }
};

}  // namespace detail

/// Multiplies the angular momenta of the particles of StepContext::group() by *factor on the
/// device. Device work.
template <class T>
void scale_rotation(StepContext& s, const T* factor) {
  for_each(s.device(), "rescaling of rotation", s.particles().share(),
           detail::ScaleSpin<T>{factor, s.particles().orientations()->angular_momentum().data(),
                                s.particles().id().data(), s.group()});
}

/// *heat += memory->heat, both on the device. Device work.
template <class Memory>
void add_heat_of(const Device& device, const char* name, const Memory* memory, double* heat) {
  for_each(device, name, 1, detail::AddHeat<Memory>{memory, heat});
}

}  // namespace perrin
