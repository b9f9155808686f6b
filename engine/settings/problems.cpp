#include "engine/settings/problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "engine/base/printable.h"

namespace perrin {

namespace {

constexpr std::size_t longest_name = 200, longest_sentence = 4000;  // bytes

/// Not cut within a character.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::size_t hash_of(const std::string& path, const std::string& what) {
  return std::hash<std::string>()(path) * 31 + std::hash<std::string>()(what);
}

}  // namespace

std::string Problem::text() const {
  std::string text = printable_line(place);
  if (!path.empty())
    text += (text.empty() ? "" : ": ") + printable_line(shortened(path, longest_name));
  const std::string said = printable(shortened(what, longest_sentence));
  return text.empty() ? said : text + ": " + said;
}

bool Problems::admit(const std::string& path, const std::string& what) {
  // A maker that looks at one value twice reports it twice.
  if (!seen_.insert(hash_of(path, what)).second) return false;
  if (list_.size() >= most) return ++more_, false;
  admitted_ = hash_of(path, what);
  return true;
}

void Problems::add(Problem problem) {
  if (admitted_ != hash_of(problem.path, problem.what) && !admit(problem.path, problem.what))
    return;
  admitted_ = 0;
  list_.push_back(std::move(problem));
}

namespace {

std::vector<Problem> sorted_by_line(std::vector<Problem> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  return list;
}

std::string lines(const std::vector<Problem>& list, std::size_t more) {
  std::string text;
  for (const Problem& p : list) text += (text.empty() ? "" : "\n") + p.text();
  if (more > 0) text += fmt::format("\nand {} more", more);
  return text;
}

}  // namespace

MistakesError::MistakesError(std::vector<Problem> problems, std::size_t more)
    : UserError(lines(sorted_by_line(problems), more)), list(sorted_by_line(std::move(problems))) {}

void Problems::throw_if_any() const {
  if (!list_.empty()) throw MistakesError(list_, more_);
}

int edit_distance(const std::string& a, const std::string& b) {
  const std::size_t n = a.size(), m = b.size();
  std::vector<int> before(m + 1), last(m + 1), now(m + 1);  // rows i-2, i-1, i
  for (std::size_t j = 0; j <= m; ++j) now[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= n; ++i) {
    before.swap(last);
    last.swap(now);
    now[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= m; ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
  }
  return now[m];
}

std::string closest_word(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  // A third of the letters may be wrong: enough for a slip, too few for another word.
  int best_distance = std::max(1, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& k : known) {
    // So many letters are missing or too many in any case.
    const auto apart = std::max(k.size(), word.size()) - std::min(k.size(), word.size());
    if (apart > static_cast<std::size_t>(best_distance)) continue;
    const int distance = edit_distance(word, k);
    // Of two that are equally near, the one that the word begins.
    const bool longer = distance == best_distance && k.starts_with(word) && !best.starts_with(word);
    if (distance < best_distance || (longer && !best.empty())) best_distance = distance, best = k;
  }
  return best;
}

std::string suggest(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = closest_word(word, known);
  if (!near.empty()) return fmt::format("did you mean \"{}\"?", near);
  if (known.empty()) return "none exists";
  return fmt::format("expected one of {}", fmt::join(known, ", "));
}

std::string join_path(const std::string& path, const std::string& key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '$';
  });
  if (!plain) return path + "[\"" + key + "\"]";
  return path.empty() ? key : path + "." + key;
}

std::string join_path(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

}  // namespace perrin
