// A particle mesh that domains share out, which are threads of this test, one to eight of them: the
// charges of all, transforms there and back, and fields, against those of one.
#include "forces/charges/mesh_exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/in_process.h"

namespace perrin {
namespace {

constexpr int copies = 2, meshes = 3;

/// Planes of one domain, at random: none, some or all; the same wherever it is asked for.
std::vector<char> some_planes(std::int64_t nx, int rank, unsigned seed) {
  std::mt19937 random(seed + 100 * unsigned(rank));
  const unsigned chances = random() % 3;  // in halves
  std::vector<char> planes;
  for (std::int64_t x = 0; x < nx; ++x) planes.push_back(random() % 2 < chances ? 1 : 0);
  return planes;
}

std::int64_t charge(std::int64_t point, int rank, int copy) {
  return (point * 7919 + rank * 104729 + copy * 31) % 2003 - 1001;
}

struct Whole {
  std::vector<std::int64_t> charges;  // [point]
  std::vector<Complex> waves;
  std::vector<Real> space;  // [mesh · points + point], back from waves
};

/// What a mesh of waves becomes; of wave m alone.
Complex changed(const Complex& wave, int mesh, std::int64_t m) {
  return {wave.re * Real(mesh + 1), wave.im * Real(m % 5)};
}

Whole of_one(const Fft3::Size& size, int count, unsigned seed) {
  Fft3 fft(Device::cpu(1), size);
  fft.prepare_inverse(meshes);
  const std::int64_t plane = size[1] * size[2], n = size[0] * plane;
  Whole whole;
  for (std::int64_t point = 0; point < n; ++point) {
    std::int64_t sum = 0;
    for (int rank = 0; rank < count; ++rank)
      for (int copy = 0; copy < copies; ++copy)
        if (some_planes(size[0], rank, seed)[std::size_t(point / plane)])
          sum += charge(point, rank, copy);
    whole.charges.push_back(sum);
  }
  const std::vector<Real> real(whole.charges.begin(), whole.charges.end());
  whole.waves.resize(std::size_t(fft.waves()));
  fft.forward(real.data(), whole.waves.data());
  std::vector<Complex> waves;
  for (int mesh = 0; mesh < meshes; ++mesh)
    for (std::int64_t m = 0; m < fft.waves(); ++m)
      waves.push_back(changed(whole.waves[std::size_t(m)], mesh, m));
  whole.space.resize(std::size_t(meshes * n));
  fft.inverse(waves.data(), whole.space.data(), meshes);
  return whole;
}

void check(Communicator& communicator, const Fft3::Size& size, unsigned seed, const Whole& whole) {
  const Device device = distributed(Device::cpu(1), 1000, communicator);
  Fft3 fft(device, size);
  fft.prepare_inverse(meshes);
  MeshExchange mesh(device, fft);
  const auto [nx, ny, nz] = size;
  const std::int64_t plane = ny * nz, n = nx * plane;
  const std::vector<char> spread = some_planes(nx, communicator.rank(), seed),
                          read = some_planes(nx, communicator.rank(), seed + 50);
  std::vector<std::int64_t> fixed(std::size_t(copies * n), 0);
  for (int copy = 0; copy < copies; ++copy)
    for (std::int64_t point = 0; point < n; ++point)
      if (spread[std::size_t(point / plane)])
        fixed[std::size_t(copy * n + point)] = charge(point, communicator.rank(), copy);

  mesh.begin(spread, read);
  mesh.collect(fixed.data(), plane, copies, n);
  const Share planes = mesh.planes(), lines = mesh.lines();
  std::vector<Real> space(std::size_t(meshes * n), Real(0));
  for (std::int64_t point = planes.begin * plane; point < planes.end * plane; ++point) {
    const std::int64_t sum = fixed[std::size_t(point)] + fixed[std::size_t(n + point)];
    ASSERT_EQ(sum, whole.charges[std::size_t(point)]);
    space[std::size_t(point)] = Real(sum);
  }
  std::vector<Complex> charges(std::size_t(fft.waves())), waves(std::size_t(meshes * fft.waves()));
  fft.forward_planes(space.data(), charges.data(), planes);
  mesh.to_lines(charges.data(), 1);
  fft.forward_lines(charges.data(), mesh.line_groups());
  for (std::int64_t x = 0; x < nx; ++x)
    for (std::int64_t line = lines.begin; line < lines.end; ++line) {
      const auto m = std::size_t(x * fft.lines() + line);
      ASSERT_EQ(std::memcmp(&charges[m], &whole.waves[m], sizeof(Complex)), 0);
      for (int k = 0; k < meshes; ++k)
        waves[std::size_t(k * fft.waves()) + m] = changed(charges[m], k, std::int64_t(m));
    }
  fft.inverse_lines(waves.data(), meshes, mesh.line_groups());
  mesh.to_planes(waves.data(), meshes);
  fft.inverse_planes(waves.data(), space.data(), meshes, planes);

  std::vector<Real4> fields(std::size_t(n), Real4{});
  for (std::int64_t point = planes.begin * plane; point < planes.end * plane; ++point) {
    const auto k = std::size_t(point), all = std::size_t(n);
    fields[k] = {space[k], space[all + k], space[2 * all + k], Real(0)};
  }
  mesh.give_fields(fields.data(), plane);
  for (std::int64_t point = 0; point < n; ++point) {
    if (!read[std::size_t(point / plane)] && !planes.meets(point / plane, 1)) continue;
    const auto k = std::size_t(point), all = std::size_t(n);
    ASSERT_EQ(fields[k].x, whole.space[k]);
    ASSERT_EQ(fields[k].y, whole.space[all + k]);
    ASSERT_EQ(fields[k].z, whole.space[2 * all + k]);
  }
}

TEST(MeshExchange, HasTheBitsOfOne) {
  for (const Fft3::Size& size : {Fft3::Size{6, 6, 6}, {10, 18, 12}, {4, 30, 20}})
    for (const int count : {1, 2, 3, 5, 8})
      for (const unsigned seed : {1u, 2u}) {
        const Whole whole = of_one(size, count, seed);
        run_in_processes(
            count, [&](Communicator& communicator) { check(communicator, size, seed, whole); });
      }
}

}  // namespace
}  // namespace perrin
