# SPDX-License-Identifier: Apache-2.0
# Components: `berth`, the program; `sdk`, what plugins are built with (docs/writing_a_plugin.md).
# cmake/package makes packages of them.
include(GNUInstallDirs)

install(TARGETS berth RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT berth)
# The program looks for it there, wherever libraries of the system are.
install(TARGETS berth_legacy LIBRARY DESTINATION lib/berth/plugins COMPONENT berth)
include(BerthSdk)
