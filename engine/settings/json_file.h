// JSON with comments, and the line where each value stands.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/settings/problems.h"
#include "engine/settings/settings.h"

namespace perrin {

class JsonFile {
 public:
  /// Throws UserError: file missing or unreadable, or `job.json:12:5: …` where the text is no JSON
  /// (comments // and /* */ are allowed); a key given twice is an error too.
  static JsonFile read(const std::filesystem::path& path);
  /// `name` appears in messages.
  static JsonFile parse(const std::string& text, const std::string& name);

  const Json& value() const { return value_; }
  const std::string& name() const { return name_; }
  /// Applies `path=value` of the command line, e.g. "stages[0].steps=1000": the value is JSON, or
  /// text where it is not. New keys may be added, and the entry behind the last of a list.
  /// Throws UserError.
  void set(const std::string& assignment);
  /// The line of the value at a path or of the nearest value around it; 0 where --set put it.
  int line(const std::string& path) const;
  /// "job.json:14", or "--set".
  std::string place(const std::string& path) const;
  Problem problem(const std::string& path, const std::string& what) const;

 private:
  friend class LineBuilder;
  Json value_;
  std::string name_;
  std::map<std::string, int> lines_;  // by path; of the key of a member, of the value of an entry
};

/// A value for a message, shortened: `text "abc"`, `-2.5`, `a list`.
std::string shown(const Json& value);

}  // namespace perrin
