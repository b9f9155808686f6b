#include "forces/formula/library_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/formula/parse.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_parse.h"
#include "forces/formula/library_entry.h"
#include "forces/formula/source.h"

namespace perrin::formula {
namespace {

/// The key whose entries have the parameters.
std::string list_of(const std::string& type) {
  return type == "pair_formula"       ? "pairs"
         : type == "external_formula" ? "types"
                                      : type.substr(0, type.find('_')) + "s";
}

/// Whole numbers as such, all others with the digits that make them.
Json number_of(const Parameter& p, double value) {
  if (p.kind == Parameter::Kind::whole_exponent) return static_cast<std::int64_t>(value);
  return value;
}

/// An entry of the job, or one that the mixing rules make.
struct Row {
  Json written;      // as in the job
  std::string path;  // "pairs[0]"; of a mixed one "mixing"
  std::string key;   // of the type of dihedral
  LibraryEntry entry;
  Values values;
};

class Writer {
 public:
  Writer(const Potential& potential, const Json& settings, const CatalogueRow::Report& report)
      : potential_(potential), settings_(settings), report_(report) {}

  std::optional<WrittenOut> write() {
    read_rows();
    if (!good_) return {};
    fix_exponents();
    mix();
    if (of_pairs() && good_) end_pairs();
    check_energy();
    if (!good_) return {};
    return WrittenOut{std::make_shared<const Json>(formula_settings()),
                      std::make_shared<const Json>(record())};
  }

 private:
  bool of_pairs() const { return potential_.type == "pair_formula"; }
  void wrong(const std::string& key, const std::string& what) {
    good_ = false;
    report_(key, what);
  }

  void read_rows() {
    const std::string list = list_of(potential_.type);
    const auto it = settings_.find(list);
    const bool right = it != settings_.end() && (of_pairs() ? it->is_array() : it->is_object());
    if (!right)
      return wrong(list, fmt::format("must be {} with the parameters of {}, got {}",
                                     of_pairs() ? "a list" : "an object", potential_.name,
                                     it == settings_.end() ? "nothing" : shown(*it)));
    if (of_pairs())
      for (std::size_t k = 0; k < it->size(); ++k) read_row((*it)[k], join_path(list, k), "");
    else
      for (const auto& [key, entry] : it->items()) read_row(entry, join_path(list, key), key);
  }

  void read_row(const Json& written, const std::string& path, const std::string& key) {
    Row row{written, path, key, LibraryEntry(potential_), {}};
    if (read(row, [&](const std::string& where, const std::string& what) { wrong(where, what); }))
      rows_.push_back(std::move(row));
  }

  /// Fills in what is written; reports what is wrong with it.
  bool read(Row& row, const SettingsParser::Report& report) const {
    bool fine = true;
    const auto note = [&](const std::string& where, const std::string& what) {
      fine = false;
      report(where, fmt::format("{} (perrin help {})", what, potential_.name));
    };
    const Catalogue none("");
    SettingsParser(none, note).parse(row.written, row.path, row.entry);
    if (!fine) return false;
    row.values = row.entry.values();
    for (const Parameter& p : potential_.parameters)
      if (!p.above.empty() && !(row.values.at(p.name) > row.values.at(p.above)))
        note(join_path(row.path, p.name),
             fmt::format("must be above {} ({}), got {}", p.above, row.values.at(p.above),
                         row.values.at(p.name)));
    return fine;
  }

  bool same_everywhere(const std::string& parameter) const {
    return std::ranges::all_of(rows_, [&](const Row& row) {
      return row.values.at(parameter) == rows_[0].values.at(parameter);
    });
  }

  /// Exponents that all entries share are numbers of the formula.
  void fix_exponents() {
    energy_ = potential_.energy;
    if (rows_.empty()) return;
    for (const Parameter& p : potential_.parameters)
      if (p.kind != Parameter::Kind::real && same_everywhere(p.name))
        energy_ += fmt::format("; {} = {}", p.name, rows_[0].values.at(p.name));
  }

  /// Pairs of unlike types that the job leaves to mixing, written out.
  void mix() {
    const auto mixing = settings_.find("mixing");
    if (mixing == settings_.end() || mixing->is_null() || *mixing == "none") return;
    if (!mixing->is_object())
      return wrong("mixing", fmt::format("must give \"geometric\" or \"arithmetic\" for parameters "
                                         "of {}, as in {{\"epsilon\": \"geometric\"}}, got {}",
                                         potential_.name, shown(*mixing)));
    std::vector<std::string> names;
    for (const Parameter& p : potential_.parameters) {
      names.push_back(p.name);
      if (!mixing->contains(p.name) && !rows_.empty() && !same_everywhere(p.name))
        wrong("mixing",
              fmt::format("the parameter \"{}\" of {} is missing: geometric or arithmetic", p.name,
                          potential_.name));
    }
    for (const auto& [name, rule] : mixing->items())
      if (std::ranges::count(names, name) == 0)
        wrong(join_path("mixing", name),
              fmt::format("is not a parameter of {}; {}", potential_.name, suggest(name, names)));
      else if (rule != "geometric" && rule != "arithmetic")
        wrong(join_path("mixing", name),
              fmt::format("must be geometric or arithmetic, got {}", shown(rule)));
    if (!good_) return;
    std::vector<Row> like;
    std::set<std::pair<std::string, std::string>> listed;
    for (const Row& row : rows_) {
      const auto& [a, b] = row.entry.types;
      if (a == b) like.push_back(row);
      listed.insert({a, b}), listed.insert({b, a});
    }
    constexpr std::size_t most_types = 256;  // that a system can have
    if (like.size() > most_types)
      return wrong("mixing",
                   fmt::format("is for at most {} types, got {}", most_types, like.size()));
    for (std::size_t i = 0; i < like.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (listed.insert({like[i].entry.types[0], like[j].entry.types[0]}).second)
          add_mixed(like[i], like[j]);
  }

  void add_mixed(const Row& a, const Row& b) {
    Row row{{{"types", {a.entry.types[0], b.entry.types[0]}}},
            "mixing",
            "",
            LibraryEntry(potential_),
            {}};
    for (const Parameter& p : potential_.parameters) {
      const double x = a.values.at(p.name), y = b.values.at(p.name);
      const bool geometric = settings_["mixing"].value(p.name, "") == "geometric";
      row.written[p.name] = x == y ? x : geometric ? std::sqrt(x * y) : (x + y) / 2;
    }
    const auto about = [&](const std::string&, const std::string& what) {
      wrong("mixing",
            fmt::format("of the pair {}, {}: {}", a.entry.types[0], b.entry.types[0], what));
    };
    if (read(row, about)) rows_.push_back(std::move(row));
  }

  /// Cut-offs where the potential ends by itself; reports what would have no effect, as
  /// check_ends() of forces/pair_checks.h does.
  void end_pairs() {
    if (potential_.range.empty()) return;
    constexpr double rounding = 1.001;
    const auto common = settings_.find("cutoff");
    const bool asked = common != settings_.end() && common->is_number() &&
                       common->get<double>() > 0;  // else what is wrong with it is told later
    bool acts = false, at_ends = true;
    double last = 0;
    for (Row& row : rows_) {
      const double end = potential_.value_of(potential_.range, row.values);
      last = std::max(last, end);
      const auto own = row.entry.cutoff;
      if (own && *own > rounding * end)
        wrong(
            join_path(row.path, "cutoff"),
            fmt::format(
                "must be at most {:.6g}, the range of {}, got {:.6g}: it has no effect; remove it",
                end, potential_.name, *own));
      const double cutoff = own ? *own : asked ? common->get<double>() : end;
      acts = acts || (!own && asked && cutoff <= rounding * end);
      at_ends = at_ends && cutoff >= end;
      row.entry.cutoff = std::min(cutoff, end);
    }
    const bool all_own =
        std::ranges::all_of(rows_, [](const Row& row) { return row.written.contains("cutoff"); });
    if (asked && !acts && !all_own)
      wrong("cutoff",
            fmt::format(
                "must be at most {:.6g}, the range of {}, got {:.6g}: it has no effect; remove it",
                last, potential_.name, common->get<double>()));
    const Json truncation = settings_.value("truncation", Json("cut"));
    if (potential_.smooth && at_ends &&
        (truncation == "energy_shift" || truncation == "force_shift"))
      wrong("truncation",
            fmt::format("{} has no effect: energy and force of {} are 0 at its range; remove it",
                        truncation.dump(), potential_.name));
  }

  /// A record has the formula beside the name.
  void check_energy() {
    const auto energy = settings_.find("energy");
    if (energy == settings_.end() || energy->is_null() || *energy == energy_) return;
    wrong("energy", fmt::format("is given beside \"potential\", and is not that of {}, {}: remove "
                                "one of them; got {}",
                                potential_.name, energy_, shown(*energy)));
  }

  /// All that is said of an entry, in the order of the table.
  Json entry_of(const Row& row, const std::vector<std::string>& names) const {
    Json entry = Json::object();
    if (of_pairs()) entry["types"] = row.entry.types;
    for (const Parameter& p : potential_.parameters)
      if (std::ranges::count(names, p.name) > 0)
        entry[p.name] = number_of(p, row.values.at(p.name));
    if (row.entry.cutoff) entry["cutoff"] = *row.entry.cutoff;
    return entry;
  }

  Json entries(const std::vector<std::string>& names, bool mixed) const {
    Json list = of_pairs() ? Json::array() : Json::object();
    for (const Row& row : rows_) {
      if (row.path == "mixing" && !mixed) continue;
      if (of_pairs())
        list.push_back(entry_of(row, names));
      else
        list[row.key] = entry_of(row, names);
    }
    return list;
  }

  Json formula_settings() const {
    Json made = settings_;
    made.erase("potential"), made.erase("mixing");
    made["energy"] = energy_;
    const auto names = parse(energy_, variables_of(potential_.type)).parameters;
    made[list_of(potential_.type)] = entries(names, true);
    return made;
  }

  Json record() const {
    Json made = Json::object();
    for (const auto& [key, value] : settings_.items()) {
      if (key == "energy") continue;
      made[key] = value;
      if (key == "potential") made["energy"] = energy_;
    }
    std::vector<std::string> names;
    for (const Parameter& p : potential_.parameters) names.push_back(p.name);
    made[list_of(potential_.type)] = entries(names, false);
    return made;
  }

  const Potential& potential_;
  const Json& settings_;
  const CatalogueRow::Report& report_;
  bool good_ = true;
  std::vector<Row> rows_;
  std::string energy_;
};

/// Text in lines of at most 96 columns behind four blanks.
std::string wrapped(const std::string& text) {
  std::string lines, line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + word.size() > 91) lines += "    " + line + "\n", line = "";
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines + "    " + line + "\n";
}

Json values_of(const Potential& p, const Values& values) {
  Json object = Json::object();
  for (const Parameter& q : p.parameters)
    if (values.contains(q.name)) object[q.name] = number_of(q, values.at(q.name));
  return object;
}

std::string text_of(const Potential& p) {
  std::string text = "  energy\n";
  for (std::size_t at = 0; at < p.energy.size();) {  // a definition to a line
    const std::size_t end = std::min(p.energy.find("; ", at), p.energy.size());
    text += wrapped(p.energy.substr(at, end + 1 - at));
    at = end + 2;
  }
  const std::string variable = variables_of(p.type)[0];
  if (!p.from.empty()) text += fmt::format("  from\n    {} > {}\n", variable, p.from);
  if (!p.range.empty())
    text += "  range\n" + wrapped(p.range + (p.smooth ? ": energy and force are zero there, the "
                                                        "cut-off where the job gives none"
                                                      : ": the energy is zero there, the cut-off "
                                                        "where the job gives none"));
  if (!p.note.empty()) text += "  note\n" + wrapped(p.note);
  text += "  source\n" + wrapped(p.source) + "  parameter sets\n";
  for (const Sample& s : p.samples)
    text += wrapped(fmt::format("{}: {}", s.of, values_of(p, s.values).dump(-1, ' ')));
  return text;
}

/// The first sample, with a cut-off behind the distances that it is known at.
std::string example_of(const Potential& p) {
  const Sample& sample = p.samples.front();
  Json entry = Json::object(), made = {{"type", p.type}, {"potential", p.name}};
  if (p.type == "pair_formula") entry["types"] = {"A", "A"};
  entry.update(values_of(p, sample.values));
  if (p.type != "pair_formula") {
    const std::string list = list_of(p.type);
    made[list] = {{list.substr(0, list.size() - 1), entry}};
    return made.dump();
  }
  double last = 0;
  for (const Number& n : sample.numbers) last = std::max(last, n.at);
  if (p.range.empty()) made["cutoff"] = std::ceil(25 * last) / 10;
  made["pairs"] = Json::array({entry});
  return made.dump();
}

}  // namespace

std::optional<WrittenOut> write_out(const std::string& type, const Json& settings,
                                    const CatalogueRow::Report& report) {
  const Json& name = settings.at("potential");
  if (!name.is_string()) {
    report("potential", fmt::format("must be text, got {}", shown(name)));
    return {};
  }
  const Potential* const found = find_potential(name.get<std::string>());
  if (found && found->type == type) return Writer(*found, settings, report).write();
  report("potential", found ? fmt::format("\"{}\" is a potential of {}, not of {}", found->name,
                                          found->type, type)
                            : fmt::format("unknown potential {}; {}", shown(name),
                                          suggest(name.get<std::string>(), potential_names(type))));
  return {};
}

std::vector<Variant> potential_variants(const std::string& type) {
  std::vector<Variant> list;
  for (const Potential& p : potentials()) {
    if (p.type != type) continue;
    const auto entry = std::make_shared<LibraryEntry>(p);
    list.push_back({"potential", p.name, p.title, text_of(p), list_of(type), type != "pair_formula",
                    [entry](Fields& fields) { describe(fields, *entry); }, example_of(p)});
  }
  return list;
}

}  // namespace perrin::formula
