// SPDX-License-Identifier: Apache-2.0
#include "src/client/http2_session.h"

#include <gmock/gmock.h>
#include <nghttp2/nghttp2.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <map>

#include "src/base/virtual_time.h"

namespace berth::client {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// An HTTP/2 server in memory, by nghttp2; the other end of a FakeBytes.
class Server {
 public:
  Server() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnClose);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Server() { nghttp2_session_del(session_); }

  struct Seen {
    int32_t id = 0;
    std::map<std::string, std::string> headers;
    std::string body;
    bool complete = false;
    bool closed = false;
  };

  void Answer(int32_t id, const std::string& status, const std::string& body) {
    bodies_[id] = body;
    const std::string type = "application/json";
    const nghttp2_nv fields[] = {Field(":status", status), Field("content-type", type)};
    nghttp2_data_provider provider{};
    provider.source.ptr = &bodies_[id];
    provider.read_callback = &ReadBody;
    nghttp2_submit_response(session_, id, fields, 2, &provider);
  }
  void Refuse(int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
  }
  void GoAway() {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
  }

  void Receive(const uint8_t* data, size_t size) { nghttp2_session_mem_recv(session_, data, size); }
  std::string TakeOutput() {
    std::string out;
    const uint8_t* data = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
      out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    return out;
  }

  std::map<int32_t, Seen> seen;
  int pings = 0;

 private:
  // `name` and `value` must outlive the field.
  static nghttp2_nv Field(std::string_view name, const std::string& value) {
    nghttp2_nv field{};
    field.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data()));
    field.namelen = name.size();
    field.value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data()));
    field.valuelen = value.size();
    return field;
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    Seen& seen = static_cast<Server*>(user)->seen[frame->hd.stream_id];
    seen.id = frame->hd.stream_id;
    seen.headers[std::string(reinterpret_cast<const char*>(name), name_size)] =
        std::string(reinterpret_cast<const char*>(value), value_size);
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
    static_cast<Server*>(user)->seen[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* server = static_cast<Server*>(user);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && frame->hd.stream_id != 0) {
      server->seen[frame->hd.stream_id].complete = true;
    }
    if (frame->hd.type == NGHTTP2_PING) ++server->pings;
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t id, uint32_t, void* user) {
    static_cast<Server*>(user)->seen[id].closed = true;
    return 0;
  }
  static ssize_t ReadBody(nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    auto* body = static_cast<std::string*>(source->ptr);
    const size_t count = std::min(size, body->size());
    body->copy(reinterpret_cast<char*>(out), count);
    body->erase(0, count);
    if (body->empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::string> bodies_;
};

// What test and session share of the connection.
struct Wire {
  Server server;
  std::string to_client;
  int sends = 0;
  bool cut = false;
};

class FakeBytes final : public ByteStream {
 public:
  explicit FakeBytes(Wire& wire) : wire_(wire) {}
  Moved Send(const uint8_t* data, size_t size) override {
    if (wire_.cut) return {0, true, "cut"};
    ++wire_.sends;
    wire_.server.Receive(data, size);
    return {size, false, ""};
  }
  Moved Receive(uint8_t* data, size_t size) override {
    if (wire_.cut) return {0, true, "cut"};
    const size_t count = std::min(size, wire_.to_client.size());
    wire_.to_client.copy(reinterpret_cast<char*>(data), count);
    wire_.to_client.erase(0, count);
    return {count, false, ""};
  }

 private:
  Wire& wire_;
};

struct Answer final : Http2Listener {
  void OnHead(int a_code, std::string_view a_type, std::optional<Duration>) override {
    code = a_code;
    type = a_type;
  }
  bool OnBody(std::string_view data) override {
    body += data;
    return true;
  }
  int code = 0;
  std::string type;
  std::string body;
};

class Http2SessionTest : public testing::Test {
 protected:
  Http2SessionTest() : fd_(eventfd(0, EFD_NONBLOCK)) {
    session_ = std::make_unique<Http2Session>(loop_, fd_, std::make_unique<FakeBytes>(wire_),
                                              "server:6443", "berth/test", [this] {
                                                for (Http2End& end : session_->TakeEnds()) {
                                                  session_->Recycle(end.stream);
                                                  ends_.push_back(std::move(end));
                                                }
                                              });
  }
  ~Http2SessionTest() override {
    session_.reset();
    close(fd_);
  }

  void* Submit(Answer& answer, std::string_view body, Duration timeout = {}) {
    return session_->Submit({"POST", "/binding", &headers_, body}, timeout, answer);
  }
  // Runs what is posted and due; timers must be due by the clock.
  void RunLoop() {
    loop_.PostAfter(std::chrono::nanoseconds(1), [this] { loop_.Stop(); });
    clock_.Advance(std::chrono::milliseconds(1));
    loop_.Run();
  }
  // Brings what the server has to say.
  void Deliver() {
    wire_.to_client += wire_.server.TakeOutput();
    session_->OnReady(fd_, 1 /* EPOLLIN */);
  }

  base::VirtualClock clock_;
  base::EventLoop loop_{clock_};
  int fd_;
  Wire wire_;
  const std::vector<std::pair<std::string, std::string>> headers_ = {{"accept", "text/x"}};
  std::vector<Http2End> ends_;
  std::unique_ptr<Http2Session> session_;
};

TEST_F(Http2SessionTest, RequestsOfOneTurnLeaveInOneWriteAndAreAnsweredInAnyOrder) {
  Answer first;
  Answer second;
  void* one = Submit(first, "a");
  void* two = Submit(second, "b");
  EXPECT_EQ(wire_.sends, 0);
  RunLoop();
  EXPECT_EQ(wire_.sends, 1);
  ASSERT_THAT(wire_.server.seen, SizeIs(2));
  EXPECT_EQ(wire_.server.seen[1].headers[":authority"], "server:6443");
  EXPECT_EQ(wire_.server.seen[1].headers["user-agent"], "berth/test");
  EXPECT_EQ(wire_.server.seen[1].headers["accept"], "text/x");
  EXPECT_EQ(wire_.server.seen[3].body, "b");
  EXPECT_TRUE(Http2Session::WasSent(one));

  wire_.server.Answer(3, "409", "no");
  wire_.server.Answer(1, "201", "yes");
  Deliver();
  ASSERT_THAT(ends_, SizeIs(2));
  EXPECT_TRUE(ends_[0].complete);
  EXPECT_TRUE(ends_[1].complete);
  EXPECT_THAT((std::vector<void*>{ends_[0].stream, ends_[1].stream}),
              testing::UnorderedElementsAre(one, two));
  EXPECT_EQ(first.code, 201);
  EXPECT_EQ(first.type, "application/json");
  EXPECT_EQ(first.body, "yes");
  EXPECT_EQ(second.code, 409);
  EXPECT_EQ(session_->active(), 0u);
}

TEST_F(Http2SessionTest, ARefusedStreamWasNeverSent) {
  Answer answer;
  Submit(answer, "a");
  RunLoop();
  wire_.server.Refuse(1);
  Deliver();
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_FALSE(ends_[0].complete);
  EXPECT_FALSE(ends_[0].sent);
  EXPECT_FALSE(session_->over());
}

TEST_F(Http2SessionTest, AfterACutWhatWasSentMayHaveBeenDone) {
  Answer answer;
  Submit(answer, "a");
  RunLoop();
  wire_.cut = true;
  session_->OnReady(fd_, 1);
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_FALSE(ends_[0].complete);
  EXPECT_TRUE(ends_[0].sent);
  EXPECT_EQ(ends_[0].error, "cut");
  EXPECT_TRUE(session_->over());
}

TEST_F(Http2SessionTest, AServerThatGoesAwayStillAnswersWhatItHasTaken) {
  Answer answer;
  Submit(answer, "a");
  RunLoop();
  wire_.server.GoAway();
  Deliver();
  EXPECT_TRUE(session_->over());
  EXPECT_THAT(ends_, SizeIs(0));
  wire_.server.Answer(1, "201", "");
  Deliver();
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_TRUE(ends_[0].complete);
}

TEST_F(Http2SessionTest, ACancelledRequestHasNoEndAndItsStreamIsReset) {
  Answer answer;
  void* stream = Submit(answer, "a");
  RunLoop();
  session_->Cancel(stream);
  session_->OnReady(fd_, 0);
  EXPECT_TRUE(wire_.server.seen[1].closed);
  EXPECT_EQ(session_->active(), 0u);
  Deliver();
  EXPECT_THAT(ends_, SizeIs(0));
  EXPECT_EQ(answer.code, 0);
}

TEST_F(Http2SessionTest, AnAnswerThatDoesNotComeInTimeEndsTheStream) {
  Answer answer;
  Submit(answer, "a", std::chrono::seconds(2));
  RunLoop();
  clock_.Advance(std::chrono::seconds(5));
  session_->OnReady(fd_, 0);
  session_->CheckTimeouts();
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_TRUE(ends_[0].timed_out);
  EXPECT_TRUE(ends_[0].sent);
}

TEST_F(Http2SessionTest, AQuietConnectionIsAskedForASignOfLifeAndLostWithoutOne) {
  Answer answer;
  Submit(answer, "a");
  RunLoop();
  Deliver();
  const auto pass = [this](Duration by) {
    clock_.Advance(by);
    session_->CheckTimeouts();
    session_->OnReady(fd_, 0);  // sends
  };
  pass(std::chrono::milliseconds(29'900));
  EXPECT_EQ(wire_.server.pings, 0);
  for (int i = 1; i <= 3; ++i) {
    pass(std::chrono::seconds(31));
    EXPECT_EQ(wire_.server.pings, i);
    Deliver();
  }
  pass(std::chrono::seconds(31));
  EXPECT_EQ(wire_.server.pings, 4);
  pass(std::chrono::seconds(14));
  EXPECT_FALSE(session_->over());
  EXPECT_THAT(ends_, SizeIs(0));
  pass(std::chrono::seconds(1));
  EXPECT_EQ(wire_.server.pings, 4) << "one is asked at a time";
  EXPECT_TRUE(session_->over());
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_TRUE(ends_[0].sent);
  EXPECT_FALSE(ends_[0].complete);
}

TEST_F(Http2SessionTest, AConnectionWithoutRequestsIsAskedToo) {
  clock_.Advance(Http2Session::kPingAfter);
  session_->CheckTimeouts();
  session_->OnReady(fd_, 0);
  EXPECT_EQ(wire_.server.pings, 1);
}

}  // namespace
}  // namespace berth::client
