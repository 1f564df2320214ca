// SPDX-License-Identifier: Apache-2.0
#include "src/informers/reflector_sessions.h"

#include <utility>

namespace berth::informers {

std::shared_ptr<Reflector> Reflector::Session::Current() const {
  auto reflector = reflector_.lock();
  if (reflector == nullptr || reflector->stopped_ || reflector->session_ != number_) return nullptr;
  return reflector;
}

void Reflector::Session::OnStart(const client::Response& head) {
  const auto reflector = Current();
  if (reflector == nullptr) return;
  reflector->head_arrived_ = true;
  Begin(*reflector, api::EncodingOf(head.content_type));
  if (reflector->phase_ == Phase::kWatching) reflector->CaughtUp();
}

bool Reflector::Session::OnData(std::string_view data) {
  const auto reflector = Current();
  return reflector != nullptr && Take(*reflector, data);
}

void Reflector::Session::OnEnd(std::optional<client::ApiError> error) {
  const auto reflector = Current();
  if (reflector == nullptr) return;
  if (!error && !reflector->failure_) End(*reflector);
  // What was found inside the response says more than how it ended.
  if (reflector->failure_) error = std::exchange(reflector->failure_, std::nullopt);
  reflector->OnStreamEnd(std::move(error));
}

bool Reflector::Session::Break(Reflector& reflector, const Error& error) {
  client::ApiError failure;
  failure.message = "unreadable response: " + error.message;
  reflector.failure_ = std::move(failure);
  return false;
}

void Reflector::WatchSession::Begin(Reflector&, api::Encoding encoding) {
  encoding_ = encoding;
  frames_.emplace(encoding);
}

bool Reflector::WatchSession::Take(Reflector& reflector, std::string_view data) {
  frames_->Push(data);
  for (;;) {
    const auto frame = frames_->Next();
    if (!frame) return Break(reflector, frame.error());
    if (!*frame) return true;
    const auto event = api::DecodeWatchEvent(encoding_, **frame);
    if (!event) return Break(reflector, event.error());
    if (!reflector.OnWatchEvent(encoding_, *event)) return false;
  }
}

// A frame cut off at the end is sent again when the watch is resumed.
void Reflector::WatchSession::End(Reflector&) {}

void Reflector::PageSession::Begin(Reflector& reflector, api::Encoding encoding) {
  // The reader lives in the session, which is alive only while the reflector is.
  reader_.emplace(encoding, [&reflector, encoding](std::string_view item) {
    reflector.store_.Put(encoding, item);
  });
}

bool Reflector::PageSession::Take(Reflector& reflector, std::string_view data) {
  const auto pushed = reader_->Push(data);
  return pushed ? true : Break(reflector, pushed.error());
}

void Reflector::PageSession::End(Reflector& reflector) {
  const auto meta = reader_->Finish();
  if (!meta) {
    Break(reflector, meta.error());
    return;
  }
  reflector.page_ = *meta;
}

}  // namespace berth::informers
