#include "io/h5md_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/core/error.h"
#include "io/hdf5_values.h"
#include "io/new_file.h"

namespace perrin::io {
namespace {

constexpr hsize_t scalar_chunk = 512;
const std::string all = "particles/all/";
const char* const factor_name = "job_factor";

/// Version and creator without the build tag: "0.1.0 (g++ …)" → "0.1.0".
std::string plain_version(const std::string& version) {
  return version.substr(0, version.find(' '));
}

void write_module(const Node& root, const std::string& name) {
  root.make_group("h5md/modules/" + name).attribute("version", std::vector<std::int32_t>{1, 0});
}

/// The attribute `unit`, and where the numbers of the job are not in this unit, what they are
/// multiplied by.
void set_unit(const Node& node, const FileUnit& unit) {
  if (unit.name.empty()) return;
  node.attribute("unit", unit.name);
  if (unit.factor == 1) return;
  const Hid space(H5Screate(H5S_SCALAR));
  const Hid it(H5Acreate2(node.id(), factor_name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT));
  if (it < 0 || H5Awrite(it, H5T_NATIVE_DOUBLE, &unit.factor) < 0)
    node.fail("cannot write an attribute of");
}

double factor_of(const Series& series) {
  const Node& node = series.node();
  return node.has_attribute(factor_name) ? read_real_attribute(node, factor_name) : 1.0;
}

template <class T>
void append(Series& series, const T* row, std::size_t n, double factor) {
  if (factor == 1) return series.append(row);
  std::vector<T> scaled(row, row + n);
  for (T& value : scaled) value = T(value * factor);
  series.append(scaled.data());
}

/// Coordinates in another unit, below the upper face of the box also after rounding.
void append_positions(Series& series, const H5mdFrame& frame, double factor) {
  if (factor == 1) return series.append(frame.position.data());
  std::vector<float> scaled(frame.position);
  for (std::size_t k = 0; k < scaled.size(); ++k) {
    const double edge = frame.edges[4 * (k % 3)] * factor;
    const bool inside = scaled[k] < frame.edges[4 * (k % 3)];
    scaled[k] = float(scaled[k] * factor);
    if (inside && scaled[k] >= edge) scaled[k] = std::nextafter(float(edge), 0.0f);
  }
  series.append(scaled.data());
}

std::vector<std::uint32_t> flat(const std::vector<Topology::Bond>& bonds) {
  std::vector<std::uint32_t> ids;
  for (const auto& bond : bonds) ids.insert(ids.end(), {bond.a, bond.b});
  return ids;
}

std::vector<std::uint32_t> flat(const std::vector<Topology::Angle>& angles) {
  std::vector<std::uint32_t> ids;
  for (const auto& angle : angles) ids.insert(ids.end(), {angle.a, angle.b, angle.c});
  return ids;
}

/// Names as VMD's plug-in reads them: fixed length, at most 16 characters.
void write_short_names(const Node& root, const std::string& path,
                       const std::vector<std::string>& names) {
  const Hid type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, 16);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  std::vector<char> text(names.size() * 16, '\0');
  for (std::size_t k = 0; k < names.size(); ++k)
    std::memcpy(text.data() + 16 * k, names[k].data(), std::min<std::size_t>(16, names[k].size()));
  root.write(path, type, {names.size()}, text.data());
}

void write_names(const Node& root, const std::string& path, const std::vector<std::string>& names) {
  const Hid type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  std::vector<const char*> values;
  for (const std::string& name : names) values.push_back(name.c_str());
  root.write(path, type, {values.size()}, values.data());
}

template <class Group>
void write_connectivity(const Node& root, const std::string& name, const std::vector<Group>& groups,
                        const std::vector<std::string>& types, hsize_t width) {
  if (groups.empty()) return;
  const auto ids = flat(groups);
  const std::vector<std::int32_t> members(ids.begin(), ids.end());
  root.write("connectivity/" + name, {groups.size(), width}, members.data())
      .attribute_reference("particles_group", "/particles/all");
  std::vector<std::int32_t> kinds;
  for (const auto& group : groups) kinds.push_back(std::int32_t(group.type));
  root.write("parameters/perrin/" + name + "_type", kinds);
  write_names(root, "parameters/perrin/" + name + "_type_names", types);
}

void write_static(const Node& root, const Configuration& c) {
  const std::size_t n = c.position.size();
  if (!c.mass.empty())
    root.write(all + "mass", c.mass);
  else
    root.write(all + "mass", std::vector<double>(n, 1.0));
  if (!c.charge.empty()) root.write(all + "charge", c.charge);
  std::vector<std::int32_t> id(n);
  for (std::size_t k = 0; k < n; ++k) id[k] = std::int32_t(k);
  root.write(all + "id", id);
  if (!c.diameter.empty()) root.write("parameters/perrin/diameter", c.diameter);
  write_names(root, "parameters/perrin/type_names", c.types);
  root.write("parameters/perrin/dimension", {}, &c.box.dimension);

  const Topology& t = c.topology;
  write_connectivity(root, "bonds", t.bonds, t.bond_types, 2);
  write_connectivity(root, "angles", t.angles, t.angle_types, 3);
  if (!t.molecule.empty()) root.write("parameters/perrin/molecule", t.molecule);

  std::vector<std::int32_t> species(c.types.size()), from, to;
  for (std::size_t k = 0; k < species.size(); ++k) species[k] = std::int32_t(k);
  root.write("parameters/vmd_structure/indexOfSpecies", species);
  write_short_names(root, "parameters/vmd_structure/name", c.types);
  write_short_names(root, "parameters/vmd_structure/type", c.types);
  for (const auto& bond : t.bonds) {  // VMD counts atoms from 1, and wants from < to
    from.push_back(std::int32_t(std::min(bond.a, bond.b) + 1));
    to.push_back(std::int32_t(std::max(bond.a, bond.b) + 1));
  }
  if (!from.empty()) {
    root.write("parameters/vmd_structure/bond_from", from);
    root.write("parameters/vmd_structure/bond_to", to);
  }
}

/// A time-dependent element that shares step and time with the positions.
Series make_element(const Node& root, const std::string& path, hid_t type, const Shape& row,
                    const Node& step, const Node& time, const FileUnit& unit, int deflate) {
  const Node group = root.make_group(path);
  Series series = Series::make(group, "value", type, row, 1, deflate);
  set_unit(series.node(), unit);
  group.hard_link(step, "step");
  group.hard_link(time, "time");
  return series;
}

void make_clock(const Node& group, const FileUnit& time) {
  Series::make(group, "step", H5T_STD_I64LE, {}, scalar_chunk);
  set_unit(Series::make(group, "time", H5T_IEEE_F64LE, {}, scalar_chunk).node(), time);
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

void rewrite_neighbors(const File& file, const std::string& report) {
  const std::string path = "parameters/perrin/neighbors";
  if (!file.root().has(path)) return;  // an older version made the file
  const NeighborsText t(report);
  const Node node = file.root().open(path);
  node.rewrite(t.type, t.text);
  if (H5Dflush(node.id()) < 0) node.fail("cannot write");
}

/// Refuses a file that does not hold what the checkpoint says.
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

std::vector<std::pair<const char*, std::string>> record_texts(const JobRecord& record) {
  return {{"job", record.job},
          {"version", record.version},
          {"device", record.device},
          {"plugins", record.plugins}};
}

}  // namespace

void H5mdFrame::set_box(const Box& box) {
  const auto e = box.edges();
  for (std::size_t k = 0; k < 3; ++k) {
    edges[3 * k] = e[k].x, edges[3 * k + 1] = e[k].y, edges[3 * k + 2] = e[k].z;
    origin[k] = box.origin[int(k)];
  }
}

H5mdUnits::H5mdUnits(const Units& units)
    : length(file_length(units)),
      time(file_time(units)),
      velocity(file_velocity(units)),
      force(file_force(units)),
      mass(units.mass) {}

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
}

static void write_contents(const Node& root, const Configuration& c, const H5mdLayout& layout,
                           const JobRecord& record, const H5mdUnits& units) {
  write_run_record(root, record, units.named());
  const hsize_t n = c.position.size();
  const Node particles = root.make_group("particles/all");
  const Node position = particles.make_group("position");
  make_clock(position, units.time);
  const Node step = position.open("step"), time = position.open("time");
  set_unit(Series::make(position, "value", H5T_IEEE_F32LE, {n, 3}, 1, layout.deflate).node(),
           units.length);
  const auto element = [&](const std::string& name, hid_t type, const Shape& row,
                           const FileUnit& unit, int deflate) {
    make_element(root, name, type, row, step, time, unit, deflate);
  };
  if (layout.velocity)
    element(all + "velocity", H5T_IEEE_F32LE, {n, 3}, units.velocity, layout.deflate);
  if (layout.force) element(all + "force", H5T_IEEE_F32LE, {n, 3}, units.force, layout.deflate);
  if (layout.image) element(all + "image", H5T_STD_I32LE, {n, 3}, {}, layout.deflate);
  const std::vector<std::int32_t> species(c.type.begin(), c.type.end());
  if (layout.moving_species)
    element(all + "species", H5T_STD_I32LE, {n}, {}, layout.deflate);
  else
    root.write(all + "species", species);

  const Node box = particles.make_group("box");
  box.attribute("dimension", std::int32_t(3));
  std::vector<std::string> boundary;
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat_axis = c.box.dimension == 2 && axis == 2;
    boundary.push_back(c.box.periodic[std::size_t(axis)] && !flat_axis ? "periodic" : "none");
  }
  box.attribute("boundary", boundary);
  element(all + "box/edges", H5T_IEEE_F64LE, {3, 3}, units.length, 0);
  element("parameters/perrin/box_origin", H5T_IEEE_F64LE, {3}, units.length, 0);
  write_static(root, c);
  set_unit(root.open(all + "mass"), {units.mass});
  root.hard_link(particles, "particles/trajectory");
  root.hard_link(particles, "particles/system");
}

void H5mdWriter::create(const std::string& path, const Configuration& c, const H5mdLayout& layout,
                        const JobRecord& record, const H5mdUnits& units, bool overwrite) {
  NewFile place(path);
  File file = File::create(place.aside());
  write_contents(file.root(), c, layout, record, units);
  file.close();
  place.put_in_place(overwrite);
}

void H5mdWriter::trim(const std::string& path, const JobRecord& record, std::int64_t frames,
                      std::int64_t last_step) {
  File file = File::modify(path);
  const Node& root = file.root();
  check_steps(root, all + "position/step", frames, last_step);
  const auto cut = [&](const std::string& name) {
    if (!root.has(name)) return;
    Series series = Series::open(root, name, H5T_NATIVE_DOUBLE);
    if (series.size() < frames)
      throw UserError(fmt::format("{}: cannot be continued: /{} has {} frames, expected {}", path,
                                  name, series.size(), frames));
    if (series.size() > frames) series.truncate(frames);
  };
  // Positions first: their number is the number of frames for every reader.
  for (const char* name : {"position", "velocity", "force", "image", "box/edges"})
    cut(all + name + "/value");
  if (!root.open(all + "species").is_dataset()) cut(all + "species/value");
  cut("parameters/perrin/box_origin/value");
  cut(all + "position/step");
  cut(all + "position/time");
  renew_run_record(root, record, last_step);
  file.close();
}

H5mdWriter::H5mdWriter(const std::string& path) : OpenWhenUsed(path) { use(); }

void H5mdWriter::open_parts(const Node& root) {
  const auto open = [&](Series& series, const std::string& name, hid_t type) {
    if (!root.has(name)) return false;
    series = Series::open(root, name, type);
    return true;
  };
  step_ = Series::open(root, all + "position/step", H5T_NATIVE_INT64);
  time_ = Series::open(root, all + "position/time", H5T_NATIVE_DOUBLE);
  edges_ = Series::open(root, all + "box/edges/value", H5T_NATIVE_DOUBLE);
  origin_ = Series::open(root, "parameters/perrin/box_origin/value", H5T_NATIVE_DOUBLE);
  position_ = Series::open(root, all + "position/value", H5T_NATIVE_FLOAT);
  has_velocity_ = open(velocity_, all + "velocity/value", H5T_NATIVE_FLOAT);
  has_force_ = open(force_, all + "force/value", H5T_NATIVE_FLOAT);
  has_image_ = open(image_, all + "image/value", H5T_NATIVE_INT32);
  has_species_ = root.open(all + "species").is_dataset() == false &&
                 open(species_, all + "species/value", H5T_NATIVE_INT32);
  length_factor_ = factor_of(position_);
  time_factor_ = factor_of(time_);
  if (has_velocity_) velocity_factor_ = factor_of(velocity_);
  if (has_force_) force_factor_ = factor_of(force_);
  wall_time_ = root.open("parameters/perrin/wall_time");
  wall_before_ = read_real(wall_time_);
  opened_ = std::chrono::steady_clock::now();
}

void H5mdWriter::append(const H5mdFrame& frame) {
  use();
  const auto add = [](Series& series, const auto* row, std::size_t n = 1, double factor = 1) {
    io::append(series, row, n, factor);
    series.flush();
  };
  add(step_, &frame.step);
  add(time_, &frame.time, 1, time_factor_);
  add(edges_, frame.edges.data(), 9, length_factor_);
  add(origin_, frame.origin.data(), 3, length_factor_);
  if (has_species_) add(species_, frame.species.data());
  if (has_velocity_) add(velocity_, frame.velocity.data(), frame.velocity.size(), velocity_factor_);
  if (has_force_) add(force_, frame.force.data(), frame.force.size(), force_factor_);
  if (has_image_) add(image_, frame.image.data());
  // Last: whoever counts frames by the positions finds everything else there.
  append_positions(position_, frame, length_factor_);
  position_.flush();
  const double seconds =
      wall_before_ +
      std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
  wall_time_.rewrite(H5T_NATIVE_DOUBLE, &seconds);
}

void H5mdWriter::write_neighbors(const std::string& report) { rewrite_neighbors(use(), report); }

void H5mdWriter::close_parts() {
  for (Series* series :
       {&step_, &time_, &edges_, &origin_, &velocity_, &force_, &image_, &species_, &position_})
    *series = Series();
  wall_time_ = Node();
}

static void write_contents(const Node& root, const std::vector<ObservableColumn>& columns,
                           const JobRecord& record, const Units& units) {
  write_run_record(root, record, !units.reduced());
  write_module(root, "thermodynamics");
  root.make_group("particles");
  Node step, time;
  for (const ObservableColumn& column : columns) {
    const Node group = root.make_group("observables/" + column.name);
    if (step.file().empty()) {
      make_clock(group, file_time(units));
      step = group.open("step");
      time = group.open("time");
    } else {
      group.hard_link(step, "step");
      group.hard_link(time, "time");
    }
    hsize_t width = 1;
    for (const hsize_t extent : column.row) width *= extent;
    // Wide rows (profiles, spectra) in chunks that still fit a cache.
    const hsize_t chunk = width <= 64 ? scalar_chunk : std::max<hsize_t>(1, 32768 / width);
    set_unit(Series::make(group, "value", H5T_IEEE_F64LE, column.row, chunk).node(),
             {column.unit, column.factor});
  }
}

void ObservablesWriter::create(const std::string& path,
                               const std::vector<ObservableColumn>& columns,
                               const JobRecord& record, const Units& units, bool overwrite) {
  NewFile place(path);
  File file = File::create(place.aside());
  write_contents(file.root(), columns, record, units);
  file.close();
  place.put_in_place(overwrite);
}

void ObservablesWriter::trim(const std::string& path, const JobRecord& record, std::int64_t rows,
                             std::int64_t last_step) {
  File file = File::modify(path);
  const auto names = file.root().open("observables").children();
  if (names.empty()) throw UserError(path + ": cannot be continued: it has no observables");
  const std::string clock = "observables/" + names[0];
  check_steps(file.root(), clock + "/step", rows, last_step);
  const auto cut = [&](const std::string& name) {
    Series series = Series::open(file.root(), name, H5T_NATIVE_DOUBLE);
    if (series.size() < rows)
      throw UserError(fmt::format("{}: cannot be continued: {} has {} rows, expected {}", path,
                                  series.node().path(), series.size(), rows));
    if (series.size() > rows) series.truncate(rows);
  };
  for (const std::string& name : names) cut("observables/" + name + "/value");
  cut(clock + "/step");
  cut(clock + "/time");
  renew_run_record(file.root(), record, last_step);
  file.close();
}

ObservablesWriter::ObservablesWriter(const std::string& path,
                                     const std::vector<ObservableColumn>& columns)
    : OpenWhenUsed(path), columns_(columns) {
  if (has_room()) use();
}

ObservablesWriter::~ObservablesWriter() {
  try {
    close();
  } catch (const std::exception& error) {
    remember_output_failure(error.what());
  }
}

void ObservablesWriter::open_parts(const Node& root) {
  const Node group = root.open("observables");
  step_ = Series::open(group, columns_.front().name + "/step", H5T_NATIVE_INT64);
  time_ = Series::open(group, columns_.front().name + "/time", H5T_NATIVE_DOUBLE);
  for (const ObservableColumn& column : columns_) {
    values_.push_back(Series::open(group, column.name + "/value", H5T_NATIVE_DOUBLE));
    std::size_t width = 1;
    for (const hsize_t extent : column.row) width *= extent;
    widths_.push_back(width);
    factors_.push_back(factor_of(values_.back()));
  }
  time_factor_ = factor_of(time_);
}

void ObservablesWriter::write(std::int64_t step, double time, const double* values) {
  step_.append(&step);
  io::append(time_, &time, 1, time_factor_);
  for (std::size_t k = 0; k < values_.size(); ++k) {
    io::append(values_[k], values, widths_[k], factors_[k]);
    values += widths_[k];
  }
}

void ObservablesWriter::write_waiting() {
  if (waiting_.empty() && !neighbors_) return;
  File& file = use();
  for (const Waiting& row : std::exchange(waiting_, {}))
    write(row.step, row.time, row.values.data());
  waiting_bytes_ = 0;
  if (const auto report = std::exchange(neighbors_, {})) rewrite_neighbors(file, *report);
}

void ObservablesWriter::append(std::int64_t step, double time, const std::vector<double>& values) {
  if (!is_open() && !has_room() && waiting_bytes_ < most_waiting) {
    waiting_.push_back({step, time, values});
    waiting_bytes_ += sizeof(Waiting) + 8 * values.size();
    return;
  }
  use();
  write_waiting();
  write(step, time, values.data());
  // Rows come far oftener than anybody looks.
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ > std::chrono::milliseconds(250)) {
    flush();
    flushed_ = now;
  }
}

void ObservablesWriter::write_neighbors(const std::string& report) {
  neighbors_ = report;
  if (is_open()) write_waiting();
}

void ObservablesWriter::flush() {
  write_waiting();
  if (!is_open()) return;  // whoever closed it has flushed it
  step_.flush();
  time_.flush();
  for (Series& series : values_) series.flush();
}

void ObservablesWriter::close_parts() {
  step_ = Series();
  time_ = Series();
  values_.clear();
  widths_.clear();
  factors_.clear();
}

void ObservablesWriter::close() {
  write_waiting();
  close_for_good();
}

}  // namespace perrin::io
