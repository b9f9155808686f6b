# perrin_add_plugin(NAME file.cpp …): a plug-in from sources that are compiled as CUDA where Perrin
# has its GPU back end, otherwise as C++. In Perrin's own tree the result is a shipped plug-in.
function(perrin_add_plugin name)
  if(PERRIN_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE perrin::perrin)
  set_target_properties(${name} PROPERTIES PREFIX "" POSITION_INDEPENDENT_CODE ON
                        CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
  if(PERRIN_BUILD_PLUGINDIR)
    target_link_libraries(${name} PRIVATE perrin_strict)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PERRIN_BUILD_PLUGINDIR}
                          INSTALL_RPATH "$ORIGIN/../..")
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/perrin/plugins)
  endif()
endfunction()
