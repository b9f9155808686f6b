#include "neighbor/sort/short_sort.h"

#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort_cpu.h"
#ifdef __CUDACC__
#include "neighbor/sort/short_sort_launch.cuh"
#endif

namespace perrin {

namespace {

using short_sort_detail::CpuArrays;

void sort_on_cpu(const Device& device, const CpuArrays& arrays, std::int64_t count) {
  auto* const sort = instruction_set() == InstructionSet::avx512 ? short_sort_detail::sort_avx512
                     : instruction_set() == InstructionSet::avx2 ? short_sort_detail::sort_avx2
                                                                 : short_sort_detail::sort_baseline;
  constexpr std::int64_t share = 256;  // arrays; small, for lengths may differ along the batch
  const std::int64_t shares = (count + share - 1) / share;
  for_tasks(device, shares, [&](std::int64_t i, int) {
    sort(arrays, i * share, std::min(count, (i + 1) * share));
  });
}

#ifdef __CUDACC__

/// The fast path, or false where there is none for this length or alignment. Shapes: fewest clocks
/// by the counts of instructions in docs/design/short-sort.md; `perrin-bench short-sort` measures
/// them all.
bool sort_whole_vectors(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                        int length, std::int64_t count) {
  using namespace short_sort_detail;
  if (reinterpret_cast<std::uintptr_t>(in) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(out) % 16 != 0)
    return false;
  switch (length) {
    case 8:
      return run_uniform<2, 4, 4, Store::direct, 0>(device, in, out, count), true;
    case 16:
      return run_uniform<2, 8, 2, Store::exchange, 0>(device, in, out, count), true;
    case 32:
      return run_uniform<4, 8, 2, Store::exchange, 0>(device, in, out, count), true;
    case 64:
      return run_uniform<4, 16, 1, Store::exchange, 1>(device, in, out, count), true;
    case 96:
      return run_uniform<4, 24, 1, Store::exchange, 1>(device, in, out, count), true;
    case 128:
      return run_uniform<8, 16, 1, Store::exchange, 1>(device, in, out, count), true;
    case 192:
      return run_uniform<8, 24, 1, Store::exchange, 1>(device, in, out, count), true;
    case 256:
      return run_uniform<8, 32, 1, Store::exchange, 1>(device, in, out, count), true;
    default:
      return false;
  }
}

#endif

}  // namespace

void short_sort(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                const std::int32_t* offsets, std::int64_t count) {
  PERRIN_ASSERT(count >= 0);
  if (count == 0) return;
#ifdef __CUDACC__
  if (device.is_cuda()) return short_sort_detail::run_ragged(device, in, out, {offsets, 0}, count);
#endif
  sort_on_cpu(device, {in, out, offsets, 0}, count);
}

void short_sort_uniform(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                        int length, std::int64_t count) {
  PERRIN_ASSERT(count >= 0 && length >= 0);
  if (count == 0 || length == 0) return;
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (!sort_whole_vectors(device, in, out, length, count))
      short_sort_detail::run_ragged(device, in, out, {nullptr, length}, count);
    return;
  }
#endif
  sort_on_cpu(device, {in, out, nullptr, length}, count);
}

}  // namespace perrin
