# SPDX-License-Identifier: Apache-2.0
# How often each branch is taken while Berth works, which a release is optimised by: docs/decisions/0019.
# cmake/profile/berth.profdata holds the counts; `./dev profile` writes it, `llvm-profdata show` reads it.
set(BERTH_PROFILE "off" CACHE STRING
    "use: optimise by the counts; generate: count, and write the counts at exit; off: neither")
set_property(CACHE BERTH_PROFILE PROPERTY STRINGS use generate off)
# Counts are read by the Clang that wrote them.
set(BERTH_PROFILE_CLANG 19)

# Before project(): picks the compiler, unless the caller has. Without Clang a release is built by what
# is there, and runs slower.
macro(berth_pick_compiler)
  if(NOT BERTH_PROFILE STREQUAL "off" AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
    find_program(BERTH_PROFILE_CC clang-${BERTH_PROFILE_CLANG})
    find_program(BERTH_PROFILE_CXX clang++-${BERTH_PROFILE_CLANG})
    if(BERTH_PROFILE_CC AND BERTH_PROFILE_CXX)
      set(CMAKE_C_COMPILER ${BERTH_PROFILE_CC})
      set(CMAKE_CXX_COMPILER ${BERTH_PROFILE_CXX})
    else()
      message(NOTICE "No clang-${BERTH_PROFILE_CLANG}: the release is not optimised by its profile")
    endif()
  endif()
endmacro()

# After project(): the options of every target.
function(berth_add_profile_options)
  if(BERTH_PROFILE STREQUAL "off" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR
     NOT CMAKE_CXX_COMPILER_VERSION MATCHES "^${BERTH_PROFILE_CLANG}\\.")
    return()
  endif()
  # Functions of one source only are named by its name, wherever the checkout lies.
  add_compile_options("SHELL:-mllvm -static-func-full-module-prefix=false")
  if(BERTH_PROFILE STREQUAL "generate")
    add_compile_options(-fprofile-generate -fprofile-update=atomic)
    add_link_options(-fprofile-generate)
    return()
  endif()
  set(profile ${PROJECT_SOURCE_DIR}/cmake/profile/berth.profdata)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile})
  file(SHA256 ${profile} sum)
  string(SUBSTRING ${sum} 0 12 sum)
  # Other counts are another file, so that everything is compiled again; and it is named as seen from
  # the build folder, where the compiler runs, so that ccache knows it in another checkout.
  set(counts berth-${sum}.profdata)
  file(COPY_FILE ${profile} ${PROJECT_BINARY_DIR}/${counts} ONLY_IF_DIFFERENT)
  # A function that has changed since the counts is compiled without them.
  add_compile_options(-fprofile-use=${counts} -Wno-backend-plugin)
endfunction()
