// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "src/recording/bytes.h"
#include "src/recording/frame_fields.h"
#include "src/recording/frames.h"
#include "src/recording/known_objects.h"

namespace berth::recording {

// Appends frames to bytes.
//
// Thread safety: one owner.
class FrameWriter {
 public:
  // Times are counted from `start`.
  explicit FrameWriter(Time start) : start_(start) {}

  template <HasFields T>
  void Append(const T& frame, std::string& out) {
    Begin<T>();
    Write(frame);
    End(out);
  }
  void AppendDecision(std::string_view pod_uid, Code code, std::string_view node_name,
                      std::string_view message, std::string& out);
  // `filter` may be nullptr. Takes note of the event in `known`.
  void Append(const informers::InformerEvent& event, KnownObjects& known, api::TextFilter* filter,
              std::string& out);
  void Append(const ClaimWritten& frame, api::TextFilter* filter, std::string& out);

 private:
  // The number of a frame's type, from 1.
  template <typename T, size_t index = 0>
  static constexpr uint64_t TypeOf() {
    if constexpr (std::is_same_v<std::variant_alternative_t<index, Frame>, T>) {
      return index + 1;
    } else {
      return TypeOf<T, index + 1>();
    }
  }

  template <typename T>
  void Begin() {
    body_.clear();
    Write(TypeOf<T>());
  }
  void End(std::string& out) { ByteWriter(out).Text(body_); }
  void Write(const MeasuredResource& resource);
  template <typename T>
  void Write(const T& value) {
    ByteWriter to(body_);
    if constexpr (std::is_enum_v<T> || std::unsigned_integral<T>) {
      to.Unsigned(static_cast<uint64_t>(value));
    } else if constexpr (std::signed_integral<T>) {
      to.Signed(value);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      to.Text(value);
    } else if constexpr (std::is_same_v<T, Duration>) {
      to.Signed(value.count());
    } else if constexpr (std::is_same_v<T, Time>) {
      to.Signed((value - start_).count());
    } else if constexpr (kIsVector<T>) {
      to.Unsigned(value.size());
      for (const auto& element : value) Write(element);
    } else {
      std::apply([this](const auto&... field) { (this->Write(field), ...); }, FieldsOf(value));
    }
  }

  const Time start_;
  std::string body_;
};

}  // namespace berth::recording
