// Reading text files line by line, with errors that name file and line.
#pragma once

#include <concepts>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perrin::io {

class TextLines {
 public:
  /// Throws UserError where the file cannot be opened.
  explicit TextLines(const std::string& path);
  /// Moves to the next line; false at the end of the file.
  bool next();
  /// The same where there must be one: `expected` says what should come.
  void need(const std::string& expected);

  const std::string& line() const { return line_; }
  std::int64_t number() const { return number_; }
  /// Words of the line, up to a '#' if `comments`.
  std::vector<std::string_view> words(bool comments = false) const;

  /// What a word says; throws UserError naming file, line and `what` otherwise. NaN and infinity
  /// are refused.
  double real(std::string_view word, const std::string& what) const;
  /// The number that a word is; nothing where it is none.
  static std::optional<double> number_in(std::string_view word);
  std::int64_t integer(std::string_view word, const std::string& what) const;
  /// The same within the bounds of T.
  template <std::integral T>
  T whole(std::string_view word, const std::string& what) const {
    return T(bounded(word, what, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  [[noreturn]] void fail(const std::string& what) const;

  struct Place {
    std::streampos at;
    std::int64_t number;
  };
  Place place() { return {stream_.tellg(), number_}; }
  void go(const Place& place);
  /// To where one has been, with the line that stood there.
  void go(const Place& place, const std::string& line) {
    go(place);
    line_ = line;
  }
  std::uint64_t file_size() const { return file_size_; }

 private:
  std::int64_t bounded(std::string_view word, const std::string& what, std::int64_t low,
                       std::int64_t high) const;

  std::string path_;
  std::ifstream stream_;
  std::string line_;
  std::int64_t number_ = 0;
  std::uint64_t file_size_ = 0;
};

/// A word of a file as a message quotes it: no longer than a line.
std::string in_quotes(std::string_view word);

}  // namespace perrin::io
