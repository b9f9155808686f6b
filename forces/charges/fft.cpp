#include "forces/charges/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/parallel.h"
#include "forces/charges/fft_lanes.h"

#ifdef PERRIN_CUFFT
#include "forces/charges/cufft_library.h"
#endif

namespace perrin {

struct Fft3::Plan {
  std::vector<fft::Plan> on_cpu;  // along x, y, and of half of z
#ifdef PERRIN_CUFFT
  struct Handle {
    cufftHandle handle = 0;
    Handle() = default;
    Handle(Handle&& other) noexcept : handle(std::exchange(other.handle, 0)) {}
    ~Handle() {
      if (handle != 0) CufftLibrary::get().destroy(handle);
    }
  };
  Handle forward_on_gpu;
  std::map<int, Handle> inverse_on_gpu;  // by the number of meshes
#endif
};

namespace {

using fft::Numbers, fft::PlanView;

/// Numbers that a thread works with, one line in each lane: never fewer than it has had.
Numbers* room_of_thread(std::int64_t count) {
  static thread_local std::vector<Numbers> room;
  if (std::int64_t(room.size()) < count) room.resize(std::size_t(count));
  return room.data();
}

/// A mesh, or several, on the CPU.
struct Meshes {
  std::int64_t nx, ny, nz;
  PlanView x, y, half_z;
  Real* space;
  Complex* waves;
  Numbers* room;  // of the thread

  PERRIN_INLINE std::int64_t half() const { return nz / 2 + 1; }
  PERRIN_INLINE std::int64_t lines() const { return ny * half(); }
  std::int64_t needs() const { return 2 * std::max({nx, ny, nz / 2 + 1}) + 1; }
  PERRIN_INLINE std::int64_t some(std::int64_t first, std::int64_t all) const {
    return all - first < fft::lanes ? all - first : fft::lanes;
  }
};

Meshes meshes_of(const std::vector<fft::Plan>& plans, const Fft3::Size& size, Real* space,
                 Complex* waves) {
  return {size[0],         size[1], size[2], plans[0].view(), plans[1].view(),
          plans[2].view(), space,   waves,   nullptr};
}

static_assert(Fft3::lines_of_group == fft::lanes);

/// Planes across x, along z and y.
struct ForwardPlane : Meshes {
  PERRIN_INLINE void operator()(std::int64_t plane) const {
    Complex* const to = waves + plane * ny * half();
    for (std::int64_t k = 0; k < ny; k += fft::lanes)
      transform_real(half_z, space + (plane * ny + k) * nz, to + k * half(), some(k, ny), room);
    for (std::int64_t k = 0; k < half(); k += fft::lanes)
      fft::transform_abreast<false>(y, to + k, {half(), some(k, half())}, room);
  }
};

/// Task k of those of several meshes, of which each has the same share.
struct OfMesh {
  std::int64_t mesh, at;
  PERRIN_INLINE OfMesh(const Share& share, std::int64_t k)
      : mesh(k / share.size()), at(share.begin + k % share.size()) {}
};

struct BackwardPlane : Meshes {
  Share planes;
  PERRIN_INLINE void operator()(std::int64_t task) const {
    const OfMesh of(planes, task);
    const std::int64_t plane = of.mesh * nx + of.at;
    Complex* const from = waves + plane * ny * half();
    for (std::int64_t k = 0; k < half(); k += fft::lanes)
      fft::transform_abreast<true>(y, from + k, {half(), some(k, half())}, room);
    for (std::int64_t k = 0; k < ny; k += fft::lanes)
      transform_back(half_z, from + k * half(), space + (plane * ny + k) * nz, some(k, ny), room);
  }
};

/// Groups of lines along x.
template <bool back>
struct Column : Meshes {
  Share groups;
  PERRIN_INLINE void operator()(std::int64_t task) const {
    const OfMesh of(groups, task);
    const std::int64_t first = of.at * fft::lanes;
    fft::transform_abreast<back>(x, waves + of.mesh * nx * lines() + first,
                                 {lines(), some(first, lines())}, room);
  }
};

template <class Body>
void run(const Device& device, const Body& body, std::int64_t begin, std::int64_t end,
         std::int64_t grain) {
  if (begin >= end || device.halt().skipping()) return;
  for_tasks(
      device, (end - begin + grain - 1) / grain,
      [&](std::int64_t task, int) {
        Body own = body;
        own.room = room_of_thread(body.needs());
        const std::int64_t first = begin + task * grain;
        run_range(own, first, std::min(end, first + grain));
      },
      body.nx * body.ny * body.nz > 2048);
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
    return CufftLibrary::missing();
#else
    return "this build knows no cuFFT, which its CUDA toolkit had not: build Perrin with one that "
           "has it, or leave the mesh out";
#endif
  }
#endif
  return "";
}

std::string Fft3::library_on_gpus() {
#ifdef PERRIN_CUFFT
  int version = 0;
  if (CufftLibrary::missing().empty() && CufftLibrary::get().get_version(&version) == CUFFT_SUCCESS)
    return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
  return "not found";
#else
  return "not built in";
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
    check_cufft(
        CufftLibrary::get().plan_3d(&plan_->forward_on_gpu.handle, int(size[0]), int(size[1]),
                                    int(size[2]), sizeof(Real) == 4 ? CUFFT_R2C : CUFFT_D2Z),
        "a plan");
    return;
  }
#endif
  for (const std::int64_t n : {size[0], size[1], size[2] / 2}) plan_->on_cpu.emplace_back(n);
}

void Fft3::prepare_inverse([[maybe_unused]] int count) {
#ifdef PERRIN_CUFFT
  if (!device_.is_cuda() || plan_->inverse_on_gpu.contains(count)) return;
  int n[3] = {int(size_[0]), int(size_[1]), int(size_[2])};
  int half[3] = {n[0], n[1], n[2] / 2 + 1};
  check_cufft(CufftLibrary::get().plan_many(&plan_->inverse_on_gpu[count].handle, 3, n, half, 1,
                                            int(waves()), n, 1, n[0] * n[1] * n[2],
                                            sizeof(Real) == 4 ? CUFFT_C2R : CUFFT_Z2D, count),
              "a plan");
#endif
}

void Fft3::forward([[maybe_unused]] const Real* space, [[maybe_unused]] Complex* waves) const {
  if (device_.halt().skipping()) return;
#ifdef PERRIN_CUFFT
  if (device_.is_cuda()) {
    const CufftLibrary& library = CufftLibrary::get();
    const cufftHandle plan = plan_->forward_on_gpu.handle;
    check_cufft(library.set_stream(plan, device_.queue().stream()), "its stream");
    // cuFFT's types are not const; what is transformed to another place stays.
    if constexpr (sizeof(Real) == 4)
      check_cufft(library.exec_r2c(plan, reinterpret_cast<cufftReal*>(const_cast<Real*>(space)),
                                   reinterpret_cast<cufftComplex*>(waves)),
                  "a transform");
    else
      check_cufft(
          library.exec_d2z(plan, reinterpret_cast<cufftDoubleReal*>(const_cast<Real*>(space)),
                           reinterpret_cast<cufftDoubleComplex*>(waves)),
          "a transform");
    return device_.queue().begin_anew();  // its kernels are not ours
  }
#endif
  forward_planes(space, waves, {0, size_[0]});
  forward_lines(waves, {0, line_groups()});
}

void Fft3::forward_planes(const Real* space, Complex* waves, const Share& planes) const {
  const Meshes mesh = meshes_of(plan_->on_cpu, size_, const_cast<Real*>(space), waves);
  run(device_, ForwardPlane{mesh}, planes.begin, planes.end, 1);
}

void Fft3::forward_lines(Complex* waves, const Share& groups) const {
  run(device_, Column<false>{meshes_of(plan_->on_cpu, size_, nullptr, waves), groups}, 0,
      groups.size(), 4);
}

void Fft3::inverse_lines(Complex* waves, int count, const Share& groups) const {
  run(device_, Column<true>{meshes_of(plan_->on_cpu, size_, nullptr, waves), groups}, 0,
      count * groups.size(), 4);
}

void Fft3::inverse_planes(Complex* waves, Real* space, int count, const Share& planes) const {
  run(device_, BackwardPlane{meshes_of(plan_->on_cpu, size_, space, waves), planes}, 0,
      count * planes.size(), 1);
}

void Fft3::inverse([[maybe_unused]] Complex* waves, [[maybe_unused]] Real* space,
                   [[maybe_unused]] int count) const {
  if (device_.halt().skipping()) return;
#ifdef PERRIN_CUFFT
  if (device_.is_cuda()) {
    const CufftLibrary& library = CufftLibrary::get();
    const cufftHandle plan = plan_->inverse_on_gpu.at(count).handle;
    check_cufft(library.set_stream(plan, device_.queue().stream()), "its stream");
    if constexpr (sizeof(Real) == 4)
      check_cufft(library.exec_c2r(plan, reinterpret_cast<cufftComplex*>(waves),
                                   reinterpret_cast<cufftReal*>(space)),
                  "a transform");
    else
      check_cufft(library.exec_z2d(plan, reinterpret_cast<cufftDoubleComplex*>(waves),
                                   reinterpret_cast<cufftDoubleReal*>(space)),
                  "a transform");
    return device_.queue().begin_anew();
  }
#endif
  inverse_lines(waves, count, {0, line_groups()});
  inverse_planes(waves, space, count, {0, size_[0]});
}

}  // namespace perrin
