// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "src/client/transport.h"

namespace berth::client {

// The connections of one kind of traffic over time. New attempts use the newest transport; an
// older one finishes what it has under way and is dropped.
//
// Thread safety: the I/O thread.
class Channel {
 public:
  Channel(base::EventLoop& loop, TransportConfig config)
      : loop_(loop), config_(std::move(config)) {}

  // The transport for a new attempt with this identity.
  Transport& For(const IdentityPtr& identity);
  // The connection of `transport` is suspect: later attempts get another one.
  void Distrust(const Transport* transport);
  // Later attempts get another connection, though this one is well.
  void Renew() { Retire(); }
  // What older connections carry ends, as if they had been cut.
  void EndOld();
  // Drops old transports that have nothing under way. Not from inside a transport's callback.
  void Sweep();
  bool needs_sweep() const;
  // Drops all, with what is under way. Not from inside a transport's callback.
  void Clear();

 private:
  void Retire();

  base::EventLoop& loop_;
  const TransportConfig config_;
  std::unique_ptr<Transport> current_;
  std::vector<std::unique_ptr<Transport>> old_;
};

}  // namespace berth::client
