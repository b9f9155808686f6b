# toolchain.json: how Perrin compiles plug-ins while it runs (engine/job/compile_plugin.h), for the
# build tree and for an installed Perrin. Folders are relative to the file.
set(flags -O3 -DNDEBUG)
if(PERRIN_QUICK_BUILD)
  set(flags -O1 -DNDEBUG)  # formulas of tests are run for seconds and compiled for ten
endif()
foreach(target nlohmann_json::nlohmann_json fmt::fmt)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(folders)
    list(REMOVE_ITEM folders ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    list(APPEND others ${folders})
  endif()
  get_target_property(definitions ${target} INTERFACE_COMPILE_DEFINITIONS)
  foreach(definition ${definitions})
    if(definition MATCHES "^[A-Za-z0-9_=]+$" AND NOT definition MATCHES "NOTFOUND")
      list(APPEND flags -D${definition})
    endif()
  endforeach()
endforeach()
if(PERRIN_PRECISION STREQUAL "double")
  list(APPEND flags -DPERRIN_DOUBLE)
endif()
set(cpu ${flags} -std=gnu++20 -shared -fPIC -fvisibility=hidden ${PERRIN_HOST_FLAGS})
set(heap "")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(heap --param=ggc-min-heapsize=500000)  # as in PerrinPlugin.cmake
endif()
list(APPEND cpu ${heap})
if(PERRIN_CUDA)
  list(JOIN PERRIN_HOST_FLAGS , host)
  set(gpu ${flags} -x cu -std=c++20 -shared -cudart shared -ccbin ${CMAKE_CXX_COMPILER}
      -Xcompiler=-fPIC,-fvisibility=hidden --expt-relaxed-constexpr --diag-suppress=1675
      -DPERRIN_CUDA -DFMT_USE_CONSTEXPR=1 -Xcompiler=${host})
  if(PERRIN_CUDA_CHECK AND PERRIN_CUDA_FAST_COMPILE)
    list(APPEND gpu -Ofc=max)
  endif()
  if(heap)
    list(APPEND gpu -Xcompiler=${heap})
  endif()
  # CUDART_VERSION, as the build's tag has it: 13000 is CUDA 13.0.
  math(EXPR version
       "${CUDAToolkit_VERSION_MAJOR} * 1000 + ${CUDAToolkit_VERSION_MINOR} * 10")
  list(APPEND cpu -DPERRIN_FOR_CPU_OF_CUDA=${version})
elseif(PERRIN_SANITIZE)
  list(APPEND cpu -fsanitize=${PERRIN_SANITIZE} -fno-sanitize-recover=all)
endif()

# perrin_toolchain_of(TEXT COMPILER OPTIONS…)  a compiler with its options, as JSON.
function(perrin_toolchain_of text compiler)
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
  list(JOIN ARGN ", " options)
  set(${text} "{\"compiler\": \"${compiler}\",\n  \"options\": [${options}]}" PARENT_SCOPE)
endfunction()
perrin_toolchain_of(chosen ${CMAKE_CXX_COMPILER} ${cpu})
set(compilers "\"cpu\": ${chosen}")
if(PERRIN_CUDA)
  perrin_toolchain_of(chosen ${CMAKE_CUDA_COMPILER} ${gpu})
  string(APPEND compilers ",\n \"gpu\": ${chosen}")
endif()

function(perrin_toolchain file)
  set(folders ${ARGN} ${others})
  list(TRANSFORM folders REPLACE "(.+)" "\"\\1\"")
  list(JOIN folders ", " folders)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "{@compilers@,
 \"include\": [@folders@]}
")
endfunction()
perrin_toolchain(${PERRIN_BUILD_LIBDIR}/perrin/toolchain.json
                 ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
file(RELATIVE_PATH headers ${CMAKE_INSTALL_FULL_LIBDIR}/perrin
     ${CMAKE_INSTALL_FULL_INCLUDEDIR}/perrin)
set(bundled)
if(PERRIN_BUNDLE)
  set(bundled ${headers}-libraries)
endif()
perrin_toolchain(${PROJECT_BINARY_DIR}/installed/toolchain.json ${headers} ${bundled})
install(FILES ${PROJECT_BINARY_DIR}/installed/toolchain.json
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/perrin)
