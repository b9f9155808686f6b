#include "app/set_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "app/checkpoint_path.h"
#include "engine/settings/json_file.h"
#include "io/hdf5.h"
#include "io/writer.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;

/// A setting without settings in it.
struct Leaf {
  std::string path;
  const Json *schema, *value;  // nullptr: unknown; not in the job
  const Json* types;           // what "type" may be; nullptr for other keys
};

class Leaves {
 public:
  Leaves(const Json& job, const Json& schema) : definitions_(schema.at("definitions")) {
    add(&schema, &job, "", nullptr);
  }
  const std::vector<Leaf>& found() const { return found_; }

 private:
  static const Json* part(const Json* of, const std::string& key) {
    if (!of || !of->is_object()) return nullptr;
    const auto it = of->find(key);
    return it == of->end() ? nullptr : &*it;
  }

  /// What says which settings there are, behind references and alternatives. `types`: becomes those
  /// that the kind of a component has.
  const Json* resolved(const Json* schema, const Json* value, const Json** types) const {
    while (schema) {
      if (part(schema, "properties")) return schema;  // beside which keys exclude one another
      if (const Json* const one = part(schema, "allOf"); one && one->size() == 1) {
        schema = &one->front();
      } else if (const Json* const any = part(schema, "anyOf")) {
        const auto fits = [&](const Json& choice) {
          const Json* const kind = part(&choice, "type");
          const bool object = kind && *kind == "object", array = kind && *kind == "array";
          return value ? value->is_object() == object && value->is_array() == array : object;
        };
        const auto it = std::ranges::find_if(*any, fits);
        schema = it == any->end() ? &any->front() : &*it;
      } else if (const Json* const reference = part(schema, "$ref")) {
        const std::string name = reference->get<std::string>().substr(14);  // #/definitions/
        const Json* const kind = part(&definitions_, name);
        const Json* const type = part(value, "type");
        if (!type || !type->is_string()) return nullptr;
        *types = part(part(part(kind, "properties"), "type"), "enum");
        schema = part(&definitions_, name + "." + type->get<std::string>());
      } else {
        return schema;
      }
    }
    return nullptr;
  }

  void add(const Json* schema, const Json* value, const std::string& path, const Json* types) {
    const Json* const given = schema;
    const Json* own_types = nullptr;
    schema = resolved(schema, value, &own_types);
    const Json* const properties = part(schema, "properties");
    const Json* const entries = part(schema, "additionalProperties");
    if (value ? value->is_object() : properties != nullptr) {
      const std::string before = path.empty() ? "" : path + ".";
      const auto add_key = [&](const std::string& key, const Json* its_value) {
        if (key.starts_with('$')) return;  // for editors; a shell would take it for a variable
        const Json* its = part(properties, key);
        if (!its && entries && entries->is_object()) its = entries;
        add(its, its_value, before + key, key == "type" ? own_types : nullptr);
      };
      if (value)
        for (const auto& [key, its_value] : value->items()) add_key(key, &its_value);
      if (properties)
        for (const auto& [key, unused] : properties->items())
          if (!part(value, key)) add_key(key, nullptr);
    } else if (value && value->is_array()) {
      if (std::ranges::none_of(*value, [](const Json& entry) { return entry.is_structured(); }))
        found_.push_back({path, given, value, nullptr});
      for (std::size_t k = 0; k < value->size(); ++k)
        add(part(schema, "items"), &(*value)[k], fmt::format("{}[{}]", path, k), nullptr);
    } else {
      found_.push_back({path, given, value, types});
    }
  }

  const Json& definitions_;
  std::vector<Leaf> found_;
};

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::ranges::find(list, word) == list.end()) list.push_back(word);
}

/// As --set takes it.
std::string as_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void add_values(std::vector<std::string>& list, const Json* schema) {
  if (!schema || !schema->is_object()) return;
  if (schema->contains("default")) add_once(list, as_text(schema->at("default")));
  if (schema->contains("const")) add_once(list, as_text(schema->at("const")));
  if (schema->contains("enum"))
    for (const Json& value : schema->at("enum")) add_once(list, as_text(value));
  if (schema->value("type", Json()) == "boolean")
    for (const char* value : {"true", "false"}) add_once(list, value);
  if (schema->contains("anyOf"))
    for (const Json& choice : schema->at("anyOf")) add_values(list, &choice);
}

}  // namespace

std::vector<std::string> set_completions(const Json& job, const Json& schema,
                                         const std::string& word) {
  const Leaves leaves(job, schema);
  std::vector<std::string> words;
  const std::size_t equals = word.find('=');
  for (const Leaf& leaf : leaves.found()) {
    if (equals == std::string::npos) {
      const std::string whole = leaf.path + "=";
      if (!whole.starts_with(word)) continue;
      const std::size_t dot = whole.find('.', word.size());
      add_once(words, dot == std::string::npos ? whole : whole.substr(0, dot + 1));
    } else if (leaf.path == word.substr(0, equals)) {
      std::vector<std::string> values;
      if (leaf.value) values.push_back(as_text(*leaf.value));
      if (leaf.types)
        for (const Json& type : *leaf.types) add_once(values, as_text(type));
      else
        add_values(values, leaf.schema);
      for (const std::string& value : values)
        if (const std::string whole = word.substr(0, equals + 1) + value; whole.starts_with(word))
          add_once(words, whole);
    }
  }
  return words;
}

Json job_to_complete(const fs::path& given) {
  const fs::path file = fs::is_directory(given) ? checkpoint_path(given) : given;
  char head[4] = {};
  std::ifstream(file, std::ios::binary).read(head, sizeof head);
  if (std::string_view(head, sizeof head) != "\211HDF") return JsonFile::read(file).value();
  const std::string text = io::writer().get(
      [&] { return io::File::read(file.string()).root().open("job").read_text(); });
  return JsonFile::parse(text, file.string()).value();
}

}  // namespace perrin
