# perrin_folder(NAME SOURCES a.cpp … KERNELS b.cpp …)
#   The object library of one folder. KERNELS are files with device code: compiled as CUDA where
#   there is a CUDA toolkit, otherwise as C++.
function(perrin_kernels)
  if(PERRIN_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

function(perrin_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;KERNELS" ${ARGN})
  perrin_kernels(${arg_KERNELS})
  add_library(perrin_${name} OBJECT ${arg_SOURCES} ${arg_KERNELS})
  target_link_libraries(perrin_${name} PUBLIC perrin_options PRIVATE perrin_strict)
  set_property(GLOBAL APPEND PROPERTY PERRIN_OBJECTS $<TARGET_OBJECTS:perrin_${name}>)
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

# perrin_test(NAME SOURCES … KERNELS … [LABELS …])  one GoogleTest program, one ctest entry.
function(perrin_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;KERNELS;LABELS" ${ARGN})
  perrin_kernels(${arg_KERNELS})
  add_executable(${name} ${arg_SOURCES} ${arg_KERNELS})
  target_link_libraries(${name} PRIVATE perrin_fluids perrin_strict GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()
