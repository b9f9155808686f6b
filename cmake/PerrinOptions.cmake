# perrin_options: what every user of the headers needs; perrin_strict: how our own files are
# compiled.
find_package(nlohmann_json 3.10 REQUIRED)
find_package(fmt REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)

add_library(perrin_options INTERFACE)
set_target_properties(perrin_options PROPERTIES EXPORT_NAME options)
target_compile_features(perrin_options INTERFACE cxx_std_20)
target_include_directories(perrin_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:include/perrin>
  "$<$<NOT:$<BOOL:${PERRIN_BUNDLE}>>:$<INSTALL_INTERFACE:${HDF5_INCLUDE_DIRS}>>")  # for io/hdf5.h
set(fmt fmt::fmt)
if(PERRIN_BUNDLE)  # its headers; libperrin holds the rest (PerrinLibrary.cmake)
  add_library(perrin_fmt INTERFACE)
  get_target_property(folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(perrin_fmt SYSTEM INTERFACE ${folders})
  target_compile_definitions(perrin_fmt INTERFACE FMT_SHARED)
  set(fmt $<BUILD_INTERFACE:perrin_fmt> $<INSTALL_INTERFACE:fmt::fmt>)
endif()
target_link_libraries(perrin_options INTERFACE nlohmann_json::nlohmann_json ${fmt} Threads::Threads)
if(PERRIN_PRECISION STREQUAL "double")
  target_compile_definitions(perrin_options INTERFACE PERRIN_DOUBLE)
elseif(NOT PERRIN_PRECISION STREQUAL "mixed")
  message(FATAL_ERROR "PERRIN_PRECISION must be mixed or double, got ${PERRIN_PRECISION}")
endif()

include(PerrinNative)
if(PERRIN_INSTRUCTION_SETS STREQUAL "native")
  perrin_native_set(native)
  target_compile_definitions(perrin_options INTERFACE PERRIN_SETS=${native})
elseif(PERRIN_INSTRUCTION_SETS STREQUAL "baseline")
  target_compile_definitions(perrin_options INTERFACE PERRIN_SETS=1)
elseif(PERRIN_INSTRUCTION_SETS STREQUAL "avx2")
  target_compile_definitions(perrin_options INTERFACE PERRIN_SETS=2)
elseif(NOT PERRIN_INSTRUCTION_SETS STREQUAL "all")
  message(FATAL_ERROR "PERRIN_INSTRUCTION_SETS must be all, native, avx2 or baseline, got "
                      "${PERRIN_INSTRUCTION_SETS}")
endif()

# errno and floating-point traps are never looked at; without them loops vectorise. Contraction to
# fused multiply-add is on, as nvcc has it. The tuning chooses no instruction set
# (engine/device/parallel.h does, at run time); it lets GCC use gathers where there are any.
# -fopenmp-simd: the pragmas of vector loops; threads are the engine's own
# (engine/device/threads.h).
set(PERRIN_HOST_FLAGS -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=fast
                      -mtune=skylake-avx512)
target_compile_options(perrin_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${PERRIN_HOST_FLAGS}>")
if(PERRIN_SANITIZE)
  if(PERRIN_CUDA)
    message(FATAL_ERROR "PERRIN_SANITIZE is for builds with -DPERRIN_DEVICE=cpu")
  endif()
  # Whatever is found ends the program. Vector loops may read beyond the end of arrays, as far as
  # Device::allocate() makes them longer.
  set(sanitize -fsanitize=${PERRIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(perrin_options INTERFACE ${sanitize})
  target_link_options(perrin_options INTERFACE ${sanitize})
  target_compile_definitions(perrin_options INTERFACE PERRIN_SANITIZED)
endif()
if(PERRIN_CUDA)
  # fmt 9 takes half of its constexpr away where it sees nvcc, and then does not compile as C++20.
  target_compile_definitions(perrin_options INTERFACE
    PERRIN_CUDA $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
  list(JOIN PERRIN_HOST_FLAGS , host)
  # The standard by its flag: CMake 3.25 knows none above C++17 for nvcc.
  set(cuda -std=c++20 -Xcompiler=${host} --expt-relaxed-constexpr)
  list(APPEND cuda --diag-suppress=1675)  # GCC's own pragmas are for the host compiler
  target_compile_options(perrin_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda}>")
  target_link_libraries(perrin_options INTERFACE CUDA::cudart)
endif()

add_library(perrin_strict INTERFACE)
# -Wpsabi: vectors of four doubles never leave inlined functions; how they would be passed does not
# matter.
# -Wshadow: a file must not be told of names in unnamed namespaces of those compiled with it.
set(PERRIN_WARNINGS -Wall -Wextra -Wno-unknown-pragmas -Wno-psabi)
if(NOT PERRIN_UNITY)
  list(APPEND PERRIN_WARNINGS -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # False alarms of GCC 12 for "text" + std::string (GCC bug 105651).
  list(APPEND PERRIN_WARNINGS -Wno-restrict)
else()
  # Clang: attributes that GCC alone has, members that a build without CUDA does not use, and braces
  # that C++20 lets one leave out.
  list(APPEND PERRIN_WARNINGS -Wno-unknown-attributes -Wno-ignored-attributes
                              -Wno-unused-private-field -Wno-missing-braces)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC collects its garbage later: a tenth of its time against 200 MB at most.
  set(heap --param=ggc-min-heapsize=300000)
  target_compile_options(perrin_strict INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:${heap}>$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${heap}>")
endif()
target_compile_options(perrin_strict INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${PERRIN_WARNINGS};-Wpedantic;$<$<BOOL:${PERRIN_WERROR}>:-Werror>>")
if(PERRIN_CUDA)
  # -Wpedantic and unused parameters are noise in the code that nvcc generates.
  target_compile_options(perrin_strict INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall;-Xcompiler=-Wno-unknown-pragmas;$<$<BOOL:${PERRIN_WERROR}>:-Werror=all-warnings>>")
endif()
if(PERRIN_CUDA AND PERRIN_CUDA_CHECK)
  include(CheckCompilerFlag)
  check_compiler_flag(CUDA -Ofc=max PERRIN_CUDA_FAST_COMPILE)  # CUDA 12.8 or newer
  if(PERRIN_CUDA_FAST_COMPILE)
    target_compile_options(perrin_strict INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-Ofc=max>")
  endif()
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
