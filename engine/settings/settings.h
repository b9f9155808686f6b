// Settings are declared once per component, in a `describe` function; parsing, defaults, bounds,
// help, JSON Schema and the record in the output file all come from it.
//
//     struct LangevinSettings { double temperature, friction = 1; std::string rng = "saru"; };
//
//     template <class D> void describe(D& d, LangevinSettings& s) {
//       d.required("temperature", s.temperature, Positive{}, "k_B T, in energy units");
//       d.optional("friction", s.friction, Positive{}, "1/time");
//       d.optional("rng", s.rng, OneOf{"saru", "tea", "philox"}, "random number generator");
//     }
//
// `describe` is found by argument-dependent lookup. The field's value when the visitor comes is the
// default of an optional key. Fields may be bool, int, std::int64_t, std::uint32_t, std::uint64_t,
// double, std::string, Vec3<double>, std::array, std::vector, std::optional and
// std::map<std::string, …> of these, any struct that has a `describe`, Part<Component> (the
// settings of a nested component, made by setup.make(part)), and Json (anything, checked by the
// component itself; include <nlohmann/json.hpp>).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/real.h"

namespace perrin {

/// Objects keep the order of the file.
using Json = nlohmann::ordered_json;

// What a value must be. Each applies to numbers (to every number of an array), OneOf to text.
struct Any {};
struct Positive {};
struct NonNegative {};
struct Between {  // inclusive
  double low, high;
};
struct OneOf {
  std::vector<std::string> values;
  OneOf(std::initializer_list<const char*> list) : values(list.begin(), list.end()) {}
  explicit OneOf(std::vector<std::string> list) : values(std::move(list)) {}

  /// A name that a value had in earlier versions: taken, with a note.
  OneOf& formerly(const std::string& old_name, const std::string& name) {
    renamed[old_name] = name;
    return *this;
  }
  std::map<std::string, std::string> renamed;
};

/// Any of the above.
struct Check {
  enum class Kind { any, positive, non_negative, between, one_of } kind = Kind::any;
  double low = 0, high = 0;
  std::vector<std::string> values;
  std::map<std::string, std::string> renamed;  // old names of values

  Check(Any) {}
  Check(Positive) : kind(Kind::positive) {}
  Check(NonNegative) : kind(Kind::non_negative) {}
  Check(Between b) : kind(Kind::between), low(b.low), high(b.high) {}
  Check(OneOf o) : kind(Kind::one_of), values(std::move(o.values)), renamed(std::move(o.renamed)) {}
};

class Source;
class Force;
class Integrator;
class Observer;
class Stage;

/// The word for a kind of component in messages and in the schema.
template <class Component>
constexpr const char* component_kind = nullptr;
template <>
inline constexpr const char* component_kind<Source> = "system";
template <>
inline constexpr const char* component_kind<Force> = "force";
template <>
inline constexpr const char* component_kind<Integrator> = "integrator";
template <>
inline constexpr const char* component_kind<Observer> = "observer";
template <>
inline constexpr const char* component_kind<Stage> = "stage";

struct CatalogueRow;

/// The settings of a component that the value of "type" chose.
struct ComponentSettings {
  const CatalogueRow* row = nullptr;    // nullptr: absent, or wrong and reported
  std::shared_ptr<void> settings;       // the struct of the row's type
  std::string path;                     // where in the job: "stages[0].integrator"
  std::shared_ptr<const Json> written;  // what the job says, of a type that was made for it
  explicit operator bool() const { return row != nullptr; }
  /// Its name in the job.
  std::string type() const;
};

/// A nested component among the settings of another one.
template <class Component>
struct Part : ComponentSettings {};

class Fields;

/// What the engine must know of the type of a field to read, write and explain it.
struct ValueType {
  enum class Kind {
    boolean,
    int32,
    int64,
    uint32,
    uint64,
    real,
    text,
    list,      // std::vector; `fixed` ≥ 0: std::array, Vec3
    optional,  // std::optional
    map,       // std::map<std::string, …>
    object,    // a struct with a describe
    part,      // Part<Component>
    json
  };
  Kind kind;
  const ValueType& (*element)() = nullptr;  // of a list, optional or map
  int fixed = -1;
  std::size_t (*size)(const void*) = nullptr;
  void (*resize)(void*, std::size_t) = nullptr;
  void* (*at)(void*, std::size_t) = nullptr;
  void* (*emplace)(void*) = nullptr;                     // optional
  const void* (*get)(const void*) = nullptr;             // optional: nullptr when empty
  void* (*insert)(void*, const std::string&) = nullptr;  // map
  void (*for_each)(const void*,
                   const std::function<void(const std::string&, const void*)>&) = nullptr;  // map
  void (*describe)(Fields&, void*) = nullptr;   // object
  std::shared_ptr<void> (*create)() = nullptr;  // object: one with its defaults
  const char* component = nullptr;              // part: the kind of component
};

template <class T>
const ValueType& value_type();

/// One line of a `describe`, for the struct it was called with.
struct Field {
  std::string key;
  bool required;
  void* value;
  const ValueType* type;
  Check check;
  std::string help;
};

/// A key of earlier versions, true or false: taken with a note where it is `harmless`.
struct GoneKey {
  std::string key;
  bool harmless;
  std::string why;
};

/// The visitor that every `describe` is called with: collects the fields.
class Fields {
 public:
  template <class T>
  void required(const std::string& key, T& value, Check check, const std::string& help) {
    fields_.push_back({key, true, &value, &value_type<T>(), std::move(check), help});
  }
  template <class T>
  void optional(const std::string& key, T& value, Check check, const std::string& help) {
    fields_.push_back({key, false, &value, &value_type<T>(), std::move(check), help});
  }
  void gone(const std::string& key, bool harmless, const std::string& why) {
    gone_.push_back({key, harmless, why});
  }
  /// An object with the keys of an example for `perrin help`, as JSON, where the required keys
  /// alone do not make one.
  void example(const std::string& json) { example_ = json; }

  /// At least one of these optional keys must be given.
  void any_of(std::vector<std::string> keys) { any_of_ = std::move(keys); }

  const std::vector<Field>& list() const { return fields_; }
  const std::vector<std::string>& any_of() const { return any_of_; }
  const std::string& example() const { return example_; }
  const std::vector<GoneKey>& gone_keys() const { return gone_; }

 private:
  std::vector<GoneKey> gone_;
  std::vector<Field> fields_;
  std::vector<std::string> any_of_;
  std::string example_;
};

template <class T>
concept Described = requires(Fields& fields, T& settings) {
  describe(fields, settings);
};

namespace detail {

template <class T>
struct TypeMaker {
  static_assert(Described<T>,
                "a field of this type needs a describe(), or to be one of the types in settings.h");
  static ValueType make() {
    ValueType t{ValueType::Kind::object};
    t.describe = [](Fields& fields, void* p) { describe(fields, *static_cast<T*>(p)); };
    t.create = [] { return std::shared_ptr<void>(std::make_shared<T>()); };
    return t;
  }
};

template <ValueType::Kind K>
struct PlainType {
  static ValueType make() { return ValueType{K}; }
};
template <>
struct TypeMaker<bool> : PlainType<ValueType::Kind::boolean> {};
template <>
struct TypeMaker<std::int32_t> : PlainType<ValueType::Kind::int32> {};
template <>
struct TypeMaker<std::int64_t> : PlainType<ValueType::Kind::int64> {};
template <>
struct TypeMaker<std::uint32_t> : PlainType<ValueType::Kind::uint32> {};
template <>
struct TypeMaker<std::uint64_t> : PlainType<ValueType::Kind::uint64> {};
template <>
struct TypeMaker<double> : PlainType<ValueType::Kind::real> {};
template <>
struct TypeMaker<std::string> : PlainType<ValueType::Kind::text> {};
template <>
struct TypeMaker<Json> : PlainType<ValueType::Kind::json> {};

template <class Array, class Element>
ValueType array_type(int n) {
  ValueType t{ValueType::Kind::list};
  t.fixed = n;
  t.element = &value_type<Element>;
  t.at = [](void* p, std::size_t i) -> void* {
    return &(*static_cast<Array*>(p))[static_cast<int>(i)];
  };
  return t;
}
template <>
struct TypeMaker<Vec3<double>> {
  static ValueType make() { return array_type<Vec3<double>, double>(3); }
};
template <class T, std::size_t N>
struct TypeMaker<std::array<T, N>> {
  static ValueType make() {
    ValueType t{ValueType::Kind::list};
    t.fixed = static_cast<int>(N);
    t.element = &value_type<T>;
    t.at = [](void* p, std::size_t i) -> void* { return &(*static_cast<std::array<T, N>*>(p))[i]; };
    return t;
  }
};
template <class T>
struct TypeMaker<std::vector<T>> {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
  using List = std::vector<T>;
  static ValueType make() {
    ValueType t{ValueType::Kind::list};
    t.element = &value_type<T>;
    t.size = [](const void* p) { return static_cast<const List*>(p)->size(); };
    t.resize = [](void* p, std::size_t n) {
      static_cast<List*>(p)->assign(n, T{});  // what the default held is not merged in
    };
    t.at = [](void* p, std::size_t i) -> void* { return &(*static_cast<List*>(p))[i]; };
    return t;
  }
};
template <class T>
struct TypeMaker<std::optional<T>> {
  static ValueType make() {
    ValueType t{ValueType::Kind::optional};
    t.element = &value_type<T>;
    t.emplace = [](void* p) -> void* { return &static_cast<std::optional<T>*>(p)->emplace(); };
    t.get = [](const void* p) -> const void* {
      const auto& value = *static_cast<const std::optional<T>*>(p);
      return value ? &*value : nullptr;
    };
    return t;
  }
};
template <class T>
struct TypeMaker<std::map<std::string, T>> {
  using Map = std::map<std::string, T>;
  static ValueType make() {
    ValueType t{ValueType::Kind::map};
    t.element = &value_type<T>;
    t.size = [](const void* p) { return static_cast<const Map*>(p)->size(); };
    t.resize = [](void* p, std::size_t) { static_cast<Map*>(p)->clear(); };
    t.insert = [](void* p, const std::string& key) -> void* {
      return &(*static_cast<Map*>(p))[key];
    };
    t.for_each = [](const void* p,
                    const std::function<void(const std::string&, const void*)>& visit) {
      for (const auto& [key, value] : *static_cast<const Map*>(p)) visit(key, &value);
    };
    return t;
  }
};
template <class Component>
struct TypeMaker<Part<Component>> {
  static ValueType make() {
    ValueType t{ValueType::Kind::part};
    t.component = component_kind<Component>;
    return t;
  }
};

}  // namespace detail

template <class T>
const ValueType& value_type() {
  static const ValueType type = detail::TypeMaker<T>::make();
  return type;
}

}  // namespace perrin
