# SPDX-License-Identifier: Apache-2.0
# Installs component `sdk`, what plugins are built with (docs/writing_a_plugin.md).
include(CMakePackageConfigHelpers)

install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/../include/berth/loadable DESTINATION include/berth COMPONENT sdk
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/BerthConfigVersion.cmake
                                 COMPATIBILITY AnyNewerVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/BerthConfig.cmake ${CMAKE_BINARY_DIR}/BerthConfigVersion.cmake
        DESTINATION lib/cmake/Berth COMPONENT sdk)
