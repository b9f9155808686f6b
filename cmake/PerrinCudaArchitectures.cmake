# What GPUs a build is for. Tensor cores that take TF32, by which lists are built, and reductions of
# a warp in one instruction are there from compute capability 8.0 on.

# Ends with an error where `architectures`, as CMAKE_CUDA_ARCHITECTURES has them, are not all 8.0 or
# newer. "native" is not looked at.
function(perrin_check_cuda_architectures architectures)
  set(listed ${architectures})
  list(REMOVE_ITEM listed "native")
  if("${architectures}" STREQUAL "")
    set(wrong "")
  endif()
  foreach(one IN LISTS listed)
    if(NOT one MATCHES "^([0-9]+)[af]?(-real|-virtual)?$" OR CMAKE_MATCH_1 LESS 80)
      list(APPEND wrong "${one}")
    endif()
  endforeach()
  if(DEFINED wrong)
    message(FATAL_ERROR
      "CMAKE_CUDA_ARCHITECTURES: got \"${wrong}\", and Perrin needs GPUs of compute capability 8.0 "
      "(Ampere) or newer: expected numbers from 80 on, as in "
      "\"-DCMAKE_CUDA_ARCHITECTURES=80-real;90\", or a build for the CPU alone, "
      "-DPERRIN_DEVICE=cpu")
  endif()
endfunction()
