// SPDX-License-Identifier: Apache-2.0
#pragma once

// The binary interface of plugins that Berth loads at run time: plain C11, also C++17 and later.
//
// A library exports one function, berth_plugin_entry(). It is given what Berth offers (struct
// berth_host, a table of functions) and returns what the library has (struct berth_library, tables
// of functions again). In C++ use berth/loadable/plugin.hpp, which wraps all this in classes.
//
// Versions. The version is <major>.<minor>. While the major version is 0 nothing is promised: a
// library must have been built against the very version of the program. From 1.0, the first
// release, on the interface only grows: every struct whose first member is `size` may get members
// at its end with a new minor version, and enumerations may get values; nothing else ever changes.
// The side that makes such a struct writes the size it was compiled with; the side that reads it
// looks at BERTH_HAS() before it touches a member that the first minor version did not have, and
// ignores members that it does not know. Berth then loads libraries of its own major version whose
// minor version is not above its own. Structs without `size` (strings, views) stay as they are for
// as long as the major version lasts.
//
// Exceptions, longjmp() and the like must not leave a plugin's function. Memory is freed by the
// side that took it: there is no function that one side allocates with and the other frees with.
//
// Lifetimes. What a function is given or gets from the host (views, strings, opaque pointers) is
// good until that function returns, unless its comment says more. The host copies every string that
// it is given before it returns.
//
// Threads. "Scheduling thread": the one thread that decides; a call there holds up every pod, so it
// must neither wait nor do I/O. "Evaluation": the scheduling thread or workers, several at once.
// "Binding thread": another thread, which must not be held up either. "Any": any thread of the
// process, also the plugin's own.
#include "berth/loadable/abi/host.h"
#include "berth/loadable/abi/library.h"
#include "berth/loadable/abi/types.h"
