#include "forces/charges/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <utility>
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
  struct Handle {
    cufftHandle handle = 0;
    Handle() = default;
    Handle(Handle&& other) noexcept : handle(std::exchange(other.handle, 0)) {}
    ~Handle() {
      if (handle != 0) cufftDestroy(handle);
    }
  };
  Handle forward_on_gpu;
  std::map<int, Handle> inverse_on_gpu;  // by the number of meshes
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

/// Calls pair(first, some) for as many lines as there are lanes, of `count` pairs of lines.
template <class F>
void for_pairs(const Device& device, std::int64_t n, std::int64_t pairs, const F& pair) {
  const std::int64_t tasks = (pairs + Lanes::count - 1) / Lanes::count;
  for_tasks(
      device, tasks,
      [&](std::int64_t task, int) {
        static thread_local std::vector<Number> in, out;
        in.assign(std::size_t(n), Number{}), out.resize(std::size_t(n));
        const std::int64_t first = task * Lanes::count;
        pair(first, std::min<std::int64_t>(Lanes::count, pairs - first), in, out);
      },
      2 * pairs * n > 2048);
}

/// Lines of n real numbers, one after another: two of them, a and b, are one transform, that of
/// a + i b.
void transform_real(const Device& device, const kissfft<Lanes>& fft, const Real* space,
                    Complex* waves, std::int64_t n, std::int64_t lines) {
  const std::int64_t half = n / 2 + 1;
  for_pairs(device, n, lines / 2, [&](std::int64_t first, std::int64_t some, auto& in, auto& out) {
    for (std::int64_t k = 0; k < n; ++k) {
      Lanes re, im;
      for (std::int64_t lane = 0; lane < some; ++lane) {
        const Real* const a = space + 2 * (first + lane) * n;
        re[lane] = a[k], im[lane] = a[n + k];
      }
      in[std::size_t(k)] = {re, im};
    }
    fft.transform(in.data(), out.data());
    for (std::int64_t k = 0; k < half; ++k) {
      const Number z = out[std::size_t(k)], mirrored = out[std::size_t(k > 0 ? n - k : 0)];
      const Lanes re = z.real(), im = z.imag();
      const Lanes other_re = mirrored.real(), other_im = mirrored.imag();
      for (std::int64_t lane = 0; lane < some; ++lane) {
        Complex* const a = waves + 2 * (first + lane) * half;
        a[k] = {Real(0.5) * (re[lane] + other_re[lane]), Real(0.5) * (im[lane] - other_im[lane])};
        a[half + k] = {Real(0.5) * (im[lane] + other_im[lane]),
                       Real(0.5) * (other_re[lane] - re[lane])};
      }
    }
  });
}

/// Back from the halves of the transforms.
void transform_back(const Device& device, const kissfft<Lanes>& fft, const Complex* waves,
                    Real* space, std::int64_t n, std::int64_t lines) {
  const std::int64_t half = n / 2 + 1;
  for_pairs(device, n, lines / 2, [&](std::int64_t first, std::int64_t some, auto& in, auto& out) {
    for (std::int64_t k = 0; k < n; ++k) {
      Lanes re, im;
      const std::int64_t from = k < half ? k : n - k;
      const Real sign = k < half ? Real(1) : Real(-1);  // of imaginary parts
      for (std::int64_t lane = 0; lane < some; ++lane) {
        const Complex* const a = waves + 2 * (first + lane) * half;
        const Complex x = a[from], y = a[half + from];
        re[lane] = x.re - sign * y.im, im[lane] = sign * x.im + y.re;
      }
      in[std::size_t(k)] = {re, im};
    }
    fft.transform(in.data(), out.data());
    for (std::int64_t k = 0; k < n; ++k) {
      const Lanes re = out[std::size_t(k)].real(), im = out[std::size_t(k)].imag();
      for (std::int64_t lane = 0; lane < some; ++lane) {
        Real* const a = space + 2 * (first + lane) * n;
        a[k] = re[lane], a[n + k] = im[lane];
      }
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
    check_cufft(cufftPlan3d(&plan_->forward_on_gpu.handle, int(size[0]), int(size[1]), int(size[2]),
                            sizeof(Real) == 4 ? CUFFT_R2C : CUFFT_D2Z),
                "a plan");
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

void Fft3::prepare_inverse([[maybe_unused]] int count) {
#ifdef PERRIN_CUFFT
  if (!device_.is_cuda() || plan_->inverse_on_gpu.contains(count)) return;
  int n[3] = {int(size_[0]), int(size_[1]), int(size_[2])};
  int half[3] = {n[0], n[1], n[2] / 2 + 1};
  check_cufft(cufftPlanMany(&plan_->inverse_on_gpu[count].handle, 3, n, half, 1, int(waves()), n, 1,
                            n[0] * n[1] * n[2], sizeof(Real) == 4 ? CUFFT_C2R : CUFFT_Z2D, count),
              "a plan");
#endif
}

void Fft3::forward([[maybe_unused]] const Real* space, [[maybe_unused]] Complex* waves) const {
  if (device_.halt().skipping()) return;
#ifdef PERRIN_CUFFT
  if (device_.is_cuda()) {
    const cufftHandle plan = plan_->forward_on_gpu.handle;
    check_cufft(cufftSetStream(plan, device_.queue().stream()), "its stream");
    // cuFFT's types are not const; what is transformed to another place stays.
    if constexpr (sizeof(Real) == 4)
      check_cufft(cufftExecR2C(plan, reinterpret_cast<cufftReal*>(const_cast<Real*>(space)),
                               reinterpret_cast<cufftComplex*>(waves)),
                  "a transform");
    else
      check_cufft(cufftExecD2Z(plan, reinterpret_cast<cufftDoubleReal*>(const_cast<Real*>(space)),
                               reinterpret_cast<cufftDoubleComplex*>(waves)),
                  "a transform");
    return device_.queue().begin_anew();  // its kernels are not ours
  }
#endif
#ifdef PERRIN_KISSFFT
  const auto [nx, ny, nz] = size_;
  const std::int64_t half = nz / 2 + 1;
  transform_real(device_, plan_->forward[2], space, waves, nz, nx * ny);
  transform(device_, plan_->forward[1], waves, {ny, half, nx * half, half, ny * half, 1});
  transform(device_, plan_->forward[0], waves, {nx, ny * half, ny * half, ny * half, 0, 1});
#endif
}

void Fft3::inverse([[maybe_unused]] Complex* waves, [[maybe_unused]] Real* space,
                   [[maybe_unused]] int count) const {
  if (device_.halt().skipping()) return;
#ifdef PERRIN_CUFFT
  if (device_.is_cuda()) {
    const cufftHandle plan = plan_->inverse_on_gpu.at(count).handle;
    check_cufft(cufftSetStream(plan, device_.queue().stream()), "its stream");
    if constexpr (sizeof(Real) == 4)
      check_cufft(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(waves),
                               reinterpret_cast<cufftReal*>(space)),
                  "a transform");
    else
      check_cufft(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(waves),
                               reinterpret_cast<cufftDoubleReal*>(space)),
                  "a transform");
    return device_.queue().begin_anew();
  }
#endif
#ifdef PERRIN_KISSFFT
  const auto [nx, ny, nz] = size_;
  const std::int64_t half = nz / 2 + 1;
  for (int mesh = 0; mesh < count; ++mesh) {
    Complex* const from = waves + mesh * this->waves();
    transform(device_, plan_->inverse[0], from, {nx, ny * half, ny * half, ny * half, 0, 1});
    transform(device_, plan_->inverse[1], from, {ny, half, nx * half, half, ny * half, 1});
    transform_back(device_, plan_->inverse[2], from, space + mesh * nx * ny * nz, nz, nx * ny);
  }
#endif
}

}  // namespace perrin
