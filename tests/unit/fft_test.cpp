// Transforms of meshes on the CPU against sums in double precision.
#include "forces/charges/fft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

namespace perrin {
namespace {

using Wave = std::complex<double>;

/// Numbers between -1 and 1, without pattern.
std::vector<Real> noise(std::int64_t n) {
  std::vector<Real> numbers;
  std::uint64_t word = 88172645463325252u;
  for (std::int64_t k = 0; k < n; ++k) {
    word ^= word << 13, word ^= word >> 7, word ^= word << 17;
    numbers.push_back(Real(double(word >> 11) * 0x1p-52 - 1));
  }
  return numbers;
}

/// The transform along one axis: of `count` lines of n numbers, `stride` apart.
void transform_line(std::vector<Wave>& data, std::int64_t first, std::int64_t n,
                    std::int64_t stride) {
  std::vector<Wave> sums(std::size_t(n), Wave{});
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < n; ++j)
      sums[std::size_t(k)] += data[std::size_t(first + j * stride)] *
                              std::polar(1.0, -2 * M_PI * double(j * k % n) / double(n));
  for (std::int64_t k = 0; k < n; ++k) data[std::size_t(first + k * stride)] = sums[std::size_t(k)];
}

std::vector<Wave> transformed(const std::vector<Real>& space, const Fft3::Size& size) {
  std::vector<Wave> data(space.begin(), space.end());
  const auto [nx, ny, nz] = size;
  for (std::int64_t x = 0; x < nx; ++x)
    for (std::int64_t y = 0; y < ny; ++y) transform_line(data, (x * ny + y) * nz, nz, 1);
  for (std::int64_t x = 0; x < nx; ++x)
    for (std::int64_t z = 0; z < nz; ++z) transform_line(data, x * ny * nz + z, ny, nz);
  for (std::int64_t l = 0; l < ny * nz; ++l) transform_line(data, l, nx, ny * nz);
  return data;
}

// All radices; fewer lines than lanes, whole vectors of them, and some left.
const Fft3::Size sizes[] = {{6, 6, 6}, {8, 16, 8}, {10, 18, 12}, {32, 12, 30}, {4, 50, 54}};

TEST(Fft3, IsTheSumOverPoints) {
  for (const auto& size : sizes) {
    const std::int64_t n = size[0] * size[1] * size[2], half = size[2] / 2 + 1;
    const Fft3 fft(Device::cpu(2), size);
    ASSERT_EQ(fft.waves(), size[0] * size[1] * half);
    const std::vector<Real> space = noise(n);
    std::vector<Complex> waves(std::size_t(fft.waves()));
    fft.forward(space.data(), waves.data());
    const std::vector<Wave> exact = transformed(space, size);
    double most = 0;
    for (std::int64_t m = 0; m < fft.waves(); ++m) {
      const Complex found = waves[std::size_t(m)];
      const Wave e = exact[std::size_t(m / half * size[2] + m % half)];
      most = std::max(most, std::abs(Wave(double(found.re), double(found.im)) - e));
    }
    const double rounding = sizeof(Real) == 4 ? 6e-8 : 2e-16;
    EXPECT_LT(most, 4 * rounding * std::sqrt(double(n) * std::log2(double(n)))) << n;
  }
}

TEST(Fft3, InverseGivesSeveralMeshesBack) {
  constexpr int meshes = 3;
  for (const auto& size : sizes) {
    const std::int64_t n = size[0] * size[1] * size[2];
    Fft3 fft(Device::cpu(2), size);
    fft.prepare_inverse(meshes);
    const std::vector<Real> space = noise(meshes * n);
    std::vector<Complex> waves(std::size_t(meshes * fft.waves()));
    for (int mesh = 0; mesh < meshes; ++mesh)
      fft.forward(space.data() + mesh * n, waves.data() + mesh * fft.waves());
    std::vector<Real> back(std::size_t(meshes * n));
    fft.inverse(waves.data(), back.data(), meshes);
    double most = 0;
    for (std::int64_t k = 0; k < meshes * n; ++k)
      most = std::max(
          most, std::abs(double(back[std::size_t(k)]) / double(n) - double(space[std::size_t(k)])));
    EXPECT_LT(most, sizeof(Real) == 4 ? 1e-6 : 3e-15) << n;
  }
}

TEST(Fft3, HasTheSameBitsOnAnyNumberOfThreads) {
  const Fft3::Size size{20, 36, 30};
  const std::vector<Real> space = noise(size[0] * size[1] * size[2]);
  std::vector<Complex> first;
  for (const int threads : {1, 2, 5}) {
    const Fft3 fft(Device::cpu(threads), size);
    std::vector<Complex> waves(std::size_t(fft.waves()));
    fft.forward(space.data(), waves.data());
    if (first.empty()) first = waves;
    EXPECT_EQ(std::memcmp(first.data(), waves.data(), waves.size() * sizeof(Complex)), 0);
  }
}

}  // namespace
}  // namespace perrin
