// cuFFT (https://docs.nvidia.com/cuda/cufft), loaded when a mesh on a GPU is wanted: programs start
// without it, and wheels need not bring it along. For builds with PERRIN_CUFFT.
#pragma once

#include <cufft.h>

#include <string>

namespace perrin {

/// Its functions, as its header declares them.
struct CufftLibrary {
  decltype(&cufftPlan3d) plan_3d;
  decltype(&cufftPlanMany) plan_many;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftExecR2C) exec_r2c;
  decltype(&cufftExecD2Z) exec_d2z;
  decltype(&cufftExecC2R) exec_c2r;
  decltype(&cufftExecZ2D) exec_z2d;
  decltype(&cufftGetVersion) get_version;

  /// Loads it at the first call. Throws RunError with missing().
  static const CufftLibrary& get();
  /// Empty, or why it cannot be loaded and what helps.
  static std::string missing();
};

}  // namespace perrin
