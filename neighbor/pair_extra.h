// What a pair needs of the other particle besides its position and type (neighbor/pair_loop.h).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/base/real.h"

namespace perrin::detail {

/// What Body::extra() returns: at most sixteen bytes in single precision.
template <class Body>
using ExtraOf = std::remove_cvref_t<decltype(std::declval<const Body&>().extra(std::uint32_t(0)))>;

/// Nothing without has_extra.
template <class Body>
PERRIN_HD ExtraOf<Body> extra_of(const Body& body, std::uint32_t j) {
  if constexpr (Body::has_extra)
    return body.extra(j);
  else
    return {};
}

}  // namespace perrin::detail
