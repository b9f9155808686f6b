// The types of components that a job can name, as far as settings go: what a parser, help and the
// schema ask.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin {

class Setup;

/// A type of component that was made for the settings of one (a force from a formula).
struct GeneratedType {
  std::string type;
  std::string plugin;                            // path of the plug-in that has it
  std::shared_ptr<const Json> settings;          // for this type, without what went into its code
  std::shared_ptr<const Json> record = nullptr;  // for output files; none: what the job says
};

/// A value of a key that brings settings of its own: the name of a potential.
struct Variant {
  std::string key, name;
  std::string help;                       // one line
  std::string text;                       // all else for perrin help: lines
  std::string list;                       // the key whose entries have its settings
  bool by_name = false;                   // that key is an object, not a list
  std::function<void(Fields&)> describe;  // one entry
  std::string example;                    // of the whole component, as JSON
};

/// One type of component.
struct CatalogueRow {
  std::string kind;      // component_kind: "force", …
  std::string type;      // the name in a job
  std::string help;      // one line
  std::string provider;  // "built-in" or the plug-in's name
  const ValueType* settings;
  /// Makes the component (a Component* of this kind, owned by the caller); nullptr after an error.
  std::function<void*(const void* settings, Setup&)> make;
  /// Where it is set, other settings need other code: makes the type for these (an object), or
  /// reports what is wrong with a key and returns nothing. `settings` and `make` above are for help
  /// and schema.
  using Report = std::function<void(const std::string& key, const std::string& what)>;
  std::function<std::optional<GeneratedType>(const Json& settings, const Report&)> generate = {};
  bool generated = false;  // made for the settings of one: not listed
  std::vector<Variant> variants = {};
};

class Catalogue {
 public:
  explicit Catalogue(std::string provider) : provider_(std::move(provider)) {}
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  /// nullptr where there is none. An unknown type makes the catalogue ask `discover` once for more.
  const CatalogueRow* find(const std::string& kind, const std::string& type) const;
  /// All of a kind in order of registration but generated ones; every kind where it is empty.
  std::vector<const CatalogueRow*> rows(const std::string& kind = "") const;
  /// " (did you mean …?)", or the list of the types of this kind.
  std::string suggestion(const std::string& kind, const std::string& type) const;

  /// Takes over the rows of a plug-in, all or none. Throws UserError naming both sides of a clash.
  void merge(Catalogue&& staged);
  /// Called once, when a type is looked for that is not there: loads the plug-ins that can be
  /// found.
  void on_unknown_type(std::function<void()> discover) { discover_ = std::move(discover); }
  void discover() const;
  /// Called with the plug-in of a generated type: loads it.
  void on_generated(std::function<void(const std::string& plugin)> load) {
    load_generated_ = std::move(load);
  }
  /// Its row. Throws UserError where the plug-in cannot be loaded.
  const CatalogueRow* find_generated(const std::string& kind, const GeneratedType& made) const;
  /// Of the row that was added last.
  void generate_with(
      std::function<std::optional<GeneratedType>(const Json&, const CatalogueRow::Report&)> make) {
    rows_.back()->generate = std::move(make);
  }
  /// Of the row that was added last.
  void vary_with(std::vector<Variant> variants) { rows_.back()->variants = std::move(variants); }

 protected:
  /// Throws BugError where the type exists already.
  void add_row(CatalogueRow row);
  const std::string& provider() const { return provider_; }

 private:
  std::string provider_;
  std::vector<std::unique_ptr<CatalogueRow>> rows_;
  mutable std::function<void()> discover_;
  std::function<void(const std::string&)> load_generated_;
};

}  // namespace perrin
