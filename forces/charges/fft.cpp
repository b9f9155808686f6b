#include "forces/charges/fft.h"

#include <cmath>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/instruction_set.h"
#include "engine/device/tasks.h"
#include "forces/charges/line_fft.h"

#ifdef PERRIN_CUFFT
#include <cufft.h>
#endif

namespace perrin {

struct Fft3::Plan {
  std::array<line_fft::Plan, 3> axis;  // CPU
#ifdef PERRIN_CUFFT
  cufftHandle handle = 0;
  bool made = false;
  ~Plan() {
    if (made) cufftDestroy(handle);
  }
#endif
};

namespace {

using line_fft::Lines;

template <bool Inverse>
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma"), flatten, noipa)) void
run_avx512(const Lines<Inverse>& lines, std::int64_t group) {
  lines(group);
}
template <bool Inverse>
__attribute__((target("avx2,fma"), flatten, noipa)) void run_avx2(const Lines<Inverse>& lines,
                                                                  std::int64_t group) {
  lines(group);
}
template <bool Inverse>
__attribute__((flatten, noipa)) void run_baseline(const Lines<Inverse>& lines, std::int64_t group) {
  lines(group);
}

template <bool Inverse>
void run_best(const Lines<Inverse>& lines, std::int64_t group) {
  const InstructionSet set = instruction_set();
  if constexpr (has_instruction_set(InstructionSet::avx512))
    if (set == InstructionSet::avx512) return run_avx512(lines, group);
  if constexpr (has_instruction_set(InstructionSet::avx2))
    if (set == InstructionSet::avx2) return run_avx2(lines, group);
  if constexpr (has_instruction_set(InstructionSet::baseline)) run_baseline(lines, group);
}

/// Where lines are: the members of Lines.
struct Layout {
  std::int64_t count, inner, outer, next, step;
};

template <bool Inverse>
void transform_lines(const Device& device, const line_fft::Plan& plan, Complex* data,
                     const Layout& at) {
  const std::int64_t groups = (at.count + line_fft::lanes - 1) / line_fft::lanes;
  for_tasks(
      device, groups,
      [&](std::int64_t group, int) {
        static thread_local std::vector<line_fft::Pack> work;
        const auto room = std::size_t(2 * plan.length());
        if (work.size() < room) work.resize(room);
        run_best(Lines<Inverse>{data, at.count, at.inner, at.outer, at.next, at.step, plan.length(),
                                plan.factors().data(), int(plan.factors().size()), plan.roots(),
                                work.data()},
                 group);
      },
      at.count * plan.length() > 2048);
}

#ifdef PERRIN_CUFFT
void check_cufft(cufftResult status, const char* what) {
  if (status != CUFFT_SUCCESS)
    throw RunError(std::string("cuFFT: ") + what + " failed, status " + std::to_string(status));
}
#endif

}  // namespace

std::string Fft3::missing([[maybe_unused]] const Device& device) {
#ifdef PERRIN_CUDA
  if (device.is_cuda()) {
#ifdef PERRIN_CUFFT
    return "";
#else
    return "this build has no cuFFT, as wheels have none; it is part of the CUDA toolkit: build "
           "Perrin where it is, or leave the mesh out";
#endif
  }
#endif
  return "";
}

std::int64_t Fft3::good_size(double least) {
  for (auto n = std::max<std::int64_t>(4, std::int64_t(std::ceil(least / 2 - 1e-9)) * 2);; n += 2) {
    std::int64_t left = n;
    for (const int p : {2, 3, 5})
      while (left % p == 0) left /= p;
    if (left == 1) return n;
  }
}

Fft3::Fft3() = default;
Fft3::Fft3(Fft3&&) noexcept = default;
Fft3& Fft3::operator=(Fft3&&) noexcept = default;
Fft3::~Fft3() = default;

Fft3::Fft3(const Device& device, const Size& size)
    : device_(device), size_(size), plan_(std::make_unique<Plan>()) {
#ifdef PERRIN_CUFFT
  if (device.is_cuda()) {
    check_cufft(cufftPlan3d(&plan_->handle, int(size[0]), int(size[1]), int(size[2]),
                            sizeof(Real) == 4 ? CUFFT_C2C : CUFFT_Z2Z),
                "a plan");
    plan_->made = true;
    return;
  }
#endif
  for (std::size_t a = 0; a < 3; ++a) plan_->axis[a] = line_fft::Plan(size[a]);
}

void Fft3::run(Complex* data, bool inverse) const {
  if (device_.skipping()) return;
#ifdef PERRIN_CUFFT
  if (device_.is_cuda()) {
    check_cufft(cufftSetStream(plan_->handle, device_.stream()), "its stream");
    const int direction = inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    if constexpr (sizeof(Real) == 4) {
      auto* const at = reinterpret_cast<cufftComplex*>(data);
      check_cufft(cufftExecC2C(plan_->handle, at, at, direction), "a transform");
    } else {
      auto* const at = reinterpret_cast<cufftDoubleComplex*>(data);
      check_cufft(cufftExecZ2Z(plan_->handle, at, at, direction), "a transform");
    }
    device_.begin_anew();  // its kernels are not ours
    return;
  }
#endif
  const auto [nx, ny, nz] = size_;
  const Layout along[3] = {{ny * nz, ny * nz, 0, 1, ny * nz},
                           {nx * nz, nz, ny * nz, 1, nz},
                           {nx * ny, nx * ny, 0, nz, 1}};
  for (const std::size_t a : {2u, 1u, 0u})
    inverse ? transform_lines<true>(device_, plan_->axis[a], data, along[a])
            : transform_lines<false>(device_, plan_->axis[a], data, along[a]);
}

}  // namespace perrin
