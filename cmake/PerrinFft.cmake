# PERRIN_CUFFT: the folder of cuFFT, which transforms particle meshes on GPUs, in the CUDA toolkit;
# empty where there is none. The library is loaded at run time (forces/charges/cufft_library.h).
set(PERRIN_CUFFT "")
if(PERRIN_CUDA AND TARGET CUDA::cufft)
  get_target_property(PERRIN_CUFFT CUDA::cufft IMPORTED_LOCATION)
  get_filename_component(PERRIN_CUFFT "${PERRIN_CUFFT}" DIRECTORY)
elseif(PERRIN_CUDA)
  message(STATUS "Perrin: a build without cuFFT, and so without particle meshes on GPUs")
endif()
