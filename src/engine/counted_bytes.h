// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace berth::engine {

// The part of a sum of bytes that one object adds to it, for as long as the object lives.
//
// Thread safety: one owner of all parts of a sum.
class CountedBytes {
 public:
  // `sum` must outlive this.
  explicit CountedBytes(size_t& sum) : sum_(sum) {}
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;
  ~CountedBytes() { Set(0); }

  void Set(size_t bytes) {
    sum_ += bytes - bytes_;
    bytes_ = bytes;
  }
  size_t get() const { return bytes_; }

 private:
  size_t& sum_;
  size_t bytes_ = 0;
};

}  // namespace berth::engine
