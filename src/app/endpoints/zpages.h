// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "berth/time.h"
#include "src/serving/router.h"

// /statusz and /flagz, as every component of Kubernetes has them: text for people, and for programs
// the kinds Statusz and Flagz of config.k8s.io, v1beta1 or the deprecated v1alpha1, as JSON, YAML,
// or CBOR where its gate is on. Which one is the Accept header's to say; nothing that it takes is a
// 406.
//
// Thread safety: what is installed may be called from any thread.
namespace berth::app {

struct ZPages {
  const Clock& clock;  // outlives the router
  Time started;        // of the process, by the wall clock
  // By name, without "--".
  std::map<std::string, std::string> flags;
  bool statusz = true;
  bool flagz = true;
  bool cbor = false;
  int emulated_minor = 37;  // --emulated-version
};

// Adds those of the two that are on. /statusz lists the other paths, so this comes last.
void InstallZPages(serving::Router& router, ZPages pages);

}  // namespace berth::app
