# perrin_native_set(VARIABLE): the bit of the best instruction set of this machine, as in
# has_instruction_set(): 1 baseline, 2 AVX2, 4 AVX-512.
function(perrin_native_set variable)
  set(native 1)
  file(READ /proc/cpuinfo processor)
  if(processor MATCHES " avx2" AND processor MATCHES " fma ")
    set(native 2)
    if(processor MATCHES " avx512f" AND processor MATCHES " avx512dq" AND
       processor MATCHES " avx512vl" AND processor MATCHES " avx512bw")
      set(native 4)
    endif()
  endif()
  set(${variable} ${native} PARENT_SCOPE)
endfunction()
