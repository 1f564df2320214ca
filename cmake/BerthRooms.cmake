# SPDX-License-Identifier: Apache-2.0
# A room is a folder, a static library and a namespace of one name (docs/architecture.md). Which
# rooms there are, in which order, and which a room links is what cmake/checks/layers.txt says.

set(BERTH_LAYERS ${PROJECT_SOURCE_DIR}/cmake/checks/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${BERTH_LAYERS})

# Sets <variable> to the libraries of the rooms that <room> may include. The SDK's headers are part
# of the library berth_sdk.
function(berth_layers_of room variable)
  file(STRINGS ${BERTH_LAYERS} line REGEX "^${room}:")
  if(NOT line)
    message(FATAL_ERROR "cmake/checks/layers.txt has no line for the room ${room}")
  endif()
  string(REGEX REPLACE "^${room}:([^|]*).*" "\\1" rooms "${line}")
  string(STRIP "${rooms}" rooms)
  string(REGEX REPLACE " +" ";" rooms "${rooms}")
  list(TRANSFORM rooms REPLACE "^include$" sdk)
  list(REMOVE_DUPLICATES rooms)
  list(REMOVE_ITEM rooms "" ${room})
  list(TRANSFORM rooms PREPEND berth_)
  set(${variable} ${rooms} PARENT_SCOPE)
endfunction()

# berth_library(<target> <source>... [LINKS <target>...])
# What rooms and plugins have in common.
function(berth_library target)
  cmake_parse_arguments(LIBRARY "" "" "LINKS" ${ARGN})
  add_library(${target} STATIC ${LIBRARY_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${LIBRARY_LINKS} Threads::Threads tl::expected
                        absl::flat_hash_map absl::flat_hash_set absl::btree absl::strings)
  if(BERTH_BUILD_FUZZERS AND target IN_LIST BERTH_FUZZED)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  berth_precompiled(${target} berth_precompiled)
endfunction()

# berth_precompiled(<target> <from>)
# Gives a target the headers that another target precompiles. Sources include what they use all the
# same: the release preset builds without.
function(berth_precompiled target from)
  target_precompile_headers(${target} REUSE_FROM ${from})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # g++ 12 forgets that a precompiled function is the standard library's, and warns of its own.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict)
    if(BERTH_SANITIZE STREQUAL "thread")
      # And of what the sanitizer adds. The other presets warn of what is ours.
      target_compile_options(${target} PRIVATE -w)
    endif()
  endif()
endfunction()

# With fuzzers, the libraries that decode report what they covered; libFuzzer's main comes with the
# fuzzers. In the others a report of each comparison would only slow the unit tests down.
set(BERTH_FUZZED sdk cel base api documents config client serving extender recording app plugins)
list(TRANSFORM BERTH_FUZZED PREPEND berth_)

# The standard headers that nearly every source asks for, parsed once.
add_library(berth_precompiled OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled/empty.cc)
set_target_properties(berth_precompiled PROPERTIES UNITY_BUILD OFF)
target_precompile_headers(berth_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled/rooms.h)

# berth_room(<name> [LINKS <target>...])
# Makes the library berth_<name> from every source in src/<name>. It links the rooms that its line
# in layers.txt names, and third-party libraries.
function(berth_room name)
  cmake_parse_arguments(ROOM "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  # What belongs to a program, not to the room's library.
  list(FILTER sources EXCLUDE REGEX "/src/app/(main|allocator)\\.cc$")
  berth_layers_of(${name} rooms)
  berth_library(berth_${name} ${sources} LINKS ${rooms} ${ROOM_LINKS})
endfunction()

# berth_join_by_folder(<target> <source>...)
# A folder is one unit where sources are joined: what a plugin keeps private has the same names as in
# other plugins.
function(berth_join_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REPLACE "/" "_" folder ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()

# berth_embed(<target> <folder>)
# Adds to a target the files of a folder, as bytes in a source.
function(berth_embed target folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*)
  set(source ${CMAKE_BINARY_DIR}/generated/${target}_files.cc)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DOUTPUT=${source}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()

# The in-tree plugins: one library from plugins/<snake_name>/; they see what layers.txt says.
function(berth_plugins)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*.cc)
  list(FILTER sources EXCLUDE REGEX "/plugins/examples/")
  berth_layers_of(plugins rooms)
  berth_library(berth_plugins ${sources} LINKS ${rooms})
  # Several plugins in one folder: they stay alone.
  list(FILTER sources EXCLUDE REGEX "/plugins/legacy/")
  berth_join_by_folder(berth_plugins ${sources})
endfunction()
