# Which architectures cmake/PerrinCudaArchitectures.cmake refuses, without a CUDA toolkit:
#   cmake -P cuda_architectures.cmake
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/PerrinCudaArchitectures.cmake")
if(DEFINED architectures)
  perrin_check_cuda_architectures("${architectures}")
  return()
endif()

function(expect status architectures)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-Darchitectures=${architectures}" -P
                          "${CMAKE_SCRIPT_MODE_FILE}"
                  RESULT_VARIABLE found ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT found EQUAL status)
    message(SEND_ERROR "\"${architectures}\": status ${found}, expected ${status}: ${said}")
  elseif(status EQUAL 1 AND NOT said MATCHES "got \"${ARGV2}\", and Perrin needs GPUs of compute")
    message(SEND_ERROR "\"${architectures}\": ${said}")
  endif()
endfunction()

foreach(good "80" "80-real;90" "80-virtual" "86;89-real;90a-real;100f;120" "native" "native;90")
  expect(0 "${good}")
endforeach()
expect(1 "75" "75")
expect(1 "90;75-real" "75-real")
expect(1 "70-virtual;90;native;61" "70-virtual;61")
expect(1 "all" "all")
expect(1 "all-major" "all-major")
expect(1 "sm_90" "sm_90")
expect(1 "OFF" "OFF")
expect(1 "" "")
