# SPDX-License-Identifier: Apache-2.0
# What a project that builds plugins for Berth gets from find_package(Berth):
#
#   Berth::plugin                    the headers berth/loadable/abi.h and berth/loadable/plugin.hpp
#   berth_add_plugin(<name> <source>...)
#                                    a library <name>.so that `berth run --plugin-dir` loads
#   BERTH_PLUGIN_INTERFACE           the version of the interface that these headers have, such as 0.4
include_guard()

get_filename_component(BERTH_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(Berth::plugin INTERFACE IMPORTED)
set_target_properties(Berth::plugin PROPERTIES
                      INTERFACE_INCLUDE_DIRECTORIES "${BERTH_PREFIX}/include")

set(BERTH_PLUGIN_INTERFACE "")
foreach(part MAJOR MINOR)
  file(STRINGS "${BERTH_PREFIX}/include/berth/loadable/abi/types.h" line
       REGEX "^#define BERTH_ABI_${part} [0-9]+$")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND BERTH_PLUGIN_INTERFACE ${number})
endforeach()
list(JOIN BERTH_PLUGIN_INTERFACE "." BERTH_PLUGIN_INTERFACE)

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
