// The user's mistakes, collected so that all of a job are shown together.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/base/error.h"

namespace perrin {

/// One mistake: `job.json:14: forces[0].cutoff: must be positive, got -2.5`.
struct Problem {
  std::string place;  // "job.json:14", "--set"; may be empty
  int line = 0;       // to show them in the order of the file
  std::string path;   // "forces[0].cutoff"; may be empty
  std::string what;
  /// For a terminal: names of others obey no escape sequences there, and are shortened.
  std::string text() const;
};

/// All mistakes of a job: one line each in what(), in the order of the file, and how many `more`
/// there are.
struct MistakesError : UserError {
  explicit MistakesError(std::vector<Problem> list, std::size_t more = 0);
  std::vector<Problem> list;
};

class Problems {
 public:
  static constexpr std::size_t most = 100;  // that are kept; others are counted

  /// Whether this mistake at this path is new and is to be kept; where it is, add() it next.
  bool admit(const std::string& path, const std::string& what);
  /// Of several with the same text only the first is kept.
  void add(Problem problem);
  bool empty() const { return list_.empty(); }
  const std::vector<Problem>& list() const { return list_; }
  std::size_t more() const { return more_; }  // beside those of the list
  /// Throws MistakesError if there is one.
  void throw_if_any() const;

 private:
  std::vector<Problem> list_;
  std::size_t more_ = 0;
  std::unordered_set<std::size_t> seen_;  // hashes of what was reported
  std::size_t admitted_ = 0;              // of the one that add() is given next
};

/// The one of `known` that `word` most likely means (few letters missing, added, changed or
/// swapped), or "".
std::string closest_word(const std::string& word, const std::vector<std::string>& known);
/// `did you mean "cutoff"?`, or the list of what is known where nothing is near.
std::string suggest(const std::string& word, const std::vector<std::string>& known);
/// The same distance, for tests: F. J. Damerau, Commun. ACM 7, 171 (1964), adjacent swaps only
/// once.
int edit_distance(const std::string& a, const std::string& b);

/// "forces" + "cutoff" → "forces.cutoff"; keys that are no plain words are quoted in brackets.
std::string join_path(const std::string& path, const std::string& key);
std::string join_path(const std::string& path, std::size_t index);

}  // namespace perrin
