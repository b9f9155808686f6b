#include "io/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "io/h5md_elements.h"
#include "io/hdf5_values.h"

namespace perrin::io {
namespace {

/// Version and creator without the build tag: "0.2.0 (g++ …)" → "0.2.0".
std::string plain_version(const std::string& version) {
  return version.substr(0, version.find(' '));
}

// parameters/perrin/neighbors is known at the end only, and nothing can be made in a file that is
// open for appending, nor can text of variable length change: room for this number of characters.
// So it is with what stages have warned of.
constexpr std::size_t text_room = 1024;

/// Texts of one length, cut where they are longer.
struct FixedTexts {
  explicit FixedTexts(const std::vector<std::string>& texts, H5T_cset_t set = H5T_CSET_ASCII)
      : type(H5Tcopy(H5T_C_S1)), bytes(text_room * texts.size(), '\0') {
    H5Tset_size(type, text_room);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, set);
    for (std::size_t k = 0; k < texts.size(); ++k)
      std::memcpy(bytes.data() + k * text_room, texts[k].data(), whole(texts[k]));
  }
  Hid type;
  std::vector<char> bytes;

 private:
  /// As many bytes of it as there is room for, without half a character at the end.
  static std::size_t whole(const std::string& text) {
    if (text.size() <= text_room) return text.size();
    std::size_t n = text_room;
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
    return n;
  }
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
  const FixedTexts none(std::vector<std::string>(names.size()), H5T_CSET_UTF8);
  stages.write("remark", none.type, {names.size()}, none.bytes.data());
}

}  // namespace

void write_module(const Node& root, const std::string& name) {
  root.make_group("h5md/modules/" + name).attribute("version", std::vector<std::int32_t>{1, 0});
}

void LateRecord::stage(std::size_t stages, std::size_t k, std::int64_t step,
                       const std::string& remark) {
  // The first one: the file may have another remark, of a run that this one goes on with.
  if (steps_.size() != stages) {
    steps_.assign(stages, -1), remarks_.assign(stages, "");
    new_steps_ = new_remarks_ = true;
  }
  new_steps_ = new_steps_ || steps_[k] != step;
  new_remarks_ = new_remarks_ || remarks_[k] != remark;
  steps_[k] = step, remarks_[k] = remark;
}

void LateRecord::write(const File& file) {
  const auto rewrite = [&](const std::string& name, const Shape& shape, hid_t type,
                           const void* data) {
    const std::string path = "parameters/perrin/" + name;
    if (!file.root().has(path)) return;  // an older version made the file
    const Node node = file.root().open(path);
    if (node.shape() != shape) return;
    node.rewrite(type, data);
    if (H5Dflush(node.id()) < 0) node.fail("cannot write");
  };
  if (const auto report = std::exchange(neighbors_, {})) {
    const FixedTexts text({*report});
    rewrite("neighbors", {}, text.type, text.bytes.data());
  }
  if (std::exchange(new_steps_, false))
    rewrite("stages/step", {steps_.size()}, H5T_NATIVE_INT64, steps_.data());
  if (std::exchange(new_remarks_, false)) {
    const FixedTexts texts(remarks_, H5T_CSET_UTF8);
    rewrite("stages/remark", {remarks_.size()}, texts.type, texts.bytes.data());
  }
}

void check_steps(const Node& root, const std::string& path, std::int64_t rows,
                 std::int64_t last_step) {
  const Node step = root.open(path);
  const Shape shape = step.shape();
  const std::int64_t have = shape.empty() ? 0 : std::int64_t(shape[0]);
  if (have < rows)
    throw UserError(
        fmt::format("{}: cannot be continued: the checkpoint counts {} frames, the file has {}",
                    root.file(), rows, have));
  if (rows == 0) return;
  const auto steps = read_integers<std::int64_t>(step, rows - 1);
  if (steps.size() != 1)
    throw UserError(fmt::format("{}: cannot be continued: {} is not a list of steps", root.file(),
                                step.path()));
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
  const FixedTexts neighbors({""});
  own.write("neighbors", neighbors.type, {}, neighbors.bytes.data());
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
