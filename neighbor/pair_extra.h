// What a pair needs of the other particle besides its position and type (neighbor/pair_loop.h).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/base/real.h"

namespace perrin::detail {

template <class Body, bool HasExtra = Body::has_extra>
struct ExtraType {
  using Type = Real4;
};
template <class Body>
struct ExtraType<Body, true> {
  using Type = std::remove_cvref_t<decltype(std::declval<const Body&>().extra(std::uint32_t(0)))>;
};
/// What Body::extra() returns: at most sixteen bytes in single precision.
template <class Body>
using ExtraOf = typename ExtraType<Body>::Type;

/// Nothing without has_extra.
template <class Body, class Index>
PERRIN_HD ExtraOf<Body> extra_of(const Body& body, Index j) {
  if constexpr (Body::has_extra)
    return body.extra(j);
  else
    return {};
}

}  // namespace perrin::detail
