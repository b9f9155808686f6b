# toolchain.json: how Perrin compiles plug-ins while it runs (engine/job/compile_plugin.h), for the
# build tree and for an installed Perrin. Folders are relative to the file.
set(flags -O3 -DNDEBUG)
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
if(PERRIN_CUDA)
  set(compiler ${CMAKE_CUDA_COMPILER})
  set(to_host -Xcompiler=)
  list(APPEND flags -x cu -std=c++20 -shared -cudart shared -ccbin ${CMAKE_CXX_COMPILER}
       -Xcompiler=-fPIC,-fvisibility=hidden --expt-relaxed-constexpr --diag-suppress=1675
       -DPERRIN_CUDA -DFMT_USE_CONSTEXPR=1)
  list(JOIN PERRIN_HOST_FLAGS , host)
  list(APPEND flags -Xcompiler=${host})
  if(PERRIN_CUDA_CHECK AND PERRIN_CUDA_FAST_COMPILE)
    list(APPEND flags -Ofc=max)
  endif()
else()
  set(compiler ${CMAKE_CXX_COMPILER})
  list(APPEND flags -std=gnu++20 -shared -fPIC -fvisibility=hidden ${PERRIN_HOST_FLAGS})
  if(PERRIN_SANITIZE)
    list(APPEND flags -fsanitize=${PERRIN_SANITIZE} -fno-sanitize-recover=all)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND flags ${to_host}--param=ggc-min-heapsize=500000)  # as in PerrinPlugin.cmake
endif()
set(architecture "")
if(PERRIN_CUDA)
  list(GET CMAKE_CUDA_ARCHITECTURES -1 architecture)
endif()
string(REGEX REPLACE "[^0-9].*" "" architecture "${architecture}")

function(perrin_toolchain file)
  list(TRANSFORM flags REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE options)
  list(JOIN options ", " options)
  set(folders ${ARGN} ${others})
  list(TRANSFORM folders REPLACE "(.+)" "\"\\1\"")
  list(JOIN folders ", " folders)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "{\"compiler\": \"@compiler@\",
 \"options\": [@options@],
 \"include\": [@folders@],
 \"architecture\": \"@architecture@\"}
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
