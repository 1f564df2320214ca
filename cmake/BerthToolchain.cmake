# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers and the third-party packages every room may ask for.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE)
  # Without these ccache gives up where a precompiled header is used. No source asks for the time of
  # its compilation.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(BERTH_REPRODUCIBLE)
    # ccache hands relative paths to the compiler where it has a base; without ccache they are absolute.
    list(APPEND launcher --unset=CCACHE_BASEDIR --unset=CCACHE_NOHASHDIR)
  endif()
  list(APPEND launcher ${BERTH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(BERTH_MOLD mold)
if(BERTH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(BERTH_REPRODUCIBLE)
  # In debug information and assertions; the build id is a sum over them, too.
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
  if(CMAKE_SYSROOT)
    add_compile_options(-ffile-prefix-map=${CMAKE_SYSROOT}/=/)
  endif()
endif()

# The same source gives the same decisions on every machine: no fused multiply-add.
add_compile_options(-ffp-contract=off)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # As on amd64.
  add_compile_options(-fsigned-char)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Every server since 2009 counts bits in one instruction; the baseline calls a function for it.
  add_compile_options($<$<CONFIG:Release>:-march=x86-64-v2>)
endif()
# What is deployed checks the bounds that the compiler knows and its stack frames; no function's
# address can be written over once the program runs, and it lies where each start puts it. The
# compiler's part costs sanitizers their sight, so it is for releases.
add_compile_options($<$<CONFIG:Release>:-fstack-protector-strong>)
add_compile_options($<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=3>)
include(CheckPIESupported)
check_pie_supported()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's own stable_sort() calls what it deprecates.
  add_compile_options(-Wno-deprecated-declarations)
endif()

berth_add_profile_options()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # CMake would name the header besides, by an absolute path that ccache knows in this checkout alone.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

if(CMAKE_UNITY_BUILD)
  # Joined sources are included by absolute paths; so that ccache knows them in another checkout, and
  # checks name them alike, assertions get the path in the tree.
  add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes what is private to a joined source for a header's.
    add_compile_options(-Wno-subobject-linkage)
  endif()
endif()

if(BERTH_SANITIZE)
  # Not vptr: cpprestsdk's library and headers are not of one mind about its streams' types.
  add_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BERTH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ loses track of what is set, and warns, among the checks that a sanitizer puts in.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
# Each source would choose by whether it is optimised, and the parser has one member more where it
# is not: with sources of both kinds in a program, that member is allocated and never freed.
set_property(TARGET simdjson::simdjson APPEND PROPERTY
  INTERFACE_COMPILE_DEFINITIONS SIMDJSON_DEVELOPMENT_CHECKS=0)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CURL 7.87 REQUIRED)  # CURLOPT_QUICK_EXIT
find_package(OpenSSL REQUIRED)
find_package(cpprestsdk REQUIRED)

# What programs that live long or are measured allocate with (docs/decisions/0008). Sanitizers bring
# an allocator of their own.
add_library(berth_allocator INTERFACE)
if(NOT BERTH_SANITIZE AND NOT BERTH_BUILD_FUZZERS)
  find_path(JEMALLOC_INCLUDE_DIR jemalloc/jemalloc.h REQUIRED)
  find_library(JEMALLOC_LIBRARY jemalloc REQUIRED)
  target_include_directories(berth_allocator SYSTEM INTERFACE ${JEMALLOC_INCLUDE_DIR})
  target_link_libraries(berth_allocator INTERFACE ${JEMALLOC_LIBRARY})
  target_compile_definitions(berth_allocator INTERFACE BERTH_JEMALLOC)
  target_sources(berth_allocator INTERFACE ${PROJECT_SOURCE_DIR}/src/app/allocator.cc)
endif()
