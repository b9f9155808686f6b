// Unit quaternions: w + x i + y j + z k turns vectors of a particle's own frame into space,
// v' = q v q*. Four components by names, in a Real4 on devices and in a Quaternion on the host.
#pragma once

#include <cmath>

#include "engine/base/real.h"

namespace perrin {

struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;
  friend bool operator==(const Quaternion&, const Quaternion&) = default;
};

namespace detail {
/// v + 2 w (u × v) + 2 u × (u × v), u being the vector part times `sign`.
template <class T, class Q>
PERRIN_HD Vec3<T> turned_by(const Q& q, Vec3<T> v, T sign) {
  const Vec3<T> u{sign * T(q.x), sign * T(q.y), sign * T(q.z)};
  const Vec3<T> t = T(2) * cross(u, v);
  return v + T(q.w) * t + cross(u, t);
}
}  // namespace detail

/// A vector of the particle's frame in space.
template <class T, class Q>
PERRIN_HD Vec3<T> rotate(const Q& q, Vec3<T> v) {
  return detail::turned_by(q, v, T(1));
}
/// A vector of space in the particle's frame.
template <class T, class Q>
PERRIN_HD Vec3<T> rotate_back(const Q& q, Vec3<T> v) {
  return detail::turned_by(q, v, T(-1));
}
/// The rotation b followed by a; as a rotation a about axes of the frame that b is given in.
template <class Q>
PERRIN_HD Q compose(const Q& a, const Q& b) {
  Q c;
  c.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
  c.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
  c.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
  c.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
  return c;
}
template <class Q>
PERRIN_HD Q normalized(const Q& q) {
  using T = decltype(q.x * q.x);
  const T f = T(1) / std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  Q c;
  c.x = f * q.x, c.y = f * q.y, c.z = f * q.z, c.w = f * q.w;
  return c;
}

/// The orientation q after a turn about axes of space.
template <class Q>
PERRIN_HD Q turned(const Q& turn, const Q& q) {
  return normalized(compose(turn, q));
}

inline Real4 to_real4(const Quaternion& q) { return {Real(q.x), Real(q.y), Real(q.z), Real(q.w)}; }
inline Quaternion to_quaternion(const Real4& q) {
  return normalized(Quaternion{double(q.x), double(q.y), double(q.z), double(q.w)});
}

}  // namespace perrin
