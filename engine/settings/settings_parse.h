// From JSON to settings structs, collecting every mistake.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/settings/catalogue.h"
#include "engine/settings/json_file.h"
#include "engine/settings/settings.h"

namespace perrin {

class SettingsParser {
 public:
  using Report = std::function<void(const std::string& path, const std::string& what)>;
  /// `report`: mistakes. `note`: keys and values of earlier versions that are taken all the same.
  SettingsParser(
      const Catalogue& registry, Report report,
      Report note = [](const std::string&, const std::string&) {})
      : registry_(registry), report_(std::move(report)), note_(std::move(note)) {}

  /// What text in place of a number says: its value; throws UserError. Without it text is a mistake
  /// there.
  using Compute = std::function<double(const std::string& text)>;
  void compute_with(Compute compute) { compute_ = std::move(compute); }

  /// Fills a struct that has a describe; reports wrong, missing and unknown keys. What takes a
  /// compiler waits for generate().
  template <class Settings>
  void parse(const Json& value, const std::string& path, Settings& settings) {
    parse_value(value, path, value_type<Settings>(), Any{}, &settings);
  }
  /// Makes the types that parse() has found and that are made for what the job says of them
  /// (formulas); what was parsed must still be there. only_check: reports what is wrong with them
  /// and makes none.
  void generate(bool only_check);
  /// A component: an object whose "type" names a row of this kind.
  ComponentSettings parse_component(const std::string& kind, const Json& value,
                                    const std::string& path);
  /// Lists of a number for each axis that had two entries: right in two dimensions only, where the
  /// third is what it is without the key.
  const std::vector<std::string>& planar() const { return planar_; }
  /// Who brings the components seen so far: "built-in", names of plug-ins.
  const std::set<std::string>& providers() const { return providers_; }

 private:
  void parse_value(const Json& value, const std::string& path, const ValueType& type,
                   const Check& check, void* target);
  void parse_fields(const Json& value, const std::string& path, const Fields& fields,
                    bool component);
  void parse_gone_key(const Json& value, const std::string& path, const GoneKey& gone);
  void parse_list(const Json& value, const std::string& path, const ValueType& type,
                  const Check& check, void* target);
  void parse_integer(const Json& value, const std::string& path, const ValueType& type,
                     const Check& check, void* target);
  void parse_formula(const std::string& text, const std::string& path, const ValueType& type,
                     const Check& check, void* target);
  bool check_number(double value, const Json& shown_as, const std::string& path,
                    const Check& check);

  struct Postponed {
    const char* kind;
    const Json* value;
    std::string path;
    ComponentSettings* target;
  };

  const Catalogue& registry_;
  Report report_, note_;
  Compute compute_;
  std::vector<Postponed> postponed_;
  std::set<std::string> providers_;
  std::vector<std::string> planar_;
};

/// Whether a type is to be made for the settings that are being read; else they are checked alone.
bool generates_types();

/// A list of a number, or true or false, for each axis?
bool has_axes(const ValueType& type);

/// What a value of this type and check must be: "a positive number".
std::string expectation(const ValueType& type, const Check& check);

}  // namespace perrin
