# SPDX-License-Identifier: Apache-2.0
# What a project that builds plugins for Berth gets from find_package(Berth):
#
#   Berth::plugin                    the headers berth/loadable/abi.h and berth/loadable/plugin.hpp
#   berth_add_plugin(<name> <source>...)
#                                    a library <name>.so that `berth run --plugin-dir` loads
include_guard()

get_filename_component(BERTH_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(Berth::plugin INTERFACE IMPORTED)
set_target_properties(Berth::plugin PROPERTIES
                      INTERFACE_INCLUDE_DIRECTORIES "${BERTH_PREFIX}/include")

function(berth_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE Berth::plugin)
  # Nothing but the entry function is for others: libraries must not find each other's symbols.
  set_target_properties(${name} PROPERTIES
                        PREFIX "" SUFFIX ".so"
                        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${name} PRIVATE c_std_11 cxx_std_17)
endfunction()
