// What a place of a tile has in shared memory: a Real4 with coordinates and one word more, and what
// the body needs of the particle besides.
#pragma once

#include "engine/base/real.h"
#include "neighbor/pair_extra.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin::detail {

/// A body that asks for one number and for no type: behind coordinates the number has the place of
/// the type.
template <class Body>
constexpr bool extra_for_type = [] {
  if constexpr (requires { Body::one_type; })
    return Body::has_extra && Body::one_type && std::is_same_v<ExtraOf<Body>, Real>;
  return false;
}();

/// Does it need a place beside the coordinates?
template <class Body>
constexpr bool extra_apart = Body::has_extra && !extra_for_type<Body>;

/// Bytes of it for each place.
template <class Body>
constexpr std::size_t extra_bytes = extra_apart<Body> ? sizeof(ExtraOf<Body>) : 0;

/// The word behind the coordinates.
template <class Body>
PERRIN_HD Real last_word(const Position& position, [[maybe_unused]] const ExtraOf<Body>& extra) {
  if constexpr (extra_for_type<Body>)
    return extra;
  else
    return type_to_real(position.type());
}
template <class Body>
PERRIN_HD std::uint32_t type_in(Real last_word) {
  return extra_for_type<Body> ? 0u : real_to_type(last_word);
}
template <class Body>
PERRIN_HD ExtraOf<Body> extra_in([[maybe_unused]] Real last_word,
                                 [[maybe_unused]] const ExtraOf<Body>* extra,
                                 [[maybe_unused]] std::uint32_t place) {
  if constexpr (extra_for_type<Body>)
    return last_word;
  else if constexpr (Body::has_extra)
    return extra[place];
  else
    return {};
}

}  // namespace perrin::detail
