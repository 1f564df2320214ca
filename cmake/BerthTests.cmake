# SPDX-License-Identifier: Apache-2.0

# All unit tests.
add_custom_target(unit_tests)

# berth_unit_tests(<room> <target>...)
# One test binary <room>_test from tests/unit/<room>/*_test.cc, linked with the given targets. It
# runs in the project's root, so test data is found by its path in the tree.
function(berth_unit_tests room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${room}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${room}_test ${sources})
  target_link_libraries(${room}_test PRIVATE berth_test_support ${ARGN} GTest::gmock_main)
  add_dependencies(unit_tests ${room}_test)
  berth_precompiled(${room}_test berth_precompiled_tests)
  add_test(NAME ${room} COMMAND ${room}_test --gtest_brief=1
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(timeout 300)
  if(BERTH_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(timeout 1800)
  endif()
  set_tests_properties(${room} PROPERTIES TIMEOUT ${timeout} LABELS unit)
endfunction()
