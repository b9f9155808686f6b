// Sums over the particles that an integrator moves. For files compiled as CUDA.
#pragma once

#include "engine/components/step_context.h"
#include "engine/domain/reduction.h"

namespace perrin {
namespace detail {

template <class F>
struct OfGroup {
  F f;
  GroupMask group;
  const std::uint32_t* id;  // [place in memory]

  PERRIN_HD auto operator()(std::int64_t i) const {
    return !group || group.has(id[i]) ? f(i) : decltype(f(i)){};
  }
};

}  // namespace detail

/// *result = sum of f(i) over the particles of StepContext::group(), i being places in memory; as
/// sum() (engine/domain/reduction.h).
template <class T, class F>
void sum_of_group(StepContext& context, const char* name, const F& f, Buffer<T>& scratch,
                  T* result) {
  sum<T>(context.device(), name, context.particles.size(),
         detail::OfGroup<F>{f, context.group(), context.particles.id.data()}, scratch, result);
}

}  // namespace perrin
