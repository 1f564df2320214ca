// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::app {

// `berth completion bash|zsh|fish|kubectl`: prints a script for that shell, or the program that
// kubectl asks about its plugin. Scripts know the commands; the flags of one they ask of its
// --help, so that they are those of the binary that is installed. Returns the exit code.
int ShowCompletion(const std::vector<std::string>& arguments, const std::string& program);

}  // namespace berth::app
