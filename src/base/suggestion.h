// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::base {

// Finds the word that was probably meant: the one with the fewest letters to change, at most two
// and not more than half of what was typed, or one that begins with what was typed. Large letters
// count as small ones. A word that differs in digits alone is another one, not a misspelt one.
//
// Thread safety: one owner.
class Suggestion {
 public:
  // `typed` outlives this.
  explicit Suggestion(std::string_view typed);

  void Try(std::string_view word);
  template <typename Words>
  void TryAll(const Words& words) {
    for (const auto& word : words) Try(word);
  }

  // The word; "": none.
  const std::string& word() const { return best_.empty() ? beginning_ : best_; }
  // "; did you mean WORD?", or "".
  std::string ToString() const;
  // The same with the word in double quotes, as names of fields have them.
  std::string ToQuotedString() const;

 private:
  std::string_view typed_;
  size_t fewest_;  // changes; without a word fewer than this are
  std::string best_;
  std::string beginning_;  // the first, by name, that begins with what was typed
};

// That of the fields which was probably meant, as a FieldHint: `; did you mean "FIELD"?`, or "".
std::string SuggestedField(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace berth::base
