# libperrin, the program, and what is installed: <prefix>/bin/perrin, the library, its headers, the
# CMake package `perrin`, and the shipped plug-ins in <libdir>/perrin/plugins. The build tree has
# the same layout under the build folder, so that both find their plug-ins the same way.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(PERRIN_API_MAJOR 0)
set(PERRIN_API_MINOR 5)
include(PerrinHeaders)  # generated/perrin/version.h
# The commit, for `perrin --version`: in a file of its own, so that little is compiled again.
set(PERRIN_COMMIT "no commit known")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --exclude=*
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    set(PERRIN_COMMIT "commit ${commit}")
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                 ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
  endif()
endif()
file(CONFIGURE OUTPUT generated/perrin/commit.h @ONLY CONTENT "// Made by CMake.
#pragma once

#define PERRIN_COMMIT \"@PERRIN_COMMIT@\"
")

set(PERRIN_BUILD_LIBDIR ${PROJECT_BINARY_DIR}/lib)
set(PERRIN_BUILD_PLUGINDIR ${PERRIN_BUILD_LIBDIR}/perrin/plugins)

get_property(objects GLOBAL PROPERTY PERRIN_OBJECTS)
add_library(perrin SHARED ${objects})
set_target_properties(perrin PROPERTIES
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY ${PERRIN_BUILD_LIBDIR})
set(hdf5 ${HDF5_C_LIBRARIES})
if(PERRIN_BUNDLE)
  find_package(ZLIB REQUIRED)
  set(hdf5 ${PERRIN_BUNDLE} ZLIB::ZLIB)
  # What libfmt compiles: fmt's definitions, and the templates that its headers declare as
  # instantiated elsewhere.
  file(CONFIGURE OUTPUT generated/fmt.cpp @ONLY CONTENT "// Made by CMake.
#define FMT_EXPORT
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<format_context>,
                                 locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
")
  target_sources(perrin PRIVATE ${PROJECT_BINARY_DIR}/generated/fmt.cpp)
endif()
target_link_libraries(perrin PUBLIC perrin_options PRIVATE ${hdf5} ${CMAKE_DL_LIBS})
if(PERRIN_MPI_FOUND)
  target_link_libraries(perrin PRIVATE ${MPI_C_LIBRARIES})
endif()
add_library(perrin::perrin ALIAS perrin)

add_executable(perrin_program app/main.cpp)
set_target_properties(perrin_program PROPERTIES
  OUTPUT_NAME perrin RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(perrin_program PRIVATE perrin perrin_strict)

include(${PROJECT_SOURCE_DIR}/cmake/PerrinPlugin.cmake)
include(${PROJECT_SOURCE_DIR}/cmake/PerrinToolchain.cmake)

install(TARGETS perrin perrin_options EXPORT perrin-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS perrin_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(PERRIN_PACKAGEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/perrin)
install(EXPORT perrin-targets NAMESPACE perrin:: DESTINATION ${PERRIN_PACKAGEDIR})
configure_package_config_file(cmake/perrin-config.cmake.in perrin-config.cmake
                              INSTALL_DESTINATION ${PERRIN_PACKAGEDIR}
                              PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(perrin-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perrin-config.cmake
              ${PROJECT_BINARY_DIR}/perrin-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PerrinPlugin.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PerrinNative.cmake
        DESTINATION ${PERRIN_PACKAGEDIR})

if(PERRIN_BUNDLE)  # what perrin-config.cmake and toolchain.json look for
  foreach(header fmt/format.h nlohmann/json.hpp)
    get_filename_component(library ${header} DIRECTORY)
    find_path(${library}_headers ${header} REQUIRED)
    install(DIRECTORY ${${library}_headers}/${library}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perrin-libraries)
  endforeach()
endif()

# What `perrin examples` lists, and what `perrin new-plugin` copies.
file(MAKE_DIRECTORY ${PERRIN_BUILD_LIBDIR}/perrin)
foreach(folder examples templates)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PERRIN_BUILD_LIBDIR}/perrin/${folder} SYMBOLIC)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_LIBDIR}/perrin)
endforeach()
