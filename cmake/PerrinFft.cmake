# Finds the libraries of Fourier transforms: kissfft (a header) for the CPU, cuFFT for GPUs. Without
# them "mesh" of the force ewald says what is missing.
option(PERRIN_WITH_CUFFT "Particle meshes on GPUs, by the library cuFFT of the CUDA toolkit" ON)
find_path(PERRIN_KISSFFT_INCLUDE kissfft/kissfft.hh)
set(PERRIN_CUFFT OFF)
if(PERRIN_CUDA AND PERRIN_WITH_CUFFT AND TARGET CUDA::cufft)
  set(PERRIN_CUFFT ON)
endif()
if(NOT PERRIN_KISSFFT_INCLUDE)
  message(STATUS "Perrin: a build without kissfft, and so without particle meshes on the CPU")
endif()
if(PERRIN_CUDA AND NOT PERRIN_CUFFT)
  message(STATUS "Perrin: a build without cuFFT, and so without particle meshes on GPUs")
endif()
