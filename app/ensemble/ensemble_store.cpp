#include "app/ensemble/ensemble_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/ensemble/ensemble_files.h"
#include "engine/base/error.h"
#include "engine/job/plugin.h"
#include "io/hdf5_values.h"
#include "io/new_file.h"
#include "io/writer.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t widest = 16;  // numbers of an observable in a row of a table

/// An output of a run: not a checkpoint, and not a file of somebody else, or one that cannot be
/// read, which stays where it is.
bool is_output(const fs::path& file) {
  try {
    const io::File opened = io::File::read(file.string());
    return !opened.root().has_attribute("perrin_checkpoint") &&
           opened.root().has("parameters/perrin/job");
  } catch (const std::exception&) {
    return false;
  }
}

/// By their names within the folder, in order.
std::vector<std::string> outputs_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (auto it = fs::recursive_directory_iterator(folder, none);
       it != fs::recursive_directory_iterator(); ++it) {
    const std::string extension = it->path().extension().string();
    if (it->is_symlink() || !it->is_regular_file() ||
        (extension != ".h5" && extension != ".h5md" && extension != ".hdf5"))
      continue;
    if (is_output(it->path())) names.push_back(it->path().lexically_relative(folder).string());
  }
  std::ranges::sort(names);
  return names;
}

void copy(const io::Node& from, const io::Node& parent, const std::string& path) {
  const io::Hid how(H5Pcreate(H5P_OBJECT_COPY)), link(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_copy_object(how, H5O_COPY_EXPAND_REFERENCE_FLAG);
  H5Pset_create_intermediate_group(link, 1);
  if (H5Ocopy(from.id(), ".", parent.id(), path.c_str(), how, link) < 0)
    throw RunError(fmt::format("{}: {} of {} cannot be copied: {}", parent.file(), from.path(),
                               from.file(), io::hdf5_reason()));
}

struct Column {
  std::string name, observable;
  std::size_t place = 0, width = 1;
};

std::size_t width_of(const io::Shape& shape) {
  std::size_t width = 1;
  for (std::size_t k = 1; k < shape.size(); ++k) width *= shape[k];
  return width;
}

/// "xy" of a tensor, "2" of a list: as perrin.thermo() names columns.
std::string place_name(std::size_t place, const io::Shape& shape) {
  std::string name;
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    const std::size_t k = place % shape[axis];
    place /= shape[axis];
    name.insert(0, shape.back() == 3 ? std::string(1, "xyz"[std::min<std::size_t>(k, 2)])
                                     : std::to_string(k));
  }
  return name.empty() ? "" : "_" + name;
}

/// The table of a file: numbers in rows. None where it has no such observables.
std::vector<Column> columns_of(const io::Node& root) {
  std::vector<Column> columns;
  if (!root.has("observables")) return columns;
  const io::Node group = root.open("observables");
  for (const std::string& name : group.children()) {
    if (!group.has(name + "/value") || !group.has(name + "/step") || !group.has(name + "/time") ||
        !group.open(name + "/value").is_number())
      continue;
    const io::Shape shape = group.open(name + "/value").shape();
    const std::size_t width = width_of(shape);
    if (shape.empty() || width > widest) continue;
    if (columns.empty()) columns = {{"step", name + "/step", 0, 1}, {"time", name + "/time", 0, 1}};
    for (std::size_t k = 0; k < width; ++k)
      columns.push_back({name + place_name(k, shape), name + "/value", k, width});
  }
  return columns;
}

std::size_t rows_of(const io::Node& root, const std::vector<Column>& columns) {
  return columns.empty() ? 0 : root.open("observables/" + columns[0].observable).shape().at(0);
}

class Store {
 public:
  Store(const fs::path& folder, const Variations& variations)
      : folder_(folder), variations_(variations), file_(folder / ensemble_store_name) {}

  void make() {
    std::error_code gone;
    io::File before;
    const bool again = fs::exists(file_, gone);
    if (again) before = io::File::read(file_.string());
    for (std::int64_t k = 0; k < variations_.count(); ++k)
      files_.push_back(outputs_in(system_folder(k)));
    if (again && std::ranges::all_of(files_, &std::vector<std::string>::empty)) return;
    io::NewFile place(file_.string());
    {
      io::File file = io::File::create(place.aside());
      file.root().attribute("creator", fmt::format("Perrin {}", engine_version()));
      write_systems(file.root(), again ? &before : nullptr);
      write_values(file.root());
      write_tables(file.root());
      file.close();
    }
    before = io::File();
    place.put_in_place(true);
    remove_stored();
  }

 private:
  fs::path system_folder(std::int64_t k) const { return folder_ / variations_.name(k); }

  void write_systems(const io::Node& root, const io::File* before) {
    for (std::int64_t k = 0; k < variations_.count(); ++k) {
      const std::string path = "systems/" + variations_.name(k);
      const io::Node group = root.make_group(path);
      std::vector<std::string> names = files_[std::size_t(k)];
      for (const std::string& name : names) {
        const io::File file = io::File::read((system_folder(k) / name).string());
        copy(file.root(), group, name);
      }
      if (before != nullptr && before->root().has(path)) {
        const io::Node old = before->root().open(path);
        for (const std::string& name : io::read_text_attribute(old, "files"))
          if (std::ranges::find(names, name) == names.end()) {
            copy(old.open(name), group, name);
            names.push_back(name);
          }
      }
      const auto state = system_ended(system_folder(k));
      group.attribute("state", std::string(!state ? "" : *state ? "complete" : "failed"));
      Json values = Json::object();
      for (const auto& [setting, value] : variations_.values(k)) values[setting] = value;
      group.attribute("values", values.dump());
      if (!names.empty()) group.attribute("files", names);
      stored_.push_back(names);
    }
  }

  void write_values(const io::Node& root) const {
    std::map<std::string, std::vector<Json>> settings;
    for (std::int64_t k = 0; k < variations_.count(); ++k)
      for (const auto& [setting, value] : variations_.values(k)) settings[setting].push_back(value);
    const io::Node group = root.make_group("values");
    for (const auto& [setting, values] : settings) {
      if (values.size() != files_.size()) continue;
      if (std::ranges::all_of(values, [](const Json& v) { return v.is_number(); })) {
        group.write(setting, std::vector<double>(values.begin(), values.end()));
      } else {
        std::vector<std::string> texts;
        for (const Json& value : values) texts.push_back(value.dump());
        group.write_texts(setting, {texts.size()}, texts);
      }
    }
  }

  void write_tables(const io::Node& root) const {
    std::vector<std::string> names;
    for (const auto& list : stored_)
      for (const std::string& name : list)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    for (const std::string& name : names) write_table(root, name);
  }

  /// The file of this name of a system; none where it has no such file.
  std::optional<io::Node> stored(const io::Node& root, std::size_t k,
                                 const std::string& name) const {
    if (std::ranges::find(stored_[k], name) == stored_[k].end()) return {};
    return root.open("systems/" + variations_.name(std::int64_t(k)) + "/" + name);
  }

  void write_table(const io::Node& root, const std::string& name) const {
    std::vector<std::string> titles;
    std::size_t rows = 0;
    for (std::size_t k = 0; k < stored_.size(); ++k)
      if (const auto file = stored(root, k, name)) {
        const auto columns = columns_of(*file);
        rows = std::max(rows, rows_of(*file, columns));
        for (const Column& column : columns)
          if (std::ranges::find(titles, column.name) == titles.end()) titles.push_back(column.name);
      }
    if (rows == 0) return;
    const io::Node group = root.make_group("tables/" + name);
    group.write_texts("column", {titles.size()}, titles);
    io::Series table = io::Series::make(group, "value", H5T_NATIVE_DOUBLE, {rows, titles.size()}, 1,
                                        {.filter = io::Packing::Filter::deflate});
    for (std::size_t k = 0; k < stored_.size(); ++k) {
      std::vector<double> values(rows * titles.size(), std::numeric_limits<double>::quiet_NaN());
      if (const auto file = stored(root, k, name)) fill(*file, titles, values);
      table.append(values.data());
    }
    table.flush();
  }

  static void fill(const io::Node& file, const std::vector<std::string>& titles,
                   std::vector<double>& values) {
    std::map<std::string, std::vector<double>> read;  // of an observable of several columns
    for (const Column& column : columns_of(file)) {
      const auto at = std::size_t(std::ranges::find(titles, column.name) - titles.begin());
      auto it = read.find(column.observable);
      if (it == read.end())
        it = read.emplace(column.observable,
                          io::read_reals(file.open("observables/" + column.observable)))
                 .first;
      const std::vector<double>& all = it->second;
      for (std::size_t row = 0;
           row * column.width < all.size() && row * titles.size() < values.size(); ++row)
        values[row * titles.size() + at] = all[row * column.width + column.place];
    }
  }

  void remove_stored() const {
    for (std::int64_t k = 0; k < variations_.count(); ++k) {
      if (system_ended(system_folder(k)) != true) continue;
      for (const std::string& name : files_[std::size_t(k)]) {
        std::error_code ignored;  // what cannot be removed is there twice
        fs::remove(system_folder(k) / name, ignored);
      }
    }
  }

  fs::path folder_;
  const Variations& variations_;
  fs::path file_;
  std::vector<std::vector<std::string>> files_, stored_;  // [system]: names, in folders; in all
};

}  // namespace

void store_systems(const fs::path& folder, const Variations& variations) {
  io::writer().call([&] { Store(folder, variations).make(); });
}

}  // namespace perrin
