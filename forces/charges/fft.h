// Fourier transforms of a mesh in three dimensions: by cuFFT on a GPU, by kissfft on the CPU.
//
// The transforms are libraries' (https://docs.nvidia.com/cuda/cufft,
// https://github.com/mborgerding/kissfft, several lines at a time: fft_lanes.h). One library gives
// the same bits for the same size on the same device, whatever the threads; those of CPU and GPU
// differ in the last bits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/real.h"
#include "engine/device/device.h"

namespace perrin {

struct Complex {
  Real re, im;
};

class Fft3 {
 public:
  /// Points along x, y and z (fastest): products of 2, 3 and 5.
  using Size = std::array<std::int64_t, 3>;

  /// Empty, or why this build has no transforms for a device like this.
  static std::string missing(const Device& device);
  /// The least size that is a product of 2, 3 and 5, and even.
  static std::int64_t good_size(double least);

  Fft3();
  /// Allocates.
  Fft3(const Device& device, const Size& size);
  Fft3(Fft3&&) noexcept;
  Fft3& operator=(Fft3&&) noexcept;
  ~Fft3();

  /// Σ_j data_j exp(∓2πi n·j/N) in place, not divided by anything; inverse: +. Device work.
  void run(Complex* data, bool inverse) const;
  /// The same where numbers in space are real: forward of numbers without imaginary part; inverse
  /// of what such a transform could be, of which it may look at half. The CPU takes half of the
  /// time.
  void run_real(Complex* data, bool inverse) const;

 private:
  struct Plan;
  Device device_;
  Size size_{};
  std::unique_ptr<Plan> plan_;
};

}  // namespace perrin
