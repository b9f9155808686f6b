#include "engine/settings/json_file.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "engine/base/error.h"

namespace perrin {
/// How many characters the parser has taken, and the line they end on.
struct Reading {
  const char* begin;
  const char* position;
};

namespace {

/// An input iterator that tells how far it has come.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Reading* reading) : at_(at), reading_(reading) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    reading_->position = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ != b.at_;
  }

 private:
  const char* at_;
  Reading* reading_;
};

/// Deeper than any job; writing a value out takes some stack for every level.
constexpr int deepest = 64;

/// UTF-8 as it is, or with what is none replaced, for messages.
std::string readable(const std::string& text) {
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

std::string shortened(const std::string& text) {
  return text.size() > 200 ? text.substr(0, 197) + "…" : text;
}

bool is_utf8(const std::string& text) {
  try {
    return !Json(text).dump().empty();  // strict
  } catch (const Json::type_error&) {
    return false;
  }
}

/// "line:column" of a position, both from 1.
std::string line_and_column(const std::string& text, std::size_t position) {
  int line = 1, column = 1;
  for (std::size_t i = 0; i < std::min(position, text.size()); ++i) {
    if (text[i] == '\n')
      ++line, column = 1;
    else
      ++column;
  }
  return fmt::format("{}:{}", line, column);
}

/// nlohmann's message without its own place and number.
std::string cleaned(std::string message) {
  if (const auto end = message.find("] ");
      message.rfind("[json.exception", 0) == 0 && end != std::string::npos)
    message.erase(0, end + 2);
  if (message.rfind("parse error at", 0) == 0) {
    if (const auto colon = message.find(": "); colon != std::string::npos)
      message.erase(0, colon + 2);
  }
  return message;
}

/// What the parser's words mean most often, or nothing. `at`: behind the character that it refused.
std::string hint(const std::string& what, const std::string& text, std::size_t at) {
  const auto begins = [&](const char* words) { return what.find(words) != std::string::npos; };
  if (at == 0 || at > text.size()) return "";
  std::size_t before = at - 1;
  while (before > 0 && std::isspace(static_cast<unsigned char>(text[before - 1]))) --before;
  const char last = before > 0 ? text[before - 1] : '\0', here = text[at - 1];
  if ((begins("unexpected ']'") || begins("unexpected '}'")) && last == ',')
    return fmt::format("trailing comma before the {}: remove it", here);
  if (here == '\'') return "text must be in double quotes";
  const bool value = begins("unexpected string") || begins("unexpected number") ||
                     begins("unexpected '['") || begins("unexpected '{'") ||
                     begins("unexpected true literal") || begins("unexpected false literal");
  if (value && (begins("expected ']'") || begins("expected '}'")))
    return "a comma may be missing before this";
  if (begins("expected ':'")) return "a colon is missing between a key and its value";
  if (begins("invalid literal") && std::isalpha(static_cast<unsigned char>(here)))
    return "text must be in double quotes; other values are numbers, true, false and null";
  return "";
}

/// Throws for bytes that are no text in UTF-8, in words that say what they probably are.
void check_encoding(const std::string& text, const std::string& name) {
  const auto begins = [&](std::string_view bytes) { return text.starts_with(bytes); };
  if (begins("\x89HDF\r\n\x1a\n"))
    throw UserError(
        fmt::format("{0}: is an HDF5 file, not a job: perrin resume {0} continues a run from its "
                    "checkpoint; an output file holds its job as text",
                    name));
  using std::string_view_literals::operator""sv;
  const bool wide = begins("\xff\xfe"sv) || begins("\xfe\xff"sv) || begins("\0\0\xfe\xff"sv) ||
                    (text.size() > 1 && (text[0] == '\0') != (text[1] == '\0'));
  if (wide)
    throw UserError(
        fmt::format("{0}: is text in UTF-16 or UTF-32, expected UTF-8: save it as UTF-8 "
                    "(iconv -f UTF-16 -t UTF-8 {0} > new.json)",
                    name));
  if (text.substr(0, 4096).find('\0') != std::string::npos)
    throw UserError(fmt::format(
        "{}: is not a text file (it has bytes that are 0), expected a job in JSON", name));
}

}  // namespace

JsonLines::JsonLines(const JsonLines& other)
    : line(other.line),
      parts(other.parts ? std::make_unique<std::vector<JsonLines>>(*other.parts) : nullptr) {}

JsonLines& JsonLines::operator=(JsonLines other) noexcept {
  line = other.line;
  parts = std::move(other.parts);
  return *this;
}

JsonLines& JsonLines::add(int at) {
  if (!parts) parts = std::make_unique<std::vector<JsonLines>>();
  return parts->emplace_back(at);
}

/// Builds the value and notes lines: the receiver of the parser's events.
class LineBuilder : public nlohmann::json_sax<Json> {
 public:
  LineBuilder(JsonFile& file, const std::string& text, Reading& reading)
      : file_(file), text_(text), reading_(reading), counted_(reading.begin) {}

  bool null() override { return add(nullptr, 0); }
  bool boolean(bool v) override { return add(v, 0); }
  // A number ends where the next character cannot belong to it: the parser has read that one too.
  bool number_integer(number_integer_t v) override { return add(v, 1); }
  bool number_unsigned(number_unsigned_t v) override { return add(v, 1); }
  bool number_float(number_float_t v, const string_t&) override { return add(v, 1); }
  bool string(string_t& v) override { return add(std::move(v), 0); }
  bool binary(binary_t&) override { return false; }

  bool key(string_t& k) override {
    Open& object = stack_.back();
    object.key_line = line(0);
    if (!object.keys.insert(k).second && problems_.admit(k, fmt::to_string(object.key_line)))
      problems_.add({fmt::format("{}:{}", file_.name_, object.key_line), object.key_line,
                     path_to(k), "this key is given twice"});
    object.key = std::move(k);
    return true;
  }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return stack_.pop_back(), true; }
  bool end_array() override { return stack_.pop_back(), true; }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    const auto at = static_cast<std::size_t>(reading_.position - reading_.begin);
    std::string what = cleaned(e.what());
    if (what.find("number overflow") != std::string::npos) what = "this number is too large";
    const bool at_end = what.find("unexpected end of input") != std::string::npos;
    if (const std::string means = at_end ? "" : hint(what, text_, at); !means.empty())
      what = fmt::format("{} ({})", means, what);
    throw UserError(fmt::format("{}:{}: {}", file_.name_,
                                line_and_column(text_, at == 0 || at_end ? at : at - 1),
                                shortened(what)));
  }

  void finish() const { problems_.throw_if_any(); }

 private:
  /// An object or a list whose end has not come.
  struct Open {
    Json* value;
    JsonLines* lines;
    std::string key = {};  // of an object: the last one
    int key_line = 0;
    std::unordered_set<std::string> keys = {};
  };

  int line(int read_ahead) {
    const char* end = std::max(counted_, reading_.position - read_ahead);
    for (; counted_ != end; ++counted_)
      if (*counted_ == '\n') ++line_;
    return line_;
  }

  std::string path_to(const std::string& key) const {
    std::string path;
    for (std::size_t k = 0; k + 1 < stack_.size(); ++k) {
      const Json& value = *stack_[k].value;
      path = value.is_array() ? join_path(path, value.size() - 1) : join_path(path, stack_[k].key);
    }
    return join_path(path, key);
  }

  /// Puts a value where the parser stands.
  Open put(Json value, int read_ahead) {
    const int at = line(read_ahead);
    if (stack_.empty()) {
      file_.value_ = std::move(value);
      file_.lines_ = JsonLines(at);
      return {&file_.value_, &file_.lines_};
    }
    Open& parent = stack_.back();
    if (parent.value->is_array()) {
      parent.value->push_back(std::move(value));
      return {&parent.value->back(), &parent.lines->add(at)};
    }
    // Not by operator[], which looks through all keys before.
    auto& members = parent.value->get_ref<Json::object_t&>();
    members.emplace_back(parent.key, std::move(value));
    return {&members.back().second, &parent.lines->add(parent.key_line)};
  }
  bool add(Json value, int read_ahead) { return put(std::move(value), read_ahead), true; }
  bool open(Json value) {
    stack_.push_back(put(std::move(value), 0));
    if (int(stack_.size()) > deepest)
      throw UserError(fmt::format("{}:{}: lists and objects are nested more than {} levels deep",
                                  file_.name_, line(0), deepest));
    return true;
  }

  JsonFile& file_;
  const std::string& text_;
  Reading& reading_;
  const char* counted_;
  int line_ = 1;
  std::vector<Open> stack_;
  Problems problems_;
};

JsonFile JsonFile::parse(const std::string& text, const std::string& name) {
  check_encoding(text, name);
  JsonFile file;
  file.name_ = name;
  Reading reading{text.data(), text.data()};
  LineBuilder builder(file, text, reading);
  Json::sax_parse(CountingIterator(text.data(), &reading),
                  CountingIterator(text.data() + text.size(), &reading), &builder,
                  nlohmann::detail::input_format_t::json, true, true);
  builder.finish();
  return file;
}

JsonFile JsonFile::read(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UserError(fmt::format("{}: is a folder, not a job file{}", path.string(),
                                std::filesystem::exists(path / "job.json", ignored)
                                    ? "; did you mean " + (path / "job.json").string() + "?"
                                    : ""));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in)
    throw UserError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  return parse(text.str(), path.string());
}

namespace {

/// One step of a path: a key or an index.
struct Step {
  std::string key;
  std::size_t index = 0;
  bool is_index = false;
};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// "stages[0].steps", with ["…"] for keys that are no plain words; of a path that is none, what
/// comes before its mistake.
struct Steps {
  std::vector<Step> list;
  bool good = true;
};

Steps steps_of(const std::string& path) {
  Steps steps;
  const auto wrong = [&]() -> Steps { return {std::move(steps.list), false}; };
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '[') {
      const auto end = path.find(path.compare(i, 2, "[\"") == 0 ? "\"]" : "]", i + 1);
      if (end == std::string::npos) return wrong();
      Step step;
      if (path[i + 1] == '"') {
        step.key = path.substr(i + 2, end - i - 2);
        i = end + 2;
      } else {
        const std::string digits = path.substr(i + 1, end - i - 1);
        if (!is_number(digits) || digits.size() > 9) return wrong();
        step.index = std::stoul(digits), step.is_index = true;
        i = end + 1;
      }
      steps.list.push_back(step);
    } else {
      if (path[i] == '.' && steps.list.empty()) return wrong();
      if (path[i] == '.')
        ++i;
      else if (!steps.list.empty())
        return wrong();
      const auto end = std::min(path.find_first_of(".[", i), path.size());
      if (end == i) return wrong();
      steps.list.push_back({path.substr(i, end - i), 0, false});
      i = end;
    }
  }
  return steps;
}

/// Where a step leads within a value: its number among the members or entries, or nothing.
std::optional<std::size_t> number_of(const Json& value, const Step& step) {
  if (step.is_index)
    return value.is_array() && step.index < value.size() ? std::optional(step.index) : std::nullopt;
  if (!value.is_object()) return {};
  const auto& members = value.get_ref<const Json::object_t&>();
  for (std::size_t k = 0; k < members.size(); ++k)
    if ((members.begin() + std::ptrdiff_t(k))->first == step.key) return k;
  return {};
}

const Json& part_of(const Json& value, std::size_t number) {
  if (value.is_array()) return value[number];
  const auto& members = value.get_ref<const Json::object_t&>();
  return (members.begin() + std::ptrdiff_t(number))->second;
}

/// The lines of one part of a value; nullptr where they are those of the value itself.
JsonLines* part_of(JsonLines* lines, std::size_t number) {
  return lines && lines->parts && number < lines->parts->size() ? &(*lines->parts)[number]
                                                                : nullptr;
}

}  // namespace

Json* at_path(Json& value, const std::string& path) {
  const Steps steps = steps_of(path);
  Json* at = &value;
  for (const Step& step : steps.list) {
    const auto number = number_of(*at, step);
    if (!number) return nullptr;
    at = const_cast<Json*>(&part_of(*at, *number));
  }
  return steps.good ? at : nullptr;
}

namespace {

/// A path as join_path() writes it; of what is none, the same text.
std::string one_spelling(const std::string& path) {
  const auto [steps, good] = steps_of(path);
  if (!good) return path;
  std::string made;
  for (const Step& step : steps)
    made = step.is_index ? join_path(made, step.index) : join_path(made, step.key);
  return made;
}

}  // namespace

std::string from_start(const Json& job, const std::string& assignment) {
  const std::size_t end = std::min(assignment.find('='), assignment.size());
  std::string made;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = assignment.find("[-", at)) < end;) {
    const std::size_t close = std::min(assignment.find(']', at), end);
    const std::string digits = assignment.substr(at + 2, close - at - 2);
    made += assignment.substr(done, at - done);
    done = at;
    const Json* const list = at_path(const_cast<Json&>(job), made);  // it only looks
    if (close == end || !is_number(digits) || digits.size() > 9 || !list || !list->is_array())
      break;
    const std::size_t back = std::stoul(digits), size = list->size();
    if (back < 1 || back > size)
      throw UserError(fmt::format("--set {}: {} has {} entr{}: expected [-{}] to [{}]",
                                  shortened(readable(assignment)), made, size,
                                  size == 1 ? "y" : "ies", size, size));
    made += fmt::format("[{}]", size - back);
    at = done = close + 1;
  }
  return one_spelling(made + assignment.substr(done, end - done)) + assignment.substr(end);
}

void JsonFile::set(const std::string& assignment) {
  const auto fail = [&](const std::string& what) {
    throw UserError(fmt::format("--set {}: {}", shortened(readable(assignment)), what));
  };
  if (!is_utf8(assignment)) fail("is not valid UTF-8");
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    fail("expected path=value, e.g. stages[0].steps=1000");
  const auto [steps, good] = steps_of(assignment.substr(0, equals));
  if (steps.empty() || !good) fail("the path must look like stages[0].steps or stages[-1].steps");
  const std::string text = assignment.substr(equals + 1);

  Json* at = &value_;
  JsonLines* lines = &lines_;
  std::string path;
  for (const Step& step : steps) {
    const std::string here = path.empty() ? "the job" : path;
    const bool was_null = at->is_null();
    if (step.is_index) {
      if (was_null) *at = Json::array();
      if (!at->is_array()) fail(fmt::format("{} is not a list", here));
      if (step.index > at->size())
        fail(fmt::format("{} has {} entr{}; {}[{}] appends one", here, at->size(),
                         at->size() == 1 ? "y" : "ies", here, at->size()));
    } else {
      if (was_null) *at = Json::object();
      if (at->is_array())
        fail(fmt::format("{} is a list: name its entries by index, such as {}[{}]", here, here,
                         is_number(step.key) ? step.key : "0"));
      if (!at->is_object()) fail(fmt::format("{} has no keys", here));
    }
    const auto known = number_of(*at, step);
    if (!known && lines && (at->empty() || lines->parts)) lines->add(0);
    lines = part_of(lines, known.value_or(at->size()));
    if (step.is_index) {
      if (!known) at->push_back(nullptr);
      at = &(*at)[step.index];
      path = join_path(path, step.index);
    } else {
      at = &(*at)[step.key];
      path = join_path(path, step.key);
    }
  }
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  Json value = Json::parse(text, watch, false);
  if (too_deep)
    fail(fmt::format("lists and objects would be nested more than {} levels deep", deepest));
  *at = value.is_discarded() ? Json(text) : std::move(value);
  if (lines) *lines = JsonLines(0);
}

void JsonFile::remove(const std::string& key) {
  const auto at = value_.find(key);
  if (at == value_.end()) return;
  const std::ptrdiff_t number = std::distance(value_.begin(), at);
  if (lines_.parts && number < std::ptrdiff_t(lines_.parts->size()))
    lines_.parts->erase(lines_.parts->begin() + number);
  value_.erase(at);
}

int JsonFile::line(const std::string& path) const {
  const Json* at = &value_;
  auto* lines = const_cast<JsonLines*>(&lines_);  // part_of() only looks
  for (const Step& step : steps_of(path).list) {
    const auto number = number_of(*at, step);
    JsonLines* const part = number ? part_of(lines, *number) : nullptr;
    if (!part) break;
    at = &part_of(*at, *number), lines = part;
  }
  return lines->line;
}

std::string JsonFile::place(const std::string& path) const {
  const int at = line(path);
  return at == 0 ? changes_ : fmt::format("{}:{}", name_, at);
}

Problem JsonFile::problem(const std::string& path, const std::string& what) const {
  return {place(path), line(path), path, what};
}

namespace {
std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
}  // namespace

std::string shown(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return value.empty()      ? "an empty list"
             : value.size() > 6 ? "a list"
                                : "the list " + shortened(dumped(value));
    case Json::value_t::string: {
      const std::string text = dumped(value);
      return "the text " + (text.size() > 60 ? text.substr(0, 57) + "…\"" : text);
    }
    default:
      return value.dump();
  }
}

}  // namespace perrin
