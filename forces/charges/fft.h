// Fourier transforms of meshes of real numbers in three dimensions: by cuFFT on a GPU
// (https://docs.nvidia.com/cuda/cufft), on the CPU eight lines at a time (fft_lanes.h). The bits
// are the same for the same size on the same device, whatever the threads; those of CPU and GPU
// differ in the last ones.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/real.h"
#include "engine/device/device.h"
#include "engine/device/share.h"

namespace perrin {

struct Complex {
  Real re, im;
};

class Fft3 {
 public:
  /// Points along x, y and z (fastest): products of 2, 3 and 5.
  using Size = std::array<std::int64_t, 3>;

  /// Empty, or why there are no transforms for a device like this.
  static std::string missing(const Device& device);
  /// The version of cuFFT that is there, for people.
  static std::string library_on_gpus();
  /// The least size that is a product of 2, 3 and 5, and even.
  static std::int64_t good_size(double least);

  Fft3();
  /// Allocates.
  Fft3(const Device& device, const Size& size);
  Fft3(Fft3&&) noexcept;
  Fft3& operator=(Fft3&&) noexcept;
  ~Fft3();

  /// Numbers of a transform: those with n_z from 0 to size[2]/2; all others are their conjugates,
  /// at -n.
  std::int64_t waves() const { return size_[0] * lines(); }
  const Size& size() const { return size_; }

  // On the CPU a transform has two parts that can be shared out: planes across x, and lines along
  // x, of which groups are done at a time.
  static constexpr std::int64_t lines_of_group = 8;
  std::int64_t lines() const { return size_[1] * (size_[2] / 2 + 1); }
  std::int64_t line_groups() const { return (lines() + lines_of_group - 1) / lines_of_group; }

  /// Before inverse() of so many meshes. Allocates at the first call.
  void prepare_inverse(int count);
  /// waves_n = Σ_j space_j exp(-2πi n·j/N). Device work, as inverse().
  void forward(const Real* space, Complex* waves) const;
  /// space_j = Σ_n waves_n exp(2πi n·j/N), not divided by anything, of `count` meshes, one after
  /// another in memory. Overwrites the waves.
  void inverse(Complex* waves, Real* space, int count) const;
  // On the CPU: the two parts of forward(), and those of inverse().
  void forward_planes(const Real* space, Complex* waves, const Share& planes) const;
  void forward_lines(Complex* waves, const Share& groups) const;
  void inverse_lines(Complex* waves, int count, const Share& groups) const;
  void inverse_planes(Complex* waves, Real* space, int count, const Share& planes) const;

 private:
  struct Plan;
  Device device_;
  Size size_{};
  std::unique_ptr<Plan> plan_;
};

}  // namespace perrin
