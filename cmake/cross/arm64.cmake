# SPDX-License-Identifier: Apache-2.0
# Toolchain of the presets for arm64: this machine's clang-19 and mold, and the libraries that cmake/cross/sysroot.sh
# has unpacked. Tests run in qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triplet aarch64-linux-gnu)

if(NOT BERTH_SYSROOT)
  if(DEFINED ENV{BERTH_SYSROOT})
    set(folder $ENV{BERTH_SYSROOT})
  elseif(DEFINED ENV{BERTH_CACHE})
    set(folder $ENV{BERTH_CACHE}/arm64)
  else()
    set(folder $ENV{HOME}/.cache/berth/arm64)
  endif()
  set(BERTH_SYSROOT ${folder} CACHE PATH "Debian's packages for arm64, as ./dev packages arm64 unpacks them")
endif()
if(NOT EXISTS ${BERTH_SYSROOT}/made_by)
  message(FATAL_ERROR "${BERTH_SYSROOT} has no packages for arm64: ./dev packages arm64")
endif()
# What CMake tries to compile is for the same folder.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BERTH_SYSROOT)

set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET ${triplet})
set(CMAKE_CXX_COMPILER_TARGET ${triplet})
set(CMAKE_SYSROOT ${BERTH_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
foreach(tool AR RANLIB OBJCOPY OBJDUMP STRIP)
  string(TOLOWER ${tool} name)
  find_program(CMAKE_${tool} ${triplet}-${name} REQUIRED)
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(what LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
endforeach()
# Find modules ask pkg-config where a library is.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${BERTH_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${BERTH_SYSROOT}/usr/lib/${triplet}/pkgconfig:${BERTH_SYSROOT}/usr/share/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${BERTH_SYSROOT})
