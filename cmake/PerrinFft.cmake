# Whether there is cuFFT for Fourier transforms on GPUs. Without it "mesh" of the force ewald says
# what is missing there.
option(PERRIN_WITH_CUFFT "Particle meshes on GPUs, by the library cuFFT of the CUDA toolkit" ON)
set(PERRIN_CUFFT OFF)
if(PERRIN_CUDA AND PERRIN_WITH_CUFFT AND TARGET CUDA::cufft)
  set(PERRIN_CUFFT ON)
endif()
if(PERRIN_CUDA AND NOT PERRIN_CUFFT)
  message(STATUS "Perrin: a build without cuFFT, and so without particle meshes on GPUs")
endif()
