#include "engine/settings/problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
namespace perrin {

std::string Problem::text() const {
  std::string text = place;
  if (!path.empty()) text += (text.empty() ? "" : ": ") + path;
  return text.empty() ? what : text + ": " + what;
}

void Problems::add(Problem problem) {
  // A maker that looks at one value twice reports it twice.
  const auto same = [&](const Problem& p) { return p.text() == problem.text(); };
  if (std::none_of(list_.begin(), list_.end(), same)) list_.push_back(std::move(problem));
}

namespace {

std::vector<Problem> sorted_by_line(std::vector<Problem> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  return list;
}

std::string lines(const std::vector<Problem>& list) {
  std::string text;
  for (const Problem& p : list) text += (text.empty() ? "" : "\n") + p.text();
  return text;
}

}  // namespace

MistakesError::MistakesError(std::vector<Problem> problems)
    : UserError(lines(sorted_by_line(problems))), list(sorted_by_line(std::move(problems))) {}

void Problems::throw_if_any() const {
  if (!list_.empty()) throw MistakesError(list_);
}

int edit_distance(const std::string& a, const std::string& b) {
  const std::size_t n = a.size(), m = b.size();
  std::vector<std::vector<int>> d(n + 1, std::vector<int>(m + 1));
  for (std::size_t i = 0; i <= n; ++i) d[i][0] = static_cast<int>(i);
  for (std::size_t j = 0; j <= m; ++j) d[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[n][m];
}

std::string closest_word(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  // A third of the letters may be wrong: enough for a slip, too few for another word.
  int best_distance = std::max(1, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& k : known) {
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
  if (known.empty()) return "there is none";
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
