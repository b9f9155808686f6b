# perrin_folder(NAME SOURCES a.cpp … KERNELS b.cpp … COLD c.cpp …)
#   The object libraries of one folder. KERNELS are files with device code: compiled as CUDA where
#   there is a CUDA toolkit, otherwise as C++. COLD are those that read a job or a command line
#   once: they gain nothing from optimising, which takes most of their compilation. With
#   PERRIN_UNITY several files are compiled at a time, kernels in builds for tests alone.
function(perrin_kernels)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(PERRIN_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  elseif(PERRIN_QUICK_BUILD)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O3)
  endif()
endfunction()

# Whether a file has options of its own, and is not compiled with others.
function(perrin_is_alone result file)
  set(${result} OFF PARENT_SCOPE)
  foreach(property SKIP_UNITY_BUILD_INCLUSION COMPILE_DEFINITIONS COMPILE_OPTIONS
                   INCLUDE_DIRECTORIES LANGUAGE)
    get_source_file_property(value ${file} ${property})
    if(value AND NOT value STREQUAL CXX)
      set(${result} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(perrin_check_joined)
  foreach(file ${ARGN})
    perrin_is_alone(alone ${file})
    if(alone)
      message(FATAL_ERROR "${file} is compiled with others, and was given options after that")
    endif()
  endforeach()
endfunction()

# perrin_joined(OUT NAME FILE…)  with PERRIN_UNITY puts files together, up to eight in one, and sets
#   OUT to those. They are included by names from the root of the sources: a compiler cache finds
#   them in any checkout, which CMake's own UNITY_BUILD with its whole paths prevents. Files with
#   options of their own, which must be set before, stay alone, and so do generated ones.
function(perrin_joined out name)
  if(PERRIN_UNITY)
    perrin_join(files ${name} 8 ${ARGN})
    set(${out} ${files} PARENT_SCOPE)
  else()
    set(${out} ${ARGN} PARENT_SCOPE)
  endif()
endfunction()

# perrin_joined_kernels(OUT NAME FILE…)  the same for files with device code, up to three in one and
#   where nobody waits for one of them alone: in builds for tests. nvcc reads headers three times,
#   which takes as long as all else in half of these files.
function(perrin_joined_kernels out name)
  if(PERRIN_UNITY AND PERRIN_QUICK_BUILD)
    perrin_join(files ${name}_kernels 3 ${ARGN})
    set(${out} ${files} PARENT_SCOPE)
  else()
    set(${out} ${ARGN} PARENT_SCOPE)
  endif()
endfunction()

# The files of both, up to `most` in one.
function(perrin_join out name most)
  list(LENGTH ARGN files)
  if(files LESS 2)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(joined)
  set(together)
  set(text)
  set(inside 0)
  set(number 0)
  foreach(file ${ARGN} "")
    set(alone OFF)
    if(file)
      perrin_is_alone(alone ${file})
      cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${file} generated)
      if(alone OR generated)
        list(APPEND joined ${file})
        continue()
      endif()
      list(APPEND together ${file})
      cmake_path(ABSOLUTE_PATH file)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..)
      string(APPEND text "#include \"${file}\"\n")
      math(EXPR inside "${inside} + 1")
    endif()
    if(text AND (inside EQUAL most OR NOT file))
      set(whole ${CMAKE_CURRENT_BINARY_DIR}/joined/${name}_${number}.cpp)
      file(CONFIGURE OUTPUT ${whole} @ONLY CONTENT "${text}")
      list(APPEND joined ${whole})
      set(text)
      set(inside 0)
      math(EXPR number "${number} + 1")
    endif()
  endforeach()
  set(${out} ${joined} PARENT_SCOPE)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL perrin_check_joined ${together})")
endfunction()

function(perrin_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;KERNELS;COLD" ${ARGN})
  perrin_joined_kernels(arg_KERNELS ${name} ${arg_KERNELS})
  perrin_kernels(${arg_KERNELS})
  perrin_joined(arg_SOURCES ${name} ${arg_SOURCES})
  perrin_joined(arg_COLD ${name}_cold ${arg_COLD})
  add_library(perrin_${name} OBJECT ${arg_SOURCES} ${arg_KERNELS})
  set(parts perrin_${name})
  if(arg_COLD)
    add_library(perrin_${name}_cold OBJECT ${arg_COLD})
    target_compile_options(perrin_${name}_cold PRIVATE $<$<CONFIG:Release>:-O1>)
    list(APPEND parts perrin_${name}_cold)
  endif()
  foreach(part ${parts})
    target_link_libraries(${part} PUBLIC perrin_options PRIVATE perrin_strict)
    set_property(GLOBAL APPEND PROPERTY PERRIN_OBJECTS $<TARGET_OBJECTS:${part}>)
  endforeach()
endfunction()

# perrin_components(FOLDER NAME…)  the component types of a folder, one line for each: NAME.cpp
#   (with device code) defines `void register_NAME(Registry&)`, where "pair_" is left out of the
#   name. Sets FOLDER_components to the files and FOLDER_registration to one with register_FOLDER(),
#   which calls them in this order.
function(perrin_components folder)
  foreach(file ${ARGN})
    string(REGEX REPLACE "^pair_" "" name ${file})
    string(APPEND declarations "void register_${name}(Registry&);\n")
    string(APPEND calls "  register_${name}(registry);\n")
    list(APPEND files ${file}.cpp)
  endforeach()
  set(all ${CMAKE_CURRENT_BINARY_DIR}/register_${folder}.cpp)
  file(CONFIGURE OUTPUT ${all} @ONLY CONTENT "#include \"${folder}/register.h\"

namespace perrin {

${declarations}
void register_${folder}(Registry& registry) {
${calls}}

}  // namespace perrin
")
  set(${folder}_components ${files} PARENT_SCOPE)
  set(${folder}_registration ${all} PARENT_SCOPE)
endfunction()

# perrin_test(NAME [FAST] SOURCES … KERNELS … [LABELS …])  one GoogleTest program, one ctest entry.
#   Compiled with -O1, which takes two thirds of the time, unless what it computes itself is long
#   (FAST).
function(perrin_test name)
  cmake_parse_arguments(arg "FAST" "" "SOURCES;KERNELS;LABELS" ${ARGN})
  perrin_kernels(${arg_KERNELS})
  if(arg_KERNELS AND NOT arg_FAST)
    set_source_files_properties(${arg_KERNELS} PROPERTIES COMPILE_OPTIONS "")
  endif()
  perrin_joined(arg_SOURCES ${name} ${arg_SOURCES})
  add_executable(${name} ${arg_SOURCES} ${arg_KERNELS})
  if(NOT arg_FAST)
    target_compile_options(${name} PRIVATE
      "$<$<CONFIG:Release>:$<IF:$<COMPILE_LANGUAGE:CUDA>,-Xcompiler=-O1,-O1>>")
  elseif(PERRIN_QUICK_BUILD)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)
  endif()
  target_link_libraries(${name} PRIVATE perrin_fluids perrin_strict GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()
