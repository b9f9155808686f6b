# perrin_add_plugin(NAME file.cpp … [HOST file.cpp …]): a plug-in from sources that are compiled as
# CUDA where Perrin has its GPU back end, otherwise as C++. HOST are those without device code: C++
# in any case, for which nvcc would take three times as long. In Perrin's own tree the result is a
# shipped plug-in, and NAME_objects is what tests and benchmarks link: everything but the first file
# (of HOST, if there are any), which is where several files leave the entry point. Elsewhere a
# test.py beside CMakeLists.txt becomes a test (PERRIN_PYTHON: a Python with numpy and h5py), and
# loops are compiled for this machine alone, unless PERRIN_PLUGIN_SETS is "all": that takes half as
# long again. On another machine such a plug-in is refused.
function(perrin_add_plugin name)
  cmake_parse_arguments(arg "" "" HOST ${ARGN})
  set(kernels ${arg_UNPARSED_ARGUMENTS})
  set(entry)
  if(PERRIN_BUILD_PLUGINDIR)
    set(all ${arg_HOST} ${kernels})
    list(LENGTH all files)
    if(files GREATER 1)
      list(GET all 0 entry)
      list(REMOVE_ITEM kernels ${entry})
      list(REMOVE_ITEM arg_HOST ${entry})
    endif()
    perrin_joined_kernels(kernels ${name} ${kernels})
    perrin_joined(arg_HOST ${name}_host ${arg_HOST})
    perrin_kernels(${kernels})
  elseif(PERRIN_CUDA)
    set_source_files_properties(${kernels} PROPERTIES LANGUAGE CUDA)
  endif()
  set(parts ${name})
  set(sources ${kernels} ${arg_HOST})
  if(PERRIN_BUILD_PLUGINDIR)
    add_library(${name}_objects OBJECT ${sources})
    list(APPEND parts ${name}_objects)
    set(sources ${entry} $<TARGET_OBJECTS:${name}_objects>)
  endif()
  add_library(${name} MODULE ${sources})
  foreach(part ${parts})
    target_link_libraries(${part} PRIVATE perrin::perrin)
    set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON
                          CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
    if(PERRIN_BUILD_PLUGINDIR)
      target_link_libraries(${part} PRIVATE perrin_strict)
      target_include_directories(${part} PRIVATE ${HDF5_INCLUDE_DIRS})
    endif()
    if(NOT PERRIN_BUILD_PLUGINDIR AND PERRIN_INSTRUCTION_SETS STREQUAL "all" AND
       NOT PERRIN_PLUGIN_SETS STREQUAL "all")
      perrin_native_set(native)
      target_compile_definitions(${part} PRIVATE PERRIN_SETS=${native})
    endif()
    if(NOT PERRIN_BUILD_PLUGINDIR)
      # Quicker to compile, the same code: GCC takes 150 MB more, which saves 7 % of its time; nvcc
      # compiles for all architectures at once.
      if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        set(heap --param=ggc-min-heapsize=500000)
        target_compile_options(${part} PRIVATE
          "$<IF:$<COMPILE_LANGUAGE:CUDA>,-Xcompiler=${heap},${heap}>")
      endif()
      target_compile_options(${part} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--threads=0>")
    endif()
    if(PERRIN_CUDA)
      # A forgotten PERRIN_HD: device code that calls what is for the CPU alone. The call stands in
      # Perrin's headers; nvcc is silent about it where they are those of the system.
      if(NOT PERRIN_BUILD_PLUGINDIR)
        set_target_properties(${part} PROPERTIES NO_SYSTEM_FROM_IMPORTED ON)
      endif()
      target_compile_options(${part} PRIVATE
        "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=cross-execution-space-call>")
    endif()
  endforeach()
  set_target_properties(${name} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX)
  if(NOT PERRIN_BUILD_PLUGINDIR AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test.py)
    set(PERRIN_PYTHON python3 CACHE STRING "with numpy and h5py")
    add_test(NAME ${name} COMMAND ${PERRIN_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/test.py)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "PERRIN=${PERRIN_PROGRAM};PERRIN_PLUGIN_PATH=$<TARGET_FILE_DIR:${name}>")
  endif()
  if(PERRIN_BUILD_PLUGINDIR)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PERRIN_BUILD_PLUGINDIR}
                          INSTALL_RPATH "$ORIGIN/../..")
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/perrin/plugins)
  endif()
endfunction()
