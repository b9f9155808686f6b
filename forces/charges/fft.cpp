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

using Number = std::complex<Lanes>;

void transform(const Device& device, const kissfft<Lanes>& fft, Complex* data, const Lines& lines) {
  const std::int64_t tasks = (lines.count + Lanes::count - 1) / Lanes::count;
  for_tasks(
      device, tasks,
      [&](std::int64_t task, int) {
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

/// Lines of n numbers, one after another, that are real in space: two of them, a and b, are one
/// transform, that of a + i b. Of the transforms A and B the first half is read and written,
/// numbers 0 … n/2: the others are their conjugates. Forward: a and b have no imaginary parts.
void transform_pairs(const Device& device, const kissfft<Lanes>& fft, Complex* data, std::int64_t n,
                     std::int64_t count, bool inverse) {
  const std::int64_t pairs = count / 2, tasks = (pairs + Lanes::count - 1) / Lanes::count;
  for_tasks(
      device, tasks,
      [&](std::int64_t task, int) {
        static thread_local std::vector<Number> in, out;
        in.assign(std::size_t(n), Number{}), out.resize(std::size_t(n));
        const std::int64_t first = task * Lanes::count;
        const std::int64_t some = std::min<std::int64_t>(Lanes::count, pairs - first);
        Complex *a[Lanes::count], *b[Lanes::count];
        for (std::int64_t lane = 0; lane < some; ++lane)
          a[lane] = data + 2 * (first + lane) * n, b[lane] = a[lane] + n;
        for (std::int64_t k = 0; k < n; ++k) {
          Lanes re, im;
          const std::int64_t from = inverse && 2 * k > n ? n - k : k;
          const Real sign = from == k ? Real(1) : Real(-1);  // of imaginary parts
          for (std::int64_t lane = 0; lane < some; ++lane) {
            const Complex x = a[lane][from], y = b[lane][from];
            re[lane] = inverse ? x.re - sign * y.im : x.re;
            im[lane] = inverse ? sign * x.im + y.re : y.re;
          }
          in[std::size_t(k)] = {re, im};
        }
        fft.transform(in.data(), out.data());
        for (std::int64_t k = 0; k < n; ++k) {
          const Number z = out[std::size_t(k)], mirrored = out[std::size_t(k > 0 ? n - k : 0)];
          const Lanes re = z.real(), im = z.imag();
          if (inverse) {
            for (std::int64_t lane = 0; lane < some; ++lane)
              a[lane][k] = {re[lane], Real(0)}, b[lane][k] = {im[lane], Real(0)};
          } else if (2 * k <= n) {
            const Lanes other_re = mirrored.real(), other_im = mirrored.imag();
            for (std::int64_t lane = 0; lane < some; ++lane) {
              a[lane][k] = {Real(0.5) * (re[lane] + other_re[lane]),
                            Real(0.5) * (im[lane] - other_im[lane])};
              b[lane][k] = {Real(0.5) * (im[lane] + other_im[lane]),
                            Real(0.5) * (other_re[lane] - re[lane])};
            }
          }
        }
      },
      count * n > 2048);
}

/// The other half of the transform of real numbers.
void complete(const Device& device, Complex* data, const Fft3::Size& size) {
  for_pieces(device, size[0] * size[1], 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t x = line / size[1], y = line % size[1];
      const std::int64_t other_x = x > 0 ? size[0] - x : 0, other_y = y > 0 ? size[1] - y : 0;
      const Complex* const from = data + (other_x * size[1] + other_y) * size[2];
      Complex* const to = data + line * size[2];
      for (std::int64_t z = size[2] / 2 + 1; z < size[2]; ++z)
        to[z] = {from[size[2] - z].re, -from[size[2] - z].im};
    }
  });
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
  if (device_.halt().skipping()) return;
#ifdef PERRIN_CUFFT
  if (device_.is_cuda()) {
    check_cufft(cufftSetStream(plan_->handle, device_.queue().stream()), "its stream");
    const int direction = inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    if constexpr (sizeof(Real) == 4) {
      auto* const at = reinterpret_cast<cufftComplex*>(data);
      check_cufft(cufftExecC2C(plan_->handle, at, at, direction), "a transform");
    } else {
      auto* const at = reinterpret_cast<cufftDoubleComplex*>(data);
      check_cufft(cufftExecZ2Z(plan_->handle, at, at, direction), "a transform");
    }
    device_.queue().begin_anew();  // its kernels are not ours
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

void Fft3::run_real(Complex* data, bool inverse) const {
#ifdef PERRIN_KISSFFT
  if (!device_.is_cuda()) {
    if (device_.halt().skipping()) return;
    const auto [nx, ny, nz] = size_;
    const std::int64_t half = nz / 2 + 1;
    const auto& fft = inverse ? plan_->inverse : plan_->forward;
    const Lines along_y{ny, nz, nx * half, half, ny * nz, 1};
    const Lines along_x{nx, ny * nz, ny * half, half, nz, 1};
    if (inverse) {
      transform(device_, fft[0], data, along_x);
      transform(device_, fft[1], data, along_y);
      transform_pairs(device_, fft[2], data, nz, nx * ny, true);
    } else {
      transform_pairs(device_, fft[2], data, nz, nx * ny, false);
      transform(device_, fft[1], data, along_y);
      transform(device_, fft[0], data, along_x);
      complete(device_, data, size_);
    }
    return;
  }
#endif
  run(data, inverse);
}

}  // namespace perrin
