#include "io/text_lines.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <new>

#include "engine/base/error.h"
#include "io/compressed.h"

namespace perrin::io {

std::string in_quotes(std::string_view word) {
  constexpr std::size_t longest = 60;
  return fmt::format("\"{}{}\"", word.substr(0, longest), word.size() > longest ? "…" : "");
}

TextLines::TextLines(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
  if (!stream_)
    throw UserError(fmt::format("{}: cannot open the file: {}", path, std::strerror(errno)));
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw UserError(path + ": cannot be read: not a regular file");
  refuse_compressed(path, stream_);
  stream_.exceptions(std::ios::badbit);  // else what is thrown within getline ends the file
  stream_.seekg(0, std::ios::end);
  const auto end = stream_.tellg();
  if (end < 0) throw UserError(path + ": cannot be read: not a regular file");
  file_size_ = std::uint64_t(end);
  stream_.seekg(0);
}

bool TextLines::next() {
  try {
    if (!std::getline(stream_, line_)) {
      line_.clear();
      return false;
    }
  } catch (const std::bad_alloc&) {
    throw UserError(fmt::format("{}:{}: the line does not fit into memory", path_, number_ + 1));
  } catch (const std::ios_base::failure&) {
    throw UserError(
        fmt::format("{}:{}: cannot be read: {}", path_, number_ + 1, std::strerror(errno)));
  }
  if (number_ == 0 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);  // a byte order mark
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  ++number_;
  return true;
}

void TextLines::need(const std::string& expected) {
  if (!next())
    throw UserError(
        fmt::format("{}:{}: the file ends here, expected {}", path_, number_, expected));
}

std::vector<std::string_view> TextLines::words(bool comments) const {
  std::string_view rest = line_;
  if (comments) rest = rest.substr(0, rest.find('#'));
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = rest.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
    words.push_back(rest.substr(begin, end - begin));
    rest.remove_prefix(end);
  }
}

std::optional<double> TextLines::number_in(std::string_view word) {
  double value = 0;
  if (!word.empty() && word[0] == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

double TextLines::real(std::string_view word, const std::string& what) const {
  const auto value = number_in(word);
  if (!value) fail(fmt::format("expected {} (a number), got {}", what, in_quotes(word)));
  if (!std::isfinite(*value))
    fail(fmt::format("expected {} (a finite number), got {}", what, word.substr(0, 60)));
  return *value;
}

std::int64_t TextLines::integer(std::string_view word, const std::string& what) const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    fail(fmt::format("expected {} (a whole number), got {}", what, in_quotes(word)));
  return value;
}

std::int64_t TextLines::bounded(std::string_view word, const std::string& what, std::int64_t low,
                                std::int64_t high) const {
  const std::int64_t value = integer(word, what);
  if (value < low || value > high)
    fail(fmt::format("expected {} ({} to {}), got {}", what, low, high, value));
  return value;
}

void TextLines::fail(const std::string& what) const {
  throw UserError(fmt::format("{}:{}: {}", path_, number_, what));
}

void TextLines::go(const Place& place) {
  stream_.clear();
  stream_.seekg(place.at);
  number_ = place.number;
}

}  // namespace perrin::io
