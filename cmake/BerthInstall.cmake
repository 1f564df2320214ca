# SPDX-License-Identifier: Apache-2.0
# Components: `berth`, the program; `sdk`, what plugins are built with (docs/writing_a_plugin.md).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS berth RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT berth)

install(DIRECTORY include/berth/loadable DESTINATION include/berth COMPONENT sdk
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/BerthConfigVersion.cmake
                                 COMPATIBILITY AnyNewerVersion ARCH_INDEPENDENT)
install(FILES cmake/BerthConfig.cmake ${CMAKE_BINARY_DIR}/BerthConfigVersion.cmake
        DESTINATION lib/cmake/Berth COMPONENT sdk)
