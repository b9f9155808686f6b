// A loop for bodies that say what they read of each element: on a GPU that is on its way before
// anything else is looked at, so that memory is busy from the first moment.
#pragma once

#include "engine/device/parallel.h"

namespace perrin {
namespace detail {

#ifdef __CUDACC__
constexpr int loaded_block = 128;

/// Each: elements of a thread.
template <int Each, class Body>
struct LoadedGrid {
  static constexpr int threads = loaded_block;
  Body body;
  std::int64_t n;
  const std::uint32_t* halt;

  __device__ void run(unsigned block, unsigned) const {
    const std::int64_t first = std::int64_t(block) * (loaded_block * Each) + threadIdx.x;
    admit_successor_of_few();
    await_all_before();
    typename Body::Early loaded[Each];
#pragma unroll
    for (int k = 0; k < Each; ++k)
      if (first + k * loaded_block < n) loaded[k] = body.prefetch(first + k * loaded_block);
    if (*halt) return;
#pragma unroll
    for (int k = 0; k < Each; ++k)
      if (first + k * loaded_block < n) body(loaded[k], first + k * loaded_block);
  }
};

/// With body.prepare(i) while the kernels before this one still run.
template <class Body>
struct PreparedGrid {
  static constexpr int threads = loaded_block;
  Body body;
  std::int64_t n;
  const std::uint32_t* halt;

  __device__ void run(unsigned block, unsigned) const {
    const std::int64_t i = std::int64_t(block) * loaded_block + threadIdx.x;
    admit_successor_of_few();
    typename Body::Prepared prepared{};
    if (i < n) prepared = body.prepare(i);
    await_all_before();
    if (i >= n) return;
    typename Body::Early loaded = body.prefetch(i);
    if (*halt) return;
    body(loaded, prepared);
  }
};

template <int Each, class Body>
void start_loaded(const Device& device, const char* name, std::int64_t n, const Body& body) {
  constexpr std::int64_t block = loaded_block * Each;
  launch_grid(device, name, (n + block - 1) / block,
              LoadedGrid<Each, Body>{body, n, device.halt().word()});
}
#endif

/// for_each_loaded() where the device is a GPU; else false.
template <class Body>
bool launch_loaded([[maybe_unused]] const Device& device, [[maybe_unused]] const char* name,
                   [[maybe_unused]] std::int64_t n, [[maybe_unused]] const Body& body) {
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (n <= 0) return true;
    if constexpr (Body::light)
      if (n > (1 << 21)) return start_loaded<2>(device, name, n, body), true;
    return start_loaded<1>(device, name, n, body), true;
  }
#endif
  return false;
}

/// The same for bodies with a part that does not wait: body(body.load(i), body.prepare(i)).
/// prepare() may only read what no kernel of the running step before this one writes; it is done
/// while they run. False also beyond `most`, where the loop is too long for its threads to find
/// room beside them.
constexpr std::int64_t as_many_as_a_gpu_holds = 1 << 18;  // one thread each
template <class Body>
bool launch_prepared([[maybe_unused]] const Device& device, [[maybe_unused]] const char* name,
                     [[maybe_unused]] std::int64_t n, [[maybe_unused]] const Body& body,
                     [[maybe_unused]] std::int64_t most = as_many_as_a_gpu_holds) {
#ifdef __CUDACC__
  if (device.is_cuda() && n > 0 && n <= most) {
    launch_grid(device, name, (n + loaded_block - 1) / loaded_block,
                PreparedGrid<Body>{body, n, device.halt().word()});
    return true;
  }
#endif
  return false;
}

template <class Body>
struct LoadAndDo {
  Body body;
  PERRIN_HD void operator()(std::int64_t i) const {
    auto loaded = body.load(i);
    body(loaded, i);
  }
};

}  // namespace detail

/// body(body.load(i), i) for 0 ≤ i < n, as for_each() does it; on a GPU prefetch(), which returns
/// a Body::Early and may read more. A body with `light` true reads and does so little for an
/// element that a thread takes two where there are very many: 2 to 5 % for Brownian dynamics of
/// 10^7 particles on an H200, 2 % less at 10^6.
template <class Body>
void for_each_loaded(const Device& device, const char* name, std::int64_t n, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body>);
  if (n <= 0 || device.halt().skipping() || detail::launch_loaded(device, name, n, body)) return;
  detail::for_each_on_cpu(device, n, detail::LoadAndDo<Body>{body});
}

}  // namespace perrin
