# SPDX-License-Identifier: Apache-2.0
# A room is a folder, a static library and a namespace of one name (docs/architecture.md).

# berth_room(<name> [LINKS <target>...])
# Makes the library berth_<name> from every source in src/<name>. It links every room declared
# before it, so a room cannot even be linked against one below it.
function(berth_room name)
  cmake_parse_arguments(ROOM "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  # What belongs to a program, not to the room's library.
  list(FILTER sources EXCLUDE REGEX "/src/app/(main|allocator)\\.cc$")
  set(target berth_${name})
  get_property(above GLOBAL PROPERTY BERTH_ROOMS)
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} ${scope} ${above} ${ROOM_LINKS} Threads::Threads tl::expected
                        absl::flat_hash_map absl::flat_hash_set absl::btree absl::strings)
  set_property(GLOBAL APPEND PROPERTY BERTH_ROOMS ${target})
endfunction()

# The in-tree plugins: one library from plugins/<snake_name>/*.cc; they see only the SDK.
function(berth_plugins)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*.cc
       ${PROJECT_SOURCE_DIR}/plugins/*/*.cc)
  list(FILTER sources EXCLUDE REGEX "/plugins/examples/")
  if(NOT sources)
    add_library(berth_plugins INTERFACE)
    return()
  endif()
  add_library(berth_plugins STATIC ${sources})
  target_include_directories(berth_plugins PUBLIC ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR})
  target_link_libraries(berth_plugins PUBLIC berth_sdk)
endfunction()
