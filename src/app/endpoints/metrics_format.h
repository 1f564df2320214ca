// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/metrics/exposition.h"
#include "src/serving/http.h"

namespace berth::app {

// How a page of metrics is to be written for a client, and what Content-Type says so.
struct MetricsFormat {
  metrics::Format format = metrics::Format::kText;
  std::string content_type;
};

// What kube-scheduler would choose by the Accept header: delimited protobuf or text, whichever the
// client prefers, and text where it asks for neither. Names of metrics need no escaping, so that
// each of the schemes that a client may ask for is met. Protobuf in its two spellings for people
// (encoding=text, compact-text) is not spoken.
//
// Thread safety: any thread.
MetricsFormat MetricsFormatFor(const serving::Request& request);

}  // namespace berth::app
