// SPDX-License-Identifier: Apache-2.0
// What nearly every unit test includes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled/rooms.h"
