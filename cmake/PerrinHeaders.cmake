# What an installed Perrin shows to plug-ins: public headers in <includedir>/perrin, and what these
# need beside it in <includedir>/perrin-private, where only they reach (by relative paths). The
# build tag has a hash of all of them (PERRIN_HEADERS): a plug-in that was built with others is
# refused.
include(cmake/PublicHeaders.cmake)
set(staged ${PROJECT_BINARY_DIR}/headers)
file(REMOVE_RECURSE ${staged})

# All that the public ones include, they too.
set(waiting ${PERRIN_PUBLIC_HEADERS})
set(headers)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST headers OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${header})
    continue()  # generated, or seen
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} included REGEX "^#include \"")
  list(TRANSFORM included REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(APPEND waiting ${included})
  set(included_by_${header} ${included})
endwhile()
list(SORT headers)

# Versions of libraries whose classes are in our own.
set(hashed "${nlohmann_json_VERSION} ${fmt_VERSION}")
foreach(header ${headers})
  file(READ ${PROJECT_SOURCE_DIR}/${header} text)
  string(APPEND hashed "${text}")
  set(place private)
  if(header IN_LIST PERRIN_PUBLIC_HEADERS)
    set(place public)
  endif()
  string(REGEX REPLACE "[^/]+/" "../" up "${header}")
  string(REGEX REPLACE "[^/]+$" "" up "${up}")
  if(place STREQUAL public)
    string(APPEND up "../perrin-private/")
  endif()
  foreach(other ${included_by_${header}})
    if(other IN_LIST headers AND NOT other IN_LIST PERRIN_PUBLIC_HEADERS)
      string(REPLACE "#include \"${other}\"" "#include \"${up}${other}\"" text "${text}")
    endif()
  endforeach()
  file(WRITE ${staged}/${place}/${header} "${text}")
endforeach()
string(SHA256 PERRIN_HEADERS "${hashed}")
string(SUBSTRING ${PERRIN_HEADERS} 0 12 PERRIN_HEADERS)
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
configure_file(cmake/version.h.in generated/perrin/version.h @ONLY)

install(DIRECTORY ${staged}/public/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perrin)
install(DIRECTORY ${staged}/private/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perrin-private)
install(FILES ${PROJECT_BINARY_DIR}/generated/perrin/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perrin/perrin)
