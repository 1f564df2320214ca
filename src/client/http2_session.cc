// SPDX-License-Identifier: Apache-2.0
#include "src/client/http2_session.h"

#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "berth/check.h"

namespace berth::client {
namespace {

constexpr size_t kReadBuffer = 65536;
constexpr int32_t kWindow = 16 << 20;
// Below this, what is to be sent goes out before more is gathered.
constexpr size_t kMostUnsent = 1 << 20;
// Time-outs are tens of seconds, so looking once a second is near enough.
constexpr Duration kTimeoutInterval = std::chrono::seconds(1);

nghttp2_nv Field(std::string_view name, std::string_view value) {
  nghttp2_nv field{};
  field.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data()));
  field.namelen = name.size();
  field.value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data()));
  field.valuelen = value.size();
  return field;
}

int ToInt(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

struct Http2Session::Stream {
  int32_t id = 0;
  Http2Listener* listener = nullptr;  // nullptr when idle or cancelled
  std::string_view body;
  size_t body_sent = 0;
  Time deadline{};  // zero: none
  bool sent = false;
  bool answered = false;  // the final header block has come
  bool finished = false;  // and the last of the body
  bool stopped = false;   // by the listener
  bool fenced = false;
  // nghttp2 may not be done with it yet, so it is never used again.
  bool retired = false;
  int code = 0;
  std::string content_type;
  std::optional<Duration> retry_after;
};

struct Http2Session::Callbacks {
  static Stream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*) {
    Stream* stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr || stream->answered) return 0;  // trailers tell nothing
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      stream->code = ToInt(text);
    } else if (key == "content-type") {
      stream->content_type = text;
    } else if (key == "retry-after") {
      if (const int seconds = ToInt(text); seconds > 0) {
        stream->retry_after = std::chrono::seconds(seconds);
      }
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      self->over_ = true;
      return 0;
    }
    Stream* stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr || stream->listener == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && !stream->answered && stream->code >= 200) {
      stream->answered = true;
      stream->listener->OnHead(stream->code, stream->content_type, stream->retry_after);
    }
    const bool carries_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (carries_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->finished = true;
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void*) {
    Stream* stream = StreamOf(session, id);
    if (stream == nullptr || stream->listener == nullptr || stream->stopped) return 0;
    if (!stream->listener->OnBody({reinterpret_cast<const char*>(data), size})) {
      stream->stopped = true;
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    }
    return 0;
  }

  static int OnClose(nghttp2_session* session, int32_t id, uint32_t code, void* user) {
    Stream* stream = StreamOf(session, id);
    if (stream == nullptr) return 0;
    Http2End end;
    end.complete = stream->finished && stream->answered && !stream->stopped;
    // The server has promised not to have looked at it.
    end.sent = stream->sent && code != NGHTTP2_REFUSED_STREAM;
    if (!end.complete) {
      end.error = std::string("the stream was closed: ") + nghttp2_http2_strerror(code);
    }
    static_cast<Http2Session*>(user)->End(*stream, std::move(end));
    return 0;
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Stream* stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->sent = true;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 || !stream->fenced) return 0;
    // From here on its bytes are among the unsent, until none are left.
    auto* self = static_cast<Http2Session*>(user);
    self->fenced_unsent_ = true;
    self->StopFencing(*stream);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    auto* stream = static_cast<Stream*>(source->ptr);
    const size_t count = std::min(size, stream->body.size() - stream->body_sent);
    std::memcpy(out, stream->body.data() + stream->body_sent, count);
    stream->body_sent += count;
    if (stream->body_sent == stream->body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
};

Http2Session::Http2Session(base::EventLoop& loop, int fd, std::unique_ptr<ByteStream> stream,
                           std::string authority, std::string user_agent,
                           std::function<void()> notify, std::function<bool()> may_write)
    : loop_(loop),
      fd_(fd),
      bytes_(std::move(stream)),
      authority_(std::move(authority)),
      user_agent_(std::move(user_agent)),
      notify_(std::move(notify)),
      may_write_(std::move(may_write)),
      buffer_(kReadBuffer) {
  nghttp2_session_callbacks* callbacks = nullptr;
  BERTH_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0, "out of memory");
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Callbacks::OnClose);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &Callbacks::OnFrameSent);
  nghttp2_session* session = nullptr;
  BERTH_CHECK(nghttp2_session_client_new(&session, callbacks, this) == 0, "out of memory");
  nghttp2_session_callbacks_del(callbacks);
  session_ = session;
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow}}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindow);
  loop_.Watch(fd_, EPOLLIN, *this);
  last_received_ = loop_.Now();
  CheckTimeoutsLater();
  PostFlush();
}

Http2Session::~Http2Session() {
  loop_.Cancel(flush_timer_);
  loop_.Cancel(timeout_timer_);
  loop_.Unwatch(fd_, *this);
  nghttp2_session_del(static_cast<nghttp2_session*>(session_));
}

void* Http2Session::Submit(const Http2Request& request, Duration timeout, Http2Listener& listener) {
  if (idle_.empty()) {
    streams_.push_back(std::make_unique<Stream>());
    idle_.push_back(streams_.back().get());
  }
  Stream* stream = idle_.back();
  idle_.pop_back();
  *stream = Stream();
  stream->listener = &listener;
  stream->body = request.body;
  stream->fenced = request.fenced;
  if (timeout > Duration::zero()) stream->deadline = loop_.Now() + timeout;

  std::vector<nghttp2_nv> fields;
  fields.reserve(request.headers->size() + 5);
  fields.push_back(Field(":method", request.method));
  fields.push_back(Field(":scheme", "https"));
  fields.push_back(Field(":authority", authority_));
  fields.push_back(Field(":path", request.path));
  fields.push_back(Field("user-agent", user_agent_));
  for (const auto& [name, value] : *request.headers) fields.push_back(Field(name, value));
  nghttp2_data_provider provider{};
  provider.source.ptr = stream;
  provider.read_callback = &Callbacks::ReadBody;
  stream->id =
      nghttp2_submit_request(static_cast<nghttp2_session*>(session_), nullptr, fields.data(),
                             fields.size(), request.body.empty() ? nullptr : &provider, stream);
  ++active_;
  if (request.fenced) {
    ++fenced_;
    fenced_unsent_ = true;
  }
  if (stream->id < 0) {
    // Stream ids are used up: the connection has served two billion requests' worth.
    over_ = true;
    Http2End end;
    end.error = nghttp2_strerror(stream->id);
    End(*stream, std::move(end));
  }
  PostFlush();
  return stream;
}

void Http2Session::Cancel(void* handle) {
  auto* stream = static_cast<Stream*>(handle);
  std::erase_if(ends_, [handle](const Http2End& end) { return end.stream == handle; });
  if (stream->listener == nullptr) return;
  auto* session = static_cast<nghttp2_session*>(session_);
  nghttp2_session_set_stream_user_data(session, stream->id, nullptr);
  // A request still in line is dropped by this, since its body's owner is about to go.
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
  stream->listener = nullptr;
  Retire(*stream);
  --active_;
  StopFencing(*stream);
  PostFlush();
}

bool Http2Session::WasSent(const void* stream) { return static_cast<const Stream*>(stream)->sent; }

void Http2Session::Recycle(void* handle) {
  auto* stream = static_cast<Stream*>(handle);
  if (!stream->retired) idle_.push_back(stream);
}

// The owner of its body is about to go, and nghttp2 may still ask for it: there is none any more.
void Http2Session::Retire(Stream& stream) {
  stream.retired = true;
  stream.body = {};
  stream.body_sent = 0;
}

void Http2Session::End(Stream& stream, Http2End end) {
  if (stream.listener == nullptr) return;
  if (stream.id > 0) {
    nghttp2_session_set_stream_user_data(static_cast<nghttp2_session*>(session_), stream.id,
                                         nullptr);
  }
  stream.listener = nullptr;
  --active_;
  StopFencing(stream);
  end.stream = &stream;
  ends_.push_back(std::move(end));
}

void Http2Session::PostFlush() {
  if (flush_timer_ != 0) return;
  flush_timer_ = loop_.PostAfter(Duration::zero(), [this] {
    flush_timer_ = 0;
    if (!lost_) Flush();
    if (!ends_.empty() || over_) notify_();
  });
}

void Http2Session::Flush() {
  auto* session = static_cast<nghttp2_session*>(session_);
  for (;;) {
    while (unsent_.size() < kMostUnsent) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session, &data);
      if (size < 0) return Lose(nghttp2_strerror(static_cast<int>(size)));
      if (size == 0) break;
      unsent_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    if (unsent_.empty()) break;
    if (IsFenced()) return Lose("this process does not hold the lease", /*not_leader=*/true);
    const ByteStream::Moved moved =
        bytes_->Send(reinterpret_cast<const uint8_t*>(unsent_.data()), unsent_.size());
    if (moved.closed) return Lose(moved.error);
    unsent_.erase(0, moved.bytes);
    if (!unsent_.empty() && moved.bytes == 0) break;
  }
  if (unsent_.empty()) fenced_unsent_ = false;
  WatchFor(!unsent_.empty());
}

void Http2Session::StopFencing(Stream& stream) {
  if (std::exchange(stream.fenced, false)) --fenced_;
}

// nghttp2 may hold back the rest of a request; and bytes that it has given may not be sent yet,
// also of a request that was cancelled since.
bool Http2Session::IsFenced() const {
  return (fenced_ > 0 || fenced_unsent_) && may_write_ != nullptr && !may_write_();
}

void Http2Session::WatchFor(bool write) {
  if (write == wants_write_) return;
  wants_write_ = write;
  loop_.Watch(fd_, write ? EPOLLIN | EPOLLOUT : EPOLLIN, *this);
}

void Http2Session::OnReady(int, uint32_t events) {
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) Read();
  if (!lost_) Flush();
  if (!ends_.empty() || over_) notify_();
}

void Http2Session::Read() {
  auto* session = static_cast<nghttp2_session*>(session_);
  for (;;) {
    const ByteStream::Moved moved = bytes_->Receive(buffer_.data(), buffer_.size());
    if (moved.bytes > 0) {
      last_received_ = loop_.Now();
      pinged_.reset();
      const ssize_t used = nghttp2_session_mem_recv(session, buffer_.data(), moved.bytes);
      if (used < 0) return Lose(nghttp2_strerror(static_cast<int>(used)));
    }
    if (moved.closed) return Lose(moved.error);
    if (moved.bytes < buffer_.size()) return;
  }
}

// The connection is gone: whatever was sent may or may not have been done.
void Http2Session::Lose(const std::string& error, bool not_leader) {
  over_ = true;
  lost_ = true;
  loop_.Unwatch(fd_, *this);
  // TLS may hold the rest of a record, and closes with words of its own.
  if (not_leader) shutdown(fd_, SHUT_RDWR);
  for (const auto& stream : streams_) {
    if (stream->listener == nullptr) continue;
    Http2End end;
    end.sent = stream->sent;
    end.not_leader = not_leader;
    end.error = error;
    End(*stream, std::move(end));
    Retire(*stream);
  }
}

void Http2Session::CheckTimeoutsLater() {
  timeout_timer_ = loop_.PostAfter(kTimeoutInterval, [this] { CheckTimeouts(); });
}

void Http2Session::CheckTimeouts() {
  loop_.Cancel(timeout_timer_);
  timeout_timer_ = 0;
  const Time now = loop_.Now();
  EndOverdue(now);
  if (!lost_) CheckPeer(now);
  if (!lost_) CheckTimeoutsLater();
  if (!ends_.empty() || over_) notify_();
}

void Http2Session::EndOverdue(Time now) {
  auto* session = static_cast<nghttp2_session*>(session_);
  for (const auto& stream : streams_) {
    if (stream->listener == nullptr || stream->deadline == Time{} || stream->deadline > now) {
      continue;
    }
    const int32_t id = stream->id;
    Http2End end;
    end.sent = stream->sent;
    end.timed_out = true;
    end.error = "no answer in time";
    End(*stream, std::move(end));
    Retire(*stream);
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    PostFlush();
  }
}

void Http2Session::CheckPeer(Time now) {
  if (pinged_) {
    if (now - *pinged_ >= kPingTimeout) Lose("the server answers no ping");
  } else if (now - last_received_ >= kPingAfter) {
    nghttp2_submit_ping(static_cast<nghttp2_session*>(session_), NGHTTP2_FLAG_NONE, nullptr);
    pinged_ = now;
    PostFlush();
  }
}

}  // namespace berth::client
