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

template <class S>
void run_group_sum(StepContext& context, const GroupPass& one, const GroupPass* other) {
  const Device& device = context.device();
  const std::int64_t n = context.particles().size();
  const auto of = [](const GroupPass& pass) { return *static_cast<const S*>(pass.body); };
  if (other)
    sum_each(device, one.name, n, SeveralSums<S, 2>{{of(one), of(*other)}});
  else
    sum_each(device, one.name, n, SeveralSums<S, 1>{{of(one)}});
}

}  // namespace detail

/// *result = sum of f(i) over the particles of StepContext::group(), i being places in memory, and
/// then then(); as sum() (engine/domain/reduction.h).
template <class T, class F, class Then = detail::NothingMore>
void sum_of_group(StepContext& context, const char* name, const F& f, Buffer<T>& scratch, T* result,
                  const Then& then = {}) {
  using S = detail::Sum<T, detail::OfGroup<F>, Then>;
  PERRIN_ASSERT(scratch.size() >= sum_chunks);
  const S body{{f, context.group(), context.particles().id().data()},
               {scratch.data(), result, then}};
  context.run({&body, context.group(), name, false, detail::run_group_sum<S>});
}

}  // namespace perrin
