#include "forces/charges/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/tasks.h"

#ifdef PERRIN_KISSFFT
#include "forces/charges/fft_lanes.h"
#endif
#ifdef PERRIN_CUFFT
#include <cufft.h>
#endif

namespace perrin {

struct Fft3::Plan {
#ifdef PERRIN_KISSFFT
  std::vector<kissfft<Lanes>> forward, inverse;  // [axis]
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
/// Lines of n numbers, `stride` apart; line l begins at (l / row) · outer + (l % row) · step. As
/// many as there are lanes are transformed at a time; where fewer are left, the other lanes are 0.
struct Lines {
  std::int64_t n, stride, count, row, outer, step;

  Complex* begin(Complex* data, std::int64_t line) const {
    return data + line / row * outer + line % row * step;
  }
};

void transform(const Device& device, const kissfft<Lanes>& fft, Complex* data, const Lines& lines) {
  const std::int64_t tasks = (lines.count + Lanes::count - 1) / Lanes::count;
  for_tasks(
      device, tasks,
      [&](std::int64_t task, int) {
        using Number = std::complex<Lanes>;
        static thread_local std::vector<Number> in, out;
        in.assign(std::size_t(lines.n), Number{}), out.resize(std::size_t(lines.n));
        const std::int64_t first = task * Lanes::count;
        const std::int64_t some = std::min<std::int64_t>(Lanes::count, lines.count - first);
        Complex* at[Lanes::count];
        for (std::int64_t lane = 0; lane < some; ++lane) at[lane] = lines.begin(data, first + lane);
        for (std::int64_t k = 0; k < lines.n; ++k) {
          Lanes re, im;
          for (std::int64_t lane = 0; lane < some; ++lane)
            re[lane] = at[lane][k * lines.stride].re, im[lane] = at[lane][k * lines.stride].im;
          in[std::size_t(k)] = {re, im};
        }
        fft.transform(in.data(), out.data());
        for (std::int64_t k = 0; k < lines.n; ++k) {
          const Lanes re = out[std::size_t(k)].real(), im = out[std::size_t(k)].imag();
          for (std::int64_t lane = 0; lane < some; ++lane)
            at[lane][k * lines.stride] = {re[lane], im[lane]};
        }
      },
      lines.count * lines.n > 2048);
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
  const auto& fft = inverse ? plan_->inverse : plan_->forward;
  transform(device_, fft[2], data, {nz, 1, nx * ny, nx * ny, 0, nz});
  transform(device_, fft[1], data, {ny, nz, nx * nz, nz, ny * nz, 1});
  transform(device_, fft[0], data, {nx, ny * nz, ny * nz, ny * nz, 0, 1});
#endif
}

}  // namespace perrin
