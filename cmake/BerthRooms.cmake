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
                        absl::flat_hash_map absl::flat_hash_set absl::btree absl::inlined_vector
                        absl::strings)
  set(precompiled berth_precompiled)
  if(BERTH_BUILD_FUZZERS AND target IN_LIST BERTH_FUZZED)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    string(APPEND precompiled _fuzzed)
  endif()
  if(target IN_LIST BERTH_UNOPTIMISED)
    target_compile_options(${target} PRIVATE -O0)
    string(APPEND precompiled _unoptimised)
  endif()
  berth_precompiled(${target} ${precompiled})
endfunction()

# berth_precompiled(<target> <from>)
# Gives a target the headers that another target precompiles. Sources include what they use all the
# same: the release preset builds without.
function(berth_precompiled target from)
  target_precompile_headers(${target} REUSE_FROM ${from})
endfunction()

# With fuzzers, the libraries that decode report what they covered; libFuzzer's main comes with the
# fuzzers. In the others a report of each comparison would only slow the unit tests down.
set(BERTH_FUZZED sdk cel base api documents config client serving extender recording app plugins)
list(TRANSFORM BERTH_FUZZED PREPEND berth_)

# Rooms outside a scheduling cycle, whose speed no test waits for: the optimiser takes as long for
# them as all else together.
set(BERTH_UNOPTIMISED)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(BERTH_UNOPTIMISED
      api app binding client config documents election explain extender informers metrics node_metrics
      packing plan profiling questions recording serving shadow simulator ui)
  list(TRANSFORM BERTH_UNOPTIMISED PREPEND berth_)
endif()

# berth_precompile(<target> <header>): makes a target whose precompiled header others reuse.
function(berth_precompile target header)
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled/empty.cc)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled/${header})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # What clang precompiles names the checkout's folder. ccache takes this sum for it (CCACHE_PCH_EXTSUM), so it knows
    # the objects in another checkout.
    set(sum ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum)
    set(machine)
    if(CMAKE_CROSSCOMPILING)
      set(machine " '--target=${CMAKE_CXX_COMPILER_TARGET}' '--sysroot=${CMAKE_SYSROOT}'")
    endif()
    add_custom_command(
      OUTPUT ${sum}
      COMMAND sh -c "'${CMAKE_CXX_COMPILER}'${machine} -std=c++20 -x c++ -w -E -P -MD -MF '${sum}.d' -MT '${sum}' \
                     -I '${PROJECT_SOURCE_DIR}/include' -I '${PROJECT_SOURCE_DIR}' \
                     '-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=' \
                     '${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}' | sha256sum >'${sum}'"
      DEPENDS ${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}
      DEPFILE ${sum}.d
      VERBATIM)
    add_custom_target(${target}_sum DEPENDS ${sum})
    add_dependencies(${target} ${target}_sum)
  endif()
endfunction()

# What nearly every source asks for, parsed once for each set of options.
berth_precompile(berth_precompiled rooms.h)
if(BERTH_UNOPTIMISED)
  berth_precompile(berth_precompiled_unoptimised rooms.h)
  target_compile_options(berth_precompiled_unoptimised PRIVATE -O0)
endif()
if(BERTH_BUILD_FUZZERS)
  berth_precompile(berth_precompiled_fuzzed rooms.h)
  target_compile_options(berth_precompiled_fuzzed PRIVATE -fsanitize=fuzzer-no-link)
  berth_precompile(berth_precompiled_fuzzed_unoptimised rooms.h)
  target_compile_options(berth_precompiled_fuzzed_unoptimised PRIVATE -fsanitize=fuzzer-no-link -O0)
endif()

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

# berth_embed(<target> <folder> [<file>...])
# Gives a target the files of a folder, and others, as bytes in a source. That source is a library of its own: what
# CMake makes for a target waits for all that the target links, and the target's sources would wait with it.
function(berth_embed target folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE others)
  list(APPEND files ${others})
  set(source ${CMAKE_BINARY_DIR}/generated/${target}_files.cc)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DOUTPUT=${source}
            "-DOTHERS=${others}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  add_library(${target}_files STATIC ${source})
  target_include_directories(${target}_files PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${target}_files)
endfunction()

# The in-tree plugins: one library from plugins/<snake_name>/; they see what layers.txt says.
function(berth_plugins)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*.cc)
  # Those of plugins/legacy make a library of their own; what their args may be the program knows.
  list(FILTER sources EXCLUDE REGEX "/plugins/(examples/|legacy/[^/]*$)")
  berth_layers_of(plugins rooms)
  berth_library(berth_plugins ${sources} LINKS ${rooms})
  berth_join_by_folder(berth_plugins ${sources})
endfunction()

# berth_shipped_library(<name>)
# The library of the loadable plugins in plugins/<name>, in lib/berth/plugins beside the folder of
# programs: the same place in the build folder and where it is installed. It sees the headers of
# loadable plugins, as any other does (layers.txt), and links nothing of Berth.
function(berth_shipped_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/${name}/*.cc)
  add_library(berth_${name} MODULE ${sources})
  target_include_directories(berth_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  set_target_properties(berth_${name} PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME ${name}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/berth/plugins
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT BERTH_SANITIZE)
    # What it lacks is known when it is linked, not when a profile names it. Sanitizers are the program's.
    target_link_options(berth_${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
