#include "io/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "io/h5md_elements.h"
#include "io/hdf5_values.h"

namespace perrin::io {
namespace {

/// Version and creator without the build tag: "0.1.0 (g++ …)" → "0.1.0".
std::string plain_version(const std::string& version) {
  return version.substr(0, version.find(' '));
}

// parameters/perrin/neighbors is known at the end only, and nothing can be made in a file that is
// open for appending, nor can text of variable length change: room for so many characters.
constexpr std::size_t neighbors_room = 1024;

struct NeighborsText {
  explicit NeighborsText(const std::string& report) : type(H5Tcopy(H5T_C_S1)) {
    H5Tset_size(type, neighbors_room);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    std::memcpy(text, report.data(), std::min(neighbors_room, report.size()));
  }
  Hid type;
  char text[neighbors_room] = {};
};

std::vector<std::pair<const char*, std::string>> record_texts(const JobRecord& record) {
  return {{"job", record.job},
          {"version", record.version},
          {"device", record.device},
          {"plugins", record.plugins}};
}

/// Nothing can be made in a file that is open for appending: a row for every stage, from the start.
void write_stages(const Node& own, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const Node stages = own.make_group("stages");
  write_names(stages, "name", names);
  stages.write("step", std::vector<std::int64_t>(names.size(), -1));
}

}  // namespace

void write_module(const Node& root, const std::string& name) {
  root.make_group("h5md/modules/" + name).attribute("version", std::vector<std::int32_t>{1, 0});
}

void rewrite_neighbors(const File& file, const std::string& report) {
  const std::string path = "parameters/perrin/neighbors";
  if (!file.root().has(path)) return;  // an older version made the file
  const NeighborsText t(report);
  const Node node = file.root().open(path);
  node.rewrite(t.type, t.text);
  if (H5Dflush(node.id()) < 0) node.fail("cannot write");
}

void rewrite_stages(const File& file, const std::vector<std::int64_t>& steps) {
  const std::string path = "parameters/perrin/stages/step";
  if (!file.root().has(path)) return;  // an older version made the file
  const Node node = file.root().open(path);
  if (node.shape() != Shape{steps.size()}) return;
  node.rewrite(H5T_NATIVE_INT64, steps.data());
  if (H5Dflush(node.id()) < 0) node.fail("cannot write");
}

void check_steps(const Node& root, const std::string& path, std::int64_t rows,
                 std::int64_t last_step) {
  const Node step = root.open(path);
  const Shape shape = step.shape();
  const std::int64_t have = shape.empty() ? 0 : std::int64_t(shape[0]);
  if (have < rows)
    throw UserError(
        fmt::format("{}: cannot be continued: the checkpoint says {} frames, the file has {}",
                    root.file(), rows, have));
  if (rows == 0) return;
  const auto steps = read_integers<std::int64_t>(step, rows - 1);
  if (steps.size() != 1)
    throw UserError(
        fmt::format("{}: cannot be continued: {} is no list of steps", root.file(), step.path()));
  const std::int64_t found = steps[0];
  if (found != last_step)
    throw UserError(fmt::format(
        "{}: cannot be continued: its frame {} is of step {}, the checkpoint's of step {}",
        root.file(), rows - 1, found, last_step));
}

void write_run_record(const Node& root, const JobRecord& record, bool named_units) {
  const Node h5md = root.make_group("h5md");
  h5md.attribute("version", std::vector<std::int32_t>{1, 1});
  h5md.make_group("author").attribute("name", record.author.empty() ? "N/A" : record.author);
  const Node creator = h5md.make_group("creator");
  creator.attribute("name", "Perrin");
  creator.attribute("version", record.version.empty() ? "unknown" : plain_version(record.version));
  if (named_units) {
    write_module(root, "units");
    // The strings follow the rules of this module: factors and powers separated by spaces.
    h5md.open("modules/units").attribute("system", "SI");
  }
  const Node own = root.make_group("parameters/perrin");
  for (const auto& [name, text] : record_texts(record)) own.write_text(name, text);
#ifdef PERRIN_DOUBLE
  own.write_text("precision", "double");
#else
  own.write_text("precision", "mixed");
#endif
  own.write("seed", {}, &record.seed);
  const double seconds = 0;
  own.write("wall_time", {}, &seconds).attribute("unit", "s");
  const NeighborsText neighbors("");
  own.write("neighbors", neighbors.type, {}, neighbors.text);
  write_stages(own, record.stages);
}

void renew_run_record(const Node& root, const JobRecord& record, std::int64_t last_step) {
  const Node own = root.open("parameters/perrin");
  const auto texts = record_texts(record);
  const auto same = [&](const auto& t) { return own.open(t.first).read_text() == t.second; };
  if (std::all_of(texts.begin(), texts.end(), same)) return;
  const std::size_t number = own.make_group("earlier").children().size();
  const Node earlier = own.make_group(fmt::format("earlier/{}", number));
  for (const auto& [name, text] : texts) {
    if (H5Lmove(own.id(), name, earlier.id(), name, H5P_DEFAULT, H5P_DEFAULT) < 0)
      own.fail(fmt::format("cannot move {}", name));
    own.write_text(name, text);
  }
  earlier.write("last_step", {}, &last_step);
  if (own.has("stages") && H5Ldelete(own.id(), "stages", H5P_DEFAULT) < 0)
    own.fail("cannot replace stages");
  write_stages(own, record.stages);
}

}  // namespace perrin::io
