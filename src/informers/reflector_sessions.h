// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/api/list_reader.h"
#include "src/api/watch.h"
#include "src/informers/reflector.h"

namespace berth::informers {

// One response read as it arrives, on behalf of a reflector; it falls silent once the reflector is
// gone or has turned to another response.
//
// Thread safety: the executor's thread.
class Reflector::Session : public client::StreamHandler {
 public:
  explicit Session(const std::shared_ptr<Reflector>& reflector)
      : reflector_(reflector), number_(++reflector->session_) {}

  void OnStart(const client::Response& head) final;
  bool OnData(std::string_view data) final;
  void OnEnd(std::optional<client::ApiError> error) final;

 protected:
  virtual void Begin(Reflector& reflector, api::Encoding encoding) = 0;
  virtual bool Take(Reflector& reflector, std::string_view data) = 0;
  // The body has ended in an orderly way.
  virtual void End(Reflector& reflector) = 0;

  // Says why the response is of no more use. Returns false.
  static bool Break(Reflector& reflector, const Error& error);

 private:
  // The reflector if it still waits for this response.
  std::shared_ptr<Reflector> Current() const;

  std::weak_ptr<Reflector> reflector_;
  uint64_t number_;
};

class Reflector::WatchSession final : public Session {
 public:
  using Session::Session;

 protected:
  void Begin(Reflector& reflector, api::Encoding encoding) override;
  bool Take(Reflector& reflector, std::string_view data) override;
  void End(Reflector& reflector) override;

 private:
  api::Encoding encoding_ = api::Encoding::kJson;
  std::optional<api::WatchFrames> frames_;
};

class Reflector::PageSession final : public Session {
 public:
  using Session::Session;

 protected:
  void Begin(Reflector& reflector, api::Encoding encoding) override;
  bool Take(Reflector& reflector, std::string_view data) override;
  void End(Reflector& reflector) override;

 private:
  std::optional<api::ListReader> reader_;
};

}  // namespace berth::informers
