#include "forces/table_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numbers>
#include <optional>
#include <sstream>

#include "engine/base/error.h"
#include "forces/table_shape.h"

namespace perrin {
namespace {

constexpr double degree = std::numbers::pi / 180;

struct Line {
  int number;
  std::vector<std::string> words;
};

std::optional<double> number_of(const std::string& word) {
  double value = 0;
  const char* begin = word.data() + (word[0] == '+' ? 1 : 0);
  const char* end = word.data() + word.size();
  const auto [at, wrong] = std::from_chars(begin, end, value);
  if (wrong != std::errc() || at != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

class TableFile {
 public:
  TableFile(const std::filesystem::path& file, TableKind kind) : name_(file.string()), kind_(kind) {
    std::ifstream in(file);
    if (!in) throw UserError(name_ + ": cannot open the file");
    std::string text;
    for (int number = 1; std::getline(in, text); ++number) {
      std::istringstream words(text.substr(0, text.find('#')));
      Line line{number, {}};
      for (std::string word; words >> word;) line.words.push_back(word);
      if (!line.words.empty()) lines_.push_back(std::move(line));
    }
    if (lines_.empty()) throw UserError(name_ + ": no rows: expected a table");
  }

  TableRows read(const std::string& keyword) {
    if (number_of(lines_[0].words[0])) {
      if (!keyword.empty())
        fail(lines_[0], fmt::format("a plain table, expected the section \"{}\"", keyword));
      read_rows(0, lines_.size(), 0, lines_[0].words.size());
    } else {
      read_section(section(keyword));
    }
    check_points();
    if (kind_ == TableKind::dihedral) close_turn();
    check_shape();
    return rows_;
  }

 private:
  [[noreturn]] void fail(const Line& line, const std::string& what) const {
    throw UserError(fmt::format("{}:{}: {}", name_, line.number, what));
  }
  double number(const Line& line, std::size_t k, const char* what) const {
    if (k >= line.words.size())
      fail(line, fmt::format("expected {}, found the end of the line", what));
    const auto value = number_of(line.words[k]);
    if (!value) fail(line, fmt::format("expected {}, got \"{}\"", what, line.words[k]));
    return *value;
  }

  /// The line with the keyword; sections begin with words that are no numbers, followed by "N …".
  std::size_t section(const std::string& keyword) const {
    std::vector<std::size_t> found;
    std::vector<std::string> names;
    for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
      const auto& next = lines_[k + 1].words;
      if (number_of(lines_[k].words[0]) || std::ranges::find(next, "N") == next.end()) continue;
      names.push_back(lines_[k].words[0]);
      if (keyword.empty() || names.back() == keyword) found.push_back(k);
    }
    if (names.empty())
      fail(lines_[0], fmt::format("expected rows of numbers, or a keyword and \"N …\" as in "
                                  "LAMMPS's tables, got \"{}\"",
                                  lines_[0].words[0]));
    if (found.empty())
      throw UserError(fmt::format("{}: no section \"{}\"; the file has {}", name_, keyword,
                                  fmt::join(names, ", ")));
    if (found.size() > 1)
      throw UserError(keyword.empty()
                          ? fmt::format("{}: several sections: choose one with \"keyword\": {}",
                                        name_, fmt::join(names, ", "))
                          : fmt::format("{}: the section \"{}\" occurs twice", name_, keyword));
    return found[0];
  }

  void read_section(std::size_t at) {
    const Line& line = lines_[at + 1];
    std::int64_t n = 0;
    bool forces = true, radians = false, squared = false;
    std::optional<std::array<double, 2>> range;
    for (std::size_t k = 0; k < line.words.size(); ++k) {
      const std::string& word = line.words[k];
      if (word == "N") {
        n = std::int64_t(number(line, ++k, "the number of rows"));
      } else if (word == "R" || word == "RSQ") {
        squared = word == "RSQ";
        range = {number(line, k + 1, "the first distance"),
                 number(line, k + 2, "the last distance")};
        k += 2;
      } else if (word == "FP" || word == "FPRIME") {
        k += 2;  // forces are there at every point
      } else if (word == "EQ" || word == "CHECKU" || word == "CHECKF") {
        k += 1;
      } else if (word == "NOF") {
        forces = false;
      } else if (word == "RADIANS") {
        radians = true;
      } else if (word != "DEGREES") {
        fail(line,
             fmt::format(
                 "unknown parameter \"{}\": expected N, R, RSQ, FP, EQ, NOF, DEGREES or RADIANS",
                 word));
      }
    }
    const std::size_t begin = at + 2;
    if (n < 2 || std::size_t(n) > lines_.size() - begin)
      fail(line, fmt::format("N is {}, but {} rows follow: expected at least 2", n,
                             lines_.size() - begin));
    const std::size_t end = begin + std::size_t(n);
    if (end < lines_.size() && number_of(lines_[end].words[0]))
      fail(lines_[end], fmt::format("N is {} on line {}, and another row follows the last one: "
                                    "expected N to be the number of rows",
                                    n, line.number));
    read_rows(begin, end, 1, forces ? 4 : 3);
    if (range) place(*range, squared, line);
    if (radians) {
      for (double& x : rows_.x) x /= degree;
      for (double& f : rows_.slope) f *= degree;
    }
  }

  /// Columns x, energy and force from `first` on.
  void read_rows(std::size_t begin, std::size_t end, std::size_t first, std::size_t columns) {
    if (columns < first + 2 || columns > first + 3)
      fail(lines_[begin],
           fmt::format("expected {} or {} columns, got {}", first + 2, first + 3, columns));
    for (std::size_t k = begin; k < end; ++k) {
      const Line& line = lines_[k];
      if (line.words.size() != columns)
        fail(line, fmt::format("expected {} numbers, got {}", columns, line.words.size()));
      rows_.x.push_back(number(line, first, "a distance or an angle"));
      rows_.energy.push_back(number(line, first + 1, "an energy"));
      if (columns == first + 3) rows_.slope.push_back(-number(line, first + 2, "a force"));
      at_.push_back(k);
    }
  }

  /// Distances as R or RSQ define them; those of the rows are rounded.
  void place(const std::array<double, 2>& range, bool squared, const Line& line) {
    const auto [low, high] = range;
    const double last = double(rows_.x.size() - 1);
    for (std::size_t k = 0; k < rows_.x.size(); ++k) {
      const double share = double(k) / last;
      const double x = squared ? std::sqrt(low * low + (high * high - low * low) * share)
                               : low + (high - low) * share;
      if (std::abs(x - rows_.x[k]) > 0.5 * (high - low) / last)
        fail(lines_[at_[k]], fmt::format("the distance is {}, but {} according to line {}",
                                         rows_.x[k], x, line.number));
      rows_.x[k] = x;
    }
  }

  void check_points() {
    auto& x = rows_.x;
    if (x.size() < 2) throw UserError(name_ + ": one row: expected at least two");
    for (std::size_t k = 1; k < x.size(); ++k)
      if (!(x[k] > x[k - 1]))
        fail(lines_[at_[k]],
             fmt::format("expected more than {}, that of the row before, got {}", x[k - 1], x[k]));
    const Line &first = lines_[at_.front()], &last = lines_[at_.back()];
    if (kind_ == TableKind::pair || kind_ == TableKind::bond) {
      if (x.front() < 0) fail(first, fmt::format("expected a distance from 0, got {}", x.front()));
      return;
    }
    if (kind_ == TableKind::angle) {
      if (std::abs(x.front()) > 1e-6)
        fail(first, fmt::format("expected angles from 0 degrees, got {}", x.front()));
      if (std::abs(x.back() - 180) > 1e-6)
        fail(last, fmt::format("expected angles up to 180 degrees, got {}", x.back()));
    }
    for (double& angle : x) angle *= degree;
    for (double& slope : rows_.slope) slope /= degree;
  }

  /// Around the whole turn: the last point is the first one again.
  void close_turn() {
    auto& x = rows_.x;
    const auto& energy = rows_.energy;
    const double turn = 2 * std::numbers::pi, left = x.front() + turn - x.back();
    double widest = 0, narrowest = turn, steepest = 0;
    for (std::size_t k = 1; k < x.size(); ++k) {
      const double width = x[k] - x[k - 1];
      widest = std::max(widest, width), narrowest = std::min(narrowest, width);
      steepest = std::max(steepest, std::abs(energy[k] - energy[k - 1]) / width);
    }
    // Both ends may be rounded, as those of radians are.
    const double rounded = std::max(1e-6, 0.01 * narrowest);
    if (left < -rounded || left > 1.5 * widest)
      fail(lines_[at_.back()], fmt::format("expected dihedrals around 360 degrees, got {} to {}",
                                           x.front() / degree, x.back() / degree));
    if (left > rounded) {
      x.push_back(x.front() + turn);
      rows_.energy.push_back(energy.front());
      if (!rows_.slope.empty()) rows_.slope.push_back(rows_.slope.front());
      at_.push_back(at_.front());
    } else if (const double e = energy.front();
               std::abs(energy.back() - e) > 1e-6 * (1 + std::abs(e)) + std::abs(left) * steepest) {
      fail(lines_[at_.back()],
           fmt::format("the energy is {}, but {} 360 degrees before", energy.back(), e));
    }
    x.back() = x.front() + turn;
    if (x.size() < 9)
      fail(lines_[at_.back()],
           fmt::format("{} rows: expected at least 8 for 360 degrees", x.size() - 1));
    if (left > rounded && rows_.slope.empty()) note_open_turn();
  }

  /// A jump from the last row to the first one, which no slopes tell of.
  void note_open_turn() {
    const auto& energy = rows_.energy;
    const std::size_t n = energy.size() - 1;
    const auto rise = [&](std::size_t k) { return std::abs(energy[k + 1] - energy[k]); };
    double largest = 0, near = 0;
    for (std::size_t k = 0; k + 1 < n; ++k) largest = std::max(largest, rise(k));
    for (const std::size_t k : {std::size_t(0), std::size_t(1), n - 2, n - 3})
      near = std::max(near, rise(k));
    if (rise(n - 1) <= 8 * near || rise(n - 1) <= 1.5 * largest) return;
    rows_.notes.push_back(fmt::format(
        "{}:{} and {}: the energy goes from {:.6g} to {:.6g} where the turn closes, and the curve "
        "between rows swings beside it: expected energies of a period of 360 degrees",
        name_, lines_[at_[n - 1]].number, lines_[at_[n]].number, energy[n - 1], energy[n]));
  }

  /// Forces of the wrong sign or unit are the common mistake.
  void check_shape() {
    bool agree = true;
    for (const TableNote& note : find_shape(rows_, agree))
      rows_.notes.push_back(fmt::format("{}:{} and {}: {}", name_, lines_[at_[note.first]].number,
                                        lines_[at_[note.last]].number, note.text));
    if (!agree)
      throw UserError(fmt::format(
          "{}: the forces (last column) are not minus the derivative of "
          "the energies: expected -dE/dr{}",
          name_,
          kind_ == TableKind::angle || kind_ == TableKind::dihedral ? ", of angles per degree"
                                                                    : ""));
  }

  std::string name_;
  TableKind kind_;
  std::vector<Line> lines_;  // that are not empty
  TableRows rows_;
  std::vector<std::size_t> at_;  // the line of each row
};

}  // namespace

TableRows read_table(const std::filesystem::path& file, const std::string& keyword,
                     TableKind kind) {
  return TableFile(file, kind).read(keyword);
}

}  // namespace perrin
