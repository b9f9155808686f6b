// Atom styles of LAMMPS: what the columns of the section Atoms of a data file are
// (https://docs.lammps.org/read_data.html).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace perrin::io {

struct AtomStyle {
  std::string name;                  // as LAMMPS calls it: "full", "hybrid charge bond"
  std::vector<std::string> columns;  // "id", "molecule", "type", "q", "x", "y", "z", …
  bool bonds = false;                // particles of this style can have bonds
  bool readable = false;             // Perrin reads it

  /// The column's index; -1: there is none.
  int at(std::string_view column) const;
  /// "id, type, x, y, z".
  std::string list() const;
};

/// Whether types can have these names as labels: not those that begin with a digit or *.
bool are_labels(const std::vector<std::string>& names);
/// The style that some text names by its first words ("full", "hybrid sphere bond # …"); an empty
/// name: none that LAMMPS has.
AtomStyle named_style(std::string_view text);
/// Those that are read, as a message lists them.
std::string readable_styles();

/// Which of all styles the rows of a section fit that names none.
class StyleGuess {
 public:
  /// `columns` of each row; whether the header counts bonds; names of types.
  StyleGuess(std::size_t columns, bool bonds, const std::vector<std::string>& types);
  void row(const std::vector<std::string_view>& words);
  /// Those that every row fits; what has the same columns is there once.
  const std::vector<AtomStyle>& fitting() const { return styles_; }

 private:
  bool fits(const AtomStyle& style, const std::vector<std::string_view>& words) const;
  std::size_t columns_;
  const std::vector<std::string>& types_;
  std::vector<AtomStyle> styles_;
  /// Places so far, by the style's: two particles at the same place are none.
  std::vector<std::set<std::tuple<double, double, double>>> places_;
};

}  // namespace perrin::io
