// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace berth::profiling {

// A file with code that is mapped into this process.
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  uint64_t offset = 0;      // in the file
  uintptr_t load_bias = 0;  // added to the addresses in the file
  std::string path;
  std::string file;      // where it can be read: the program's path may have another by now
  std::string build_id;  // in hexadecimal digits; may be empty
};

// Those of now, by address.
std::vector<Mapping> CodeMappings();

// The functions of one file, from its table of symbols, or of what it exports where it is stripped.
class Symbols {
 public:
  // What cannot be read has no symbols.
  static Symbols Of(const std::string& path);

  bool empty() const { return functions_.empty(); }
  // The function at this address of the file, demangled; "": none is known there.
  std::string Find(uintptr_t address) const;

 private:
  struct Function {
    uintptr_t end = 0;
    std::string name;  // mangled
  };
  std::map<uintptr_t, Function> functions_;  // by their begin
};

}  // namespace berth::profiling
