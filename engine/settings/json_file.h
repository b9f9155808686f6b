// JSON with comments, and the line where each value stands.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/settings/problems.h"
#include "engine/settings/settings.h"

namespace perrin {

/// The line of a value (of its key, where it has one; 0: --set put it there) and of what is in it,
/// in its order: a few bytes a value, however long its path is.
struct JsonLines {
  int line = 0;
  std::unique_ptr<std::vector<JsonLines>> parts;

  JsonLines() = default;
  explicit JsonLines(int at) : line(at) {}
  JsonLines(const JsonLines& other);
  JsonLines(JsonLines&&) noexcept = default;
  JsonLines& operator=(JsonLines other) noexcept;
  JsonLines& add(int at);
};

class JsonFile {
 public:
  /// Throws UserError: file missing or unreadable, no text in UTF-8, or `job.json:12:5: …` where
  /// the text is no JSON (comments // and /* */ are allowed); a key given twice is an error too.
  static JsonFile read(const std::filesystem::path& path);
  /// `name` appears in messages.
  static JsonFile parse(const std::string& text, const std::string& name);

  const Json& value() const { return value_; }
  const std::string& name() const { return name_; }
  /// Applies `path=value` of the command line, e.g. "stages[0].steps=1000": the value is JSON, or
  /// text where it is not. New keys may be added, and the entry behind the last of a list.
  /// Throws UserError.
  void set(const std::string& assignment);
  /// Forgets a key of the top level.
  void remove(const std::string& key);
  /// Who says what set() does, in messages; "--set" unless told otherwise.
  void name_changes(const std::string& name) { changes_ = name; }
  /// The line of the value at a path or of the nearest value around it; 0 where set() put it.
  int line(const std::string& path) const;
  /// "job.json:14", or who called set().
  std::string place(const std::string& path) const;
  Problem problem(const std::string& path, const std::string& what) const;

 private:
  friend class LineBuilder;
  Json value_;
  std::string name_, changes_ = "--set";
  JsonLines lines_;
};

/// The value at a path such as "stages[0].steps"; nullptr where there is none.
Json* at_path(Json& value, const std::string& path);
/// `path=value` with its path in the one spelling of join_path(), lists counted from their
/// beginnings: "stages[-1].steps=5" and "stages[02].steps=5" as "stages[2].steps=5". Throws
/// UserError where a list has fewer; what is no path stays as it is.
std::string from_start(const Json& job, const std::string& assignment);
/// A value for a message, shortened: `text "abc"`, `-2.5`, `a list`.
std::string shown(const Json& value);

}  // namespace perrin
