#include "engine/settings/json_file.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/core/error.h"

namespace perrin {
namespace {

/// How many characters the parser has taken, and the line they end on.
struct Reading {
  const char* begin;
  const char* position;
};

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

}  // namespace

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
    const std::string path = join_path(stack_.back().path, k);
    const int at = line(0);
    if (stack_.back().value->contains(k))
      problems_.add({fmt::format("{}:{}", file_.name_, at), at, path, "this key is given twice"});
    else
      file_.lines_[path] = at;
    key_ = std::move(k);
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
    throw UserError(fmt::format("{}:{}: {}", file_.name_,
                                line_and_column(text_, at == 0 || at_end ? at : at - 1), what));
  }

  void finish() const { problems_.throw_if_any(); }

 private:
  struct Open {
    Json* value;
    std::string path;
  };

  int line(int read_ahead) {
    const char* end = std::max(counted_, reading_.position - read_ahead);
    for (; counted_ != end; ++counted_)
      if (*counted_ == '\n') ++line_;
    return line_;
  }

  /// Puts a value where the parser stands and returns it with its path.
  Open put(Json value, int read_ahead) {
    const int at = line(read_ahead);
    if (stack_.empty()) {
      file_.value_ = std::move(value);
      file_.lines_[""] = at;
      return {&file_.value_, ""};
    }
    Json& parent = *stack_.back().value;
    if (parent.is_array()) {
      std::string path = join_path(stack_.back().path, parent.size());
      file_.lines_[path] = at;
      parent.push_back(std::move(value));
      return {&parent.back(), path};
    }
    Json& member = parent[key_];
    member = std::move(value);
    return {&member, join_path(stack_.back().path, key_)};
  }
  bool add(Json value, int read_ahead) { return put(std::move(value), read_ahead), true; }
  bool open(Json value) {
    stack_.push_back(put(std::move(value), 0));
    if (int(stack_.size()) > deepest)
      throw UserError(fmt::format("{}:{}: lists and objects within one another, more than {} deep",
                                  file_.name_, line(0), deepest));
    return true;
  }

  JsonFile& file_;
  const std::string& text_;
  Reading& reading_;
  const char* counted_;
  int line_ = 1;
  std::vector<Open> stack_;
  std::string key_;
  Problems problems_;
};

JsonFile JsonFile::parse(const std::string& text, const std::string& name) {
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
    throw UserError(fmt::format("{}: is a folder, not a job file", path.string()));
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

/// "stages[0].steps", with ["…"] for keys that are no plain words. Empty where it is none.
std::vector<Step> steps_of(const std::string& path) {
  std::vector<Step> steps;
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '[') {
      const auto end = path.find(path.compare(i, 2, "[\"") == 0 ? "\"]" : "]", i + 1);
      if (end == std::string::npos) return {};
      Step step;
      if (path[i + 1] == '"') {
        step.key = path.substr(i + 2, end - i - 2);
        i = end + 2;
      } else {
        const std::string digits = path.substr(i + 1, end - i - 1);
        if (!is_number(digits) || digits.size() > 9) return {};
        step.index = std::stoul(digits), step.is_index = true;
        i = end + 1;
      }
      steps.push_back(step);
    } else {
      if (path[i] == '.' && steps.empty()) return {};
      if (path[i] == '.')
        ++i;
      else if (!steps.empty())
        return {};
      const auto end = std::min(path.find_first_of(".[", i), path.size());
      if (end == i) return {};
      steps.push_back({path.substr(i, end - i), 0, false});
      i = end;
    }
  }
  return steps;
}

}  // namespace

void JsonFile::set(const std::string& assignment) {
  const auto fail = [&](const std::string& what) {
    throw UserError(fmt::format("--set {}: {}", shortened(readable(assignment)), what));
  };
  if (!is_utf8(assignment)) fail("is no valid UTF-8");
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    fail("expected path=value, e.g. stages[0].steps=1000");
  const auto steps = steps_of(assignment.substr(0, equals));
  if (steps.empty()) fail("the path must look like stages[0].steps");
  const std::string text = assignment.substr(equals + 1);

  Json* at = &value_;
  std::string path;
  for (const Step& step : steps) {
    const std::string here = path.empty() ? "the job" : path;
    if (step.is_index) {
      if (at->is_null()) *at = Json::array();
      if (!at->is_array()) fail(fmt::format("{} is no list", here));
      if (step.index > at->size())
        fail(fmt::format("{} has {} entr{}; {}[{}] would add one", here, at->size(),
                         at->size() == 1 ? "y" : "ies", here, at->size()));
      if (step.index == at->size()) at->push_back(nullptr);
      at = &(*at)[step.index];
      path = join_path(path, step.index);
    } else {
      if (at->is_null()) *at = Json::object();
      if (at->is_array())
        fail(fmt::format("{} is a list: its entries are named by number, {}[{}]", here, here,
                         is_number(step.key) ? step.key : "0"));
      if (!at->is_object()) fail(fmt::format("{} has no keys", here));
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
    fail(fmt::format("lists and objects within one another, more than {} deep", deepest));
  *at = value.is_discarded() ? Json(text) : std::move(value);
  for (auto it = lines_.lower_bound(path); it != lines_.end() && it->first.rfind(path, 0) == 0;) {
    const char next = it->first.size() > path.size() ? it->first[path.size()] : '.';
    it = next == '.' || next == '[' ? lines_.erase(it) : std::next(it);
  }
  lines_[path] = 0;
}

int JsonFile::line(const std::string& path) const {
  std::string p = path;
  for (;;) {
    if (const auto it = lines_.find(p); it != lines_.end()) return it->second;
    const auto cut = p.find_last_of(".[");
    if (cut == std::string::npos) break;
    p.erase(cut);
  }
  const auto root = lines_.find("");
  return root == lines_.end() ? 1 : root->second;
}

std::string JsonFile::place(const std::string& path) const {
  const int at = line(path);
  return at == 0 ? "--set" : fmt::format("{}:{}", name_, at);
}

Problem JsonFile::problem(const std::string& path, const std::string& what) const {
  return {place(path), line(path), path, what};
}

std::string shown(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return value.empty()      ? "an empty list"
             : value.size() > 6 ? "a list"
                                : "the list " + value.dump();
    case Json::value_t::string: {
      const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
      return "the text " + (text.size() > 60 ? text.substr(0, 57) + "…\"" : text);
    }
    default:
      return value.dump();
  }
}

}  // namespace perrin
