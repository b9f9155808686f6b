#include "forces/charges/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/tasks.h"

#ifdef PERRIN_KISSFFT
#include <kissfft/kissfft.hh>
#endif
#ifdef PERRIN_CUFFT
#include <cufft.h>
#endif

namespace perrin {

struct Fft3::Plan {
#ifdef PERRIN_KISSFFT
  std::vector<kissfft<Real>> forward, inverse;  // [axis]
#endif
#ifdef PERRIN_CUFFT
  cufftHandle handle = 0;
  bool made = false;
  ~Plan() {
    if (made) cufftDestroy(handle);
  }
#endif
};

namespace {

#ifdef PERRIN_KISSFFT
using Number = std::complex<Real>;

/// Lines of n numbers, `stride` apart, that begin at all (a, b): a · outer + b, b < inner. Several
/// neighbours at a time, which are near in memory.
void transform_lines(const Device& device, const kissfft<Real>& fft, Number* data, std::int64_t n,
                     std::int64_t stride, std::int64_t outer_count, std::int64_t outer,
                     std::int64_t inner_count) {
  constexpr std::int64_t together = 8;
  const std::int64_t groups = (inner_count + together - 1) / together;
  for_tasks(
      device, outer_count * groups,
      [&](std::int64_t task, int) {
        const std::int64_t first = task % groups * together;
        const std::int64_t count = std::min(together, inner_count - first);
        Number* const at = data + task / groups * outer + first;
        static thread_local std::vector<Number> in, out;
        in.resize(std::size_t(together * n)), out.resize(std::size_t(n));
        for (std::int64_t k = 0; k < n; ++k)
          for (std::int64_t line = 0; line < count; ++line)
            in[std::size_t(line * n + k)] = at[k * stride + line];
        for (std::int64_t line = 0; line < count; ++line) {
          fft.transform(in.data() + line * n, out.data());
          std::copy(out.begin(), out.end(), in.begin() + line * n);
        }
        for (std::int64_t k = 0; k < n; ++k)
          for (std::int64_t line = 0; line < count; ++line)
            at[k * stride + line] = in[std::size_t(line * n + k)];
      },
      outer_count * groups * n > 2048);
}
#endif

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
#ifdef PERRIN_KISSFFT
  return "";
#else
  return "this build has no kissfft; install libkissfft-dev (scripts/install-packages) and build "
         "again";
#endif
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
#ifdef PERRIN_KISSFFT
  for (const std::int64_t n : size) {
    plan_->forward.emplace_back(std::size_t(n), false);
    plan_->inverse.emplace_back(std::size_t(n), true);
  }
#endif
}

void Fft3::run([[maybe_unused]] Complex* data, [[maybe_unused]] bool inverse) const {
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
#ifdef PERRIN_KISSFFT
  const auto [nx, ny, nz] = size_;
  auto* const at = reinterpret_cast<Number*>(data);
  const auto& fft = inverse ? plan_->inverse : plan_->forward;
  transform_lines(device_, fft[2], at, nz, 1, nx * ny, nz, 1);
  transform_lines(device_, fft[1], at, ny, nz, nx, ny * nz, nz);
  transform_lines(device_, fft[0], at, nx, ny * nz, 1, 0, ny * nz);
#endif
}

}  // namespace perrin
