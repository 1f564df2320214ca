// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::app {

// The whole program: finds the command in the arguments and runs it. `berth run` is also what
// kube-scheduler is called by: under that name, or with a first argument that begins with '-'.
// SIGPIPE is ignored from here on. Returns the exit code.
int Main(int argc, char** argv);

}  // namespace berth::app
