// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plugins that Berth loads at run time, in C++17: classes over the C interface of
// berth/loadable/abi.h, under the names that Kubernetes gives the extension points.
//
//   class NoFridays : public berth::FilterPlugin {
//    public:
//     NoFridays(const berth::ConfigValue& args, berth::Handle handle);
//     berth::Status Filter(const berth::CycleState& state, const berth::PodView& pod,
//                          const berth::NodeView& node) const override;
//   };
//   BERTH_PLUGINS("1.0", berth::Define<NoFridays>("NoFridays"))
//
// Everything here is compiled into the plugin, so that compiler and standard library need not be
// those of Berth. Exceptions are welcome: one that leaves an extension point becomes an Error
// status, one that leaves the constructor keeps the scheduler from starting, with its text.
//
// Views (PodView, NodeView, Snapshot, ...) and every std::string_view got from one are good until
// the call ends in which the plugin got them. Lifetimes and threads are those that
// berth/loadable/abi.h names at the function of the same name.
#include "berth/loadable/cpp/args.hpp"
#include "berth/loadable/cpp/async.hpp"
#include "berth/loadable/cpp/define.hpp"
#include "berth/loadable/cpp/handle.hpp"
#include "berth/loadable/cpp/points.hpp"
#include "berth/loadable/cpp/status.hpp"
#include "berth/loadable/cpp/views.hpp"
