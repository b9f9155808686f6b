// The number types of the engine and the marks of host-device code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define PERRIN_HD __host__ __device__ __forceinline__
#else
#define PERRIN_HD inline __attribute__((always_inline))
#endif

namespace perrin {

/// Per-particle arithmetic: float in the default build, double with -DPERRIN_PRECISION=double.
/// Totals (energies, virials, kinetic sums) are double in both.
#ifdef PERRIN_DOUBLE
using Real = double;
#else
using Real = float;
#endif

template <class T>
struct Vec3 {
  T x{}, y{}, z{};

  PERRIN_HD T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  PERRIN_HD const T& operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  PERRIN_HD Vec3& operator+=(Vec3 b) { return x += b.x, y += b.y, z += b.z, *this; }
  PERRIN_HD Vec3& operator-=(Vec3 b) { return x -= b.x, y -= b.y, z -= b.z, *this; }
  PERRIN_HD Vec3& operator*=(T s) { return x *= s, y *= s, z *= s, *this; }
  PERRIN_HD friend Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  PERRIN_HD friend Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  PERRIN_HD friend Vec3 operator*(T s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
  PERRIN_HD friend Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

template <class T>
PERRIN_HD T dot(Vec3<T> a, Vec3<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
PERRIN_HD Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

using Real3 = Vec3<Real>;

/// a b + c, on a GPU always rounded once: a step's bits must not depend on what the compiler fuses
/// where. On the CPU as the instruction set has it.
PERRIN_HD Real multiply_add(Real a, Real b, Real c) {
#ifdef __CUDA_ARCH__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// One 16-byte word (32 in the double build): velocity and inverse mass, or force and energy.
struct alignas(4 * sizeof(Real)) Real4 {
  Real x{}, y{}, z{}, w{};
  PERRIN_HD Real3 xyz() const { return {x, y, z}; }
};

/// What a word is on the CPU: a vector of four numbers, which every x86-64 has. Words are passed as
/// Real4 and taken for vectors by std::bit_cast, for which GCC makes no instruction; it does where
/// members of a word are named.
using FourReals = Real __attribute__((vector_size(4 * sizeof(Real)), may_alias));
using FourInts = std::int32_t __attribute__((vector_size(16), may_alias));
using FourWords = std::uint32_t __attribute__((vector_size(16), may_alias));

/// a times the x, y and z of b.
PERRIN_HD Real4 times(Real a, const Real4& b) {
#ifdef __CUDA_ARCH__
  return {a * b.x, a * b.y, a * b.z, 0};
#else
  return std::bit_cast<Real4>(a * std::bit_cast<FourReals>(b));  // w as well: it is not used
#endif
}

/// a b + c; w is that of c.
PERRIN_HD Real4 multiply_add(Real a, const Real4& b, const Real4& c) {
#ifdef __CUDA_ARCH__
  return {multiply_add(a, b.x, c.x), multiply_add(a, b.y, c.y), multiply_add(a, b.z, c.z), c.w};
#else
  const auto from = std::bit_cast<FourReals>(b);
  const FourReals xyz = __builtin_shufflevector(from, FourReals{}, 0, 1, 2, 4);  // w may be NaN
  return std::bit_cast<Real4>(a * xyz + std::bit_cast<FourReals>(c));
#endif
}

/// a + b, whole words.
PERRIN_HD Real4 plus(const Real4& a, const Real4& b) {
#ifdef __CUDA_ARCH__
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
#else
  return std::bit_cast<Real4>(std::bit_cast<FourReals>(a) + std::bit_cast<FourReals>(b));
#endif
}

/// x, y and z of the first, w of the second.
PERRIN_HD Real4 with_w(const Real4& xyz, const Real4& w) {
#ifdef __CUDA_ARCH__
  return {xyz.x, xyz.y, xyz.z, w.w};
#else
  return std::bit_cast<Real4>(__builtin_shufflevector(std::bit_cast<FourReals>(xyz),
                                                      std::bit_cast<FourReals>(w), 0, 1, 2, 7));
#endif
}

/// Number by number.
PERRIN_HD Real4 product(const Real4& a, const Real4& b) {
#ifdef __CUDA_ARCH__
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
#else
  return std::bit_cast<Real4>(std::bit_cast<FourReals>(a) * std::bit_cast<FourReals>(b));
#endif
}

/// x² + y² + z²
PERRIN_HD Real square(const Real4& r) {
#ifdef __CUDA_ARCH__
  return dot(r.xyz(), r.xyz());
#else
  const auto v = std::bit_cast<FourReals>(r);
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
#endif
}

/// A position: the fraction of the box along each axis in units of 2^-32, rounded; and in one word
/// the type with what rounding left, a signed byte per axis in units of 2^-40, which small
/// displacements add up in (integrators/drift.h) and forces do not see.
struct alignas(16) Position {
  static constexpr std::uint32_t type_count = 256;  // types are 0 … 255

  std::uint32_t x{}, y{}, z{};
  std::uint32_t tail{};  // bytes from the lowest: remainders along x, y and z; the type

  Position() = default;
  PERRIN_HD Position(std::uint32_t x_, std::uint32_t y_, std::uint32_t z_, std::uint32_t type)
      : x(x_), y(y_), z(z_), tail(type << 24) {}

  PERRIN_HD std::uint32_t type() const { return tail >> 24; }
  /// Along axis 0, 1 or 2: -128 … 127 units of 2^-40.
  PERRIN_HD std::int32_t remainder(int axis) const {
    return std::int32_t(tail << (24 - 8 * axis)) >> 24;
  }
  PERRIN_HD void set_remainders(std::int32_t along_x, std::int32_t along_y, std::int32_t along_z) {
    tail = (tail & 0xff000000u) | (std::uint32_t(along_x) & 255u) |
           (std::uint32_t(along_y) & 255u) << 8 | (std::uint32_t(along_z) & 255u) << 16;
  }
};

/// How often a particle has crossed the box along each axis.
using Image = Vec3<std::int32_t>;

}  // namespace perrin
