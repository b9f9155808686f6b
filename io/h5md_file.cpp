#include "io/h5md_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/base/error.h"
#include "io/file_orientations.h"
#include "io/h5md_elements.h"
#include "io/hdf5_values.h"
#include "io/new_file.h"
#include "io/run_record.h"

namespace perrin::io {
namespace {

const std::string all_particles = "particles/all/";
constexpr std::int64_t most_frames = 8192;  // until the file is opened anew

/// Where an attribute is.
std::string path_of_attribute(const std::string& name) {
  if (name == "charge") return all_particles + name;
  return (name == "diameter" ? "parameters/perrin/" : "parameters/perrin/attributes/") + name;
}
/// Those of a file that every frame has numbers of, in the order of their letters.
std::set<std::string> changing_attributes(const Node& root) {
  std::set<std::string> names{"charge", "diameter"};
  if (const std::string path = "parameters/perrin/attributes"; root.has(path))
    for (const std::string& name : root.open(path).children()) names.insert(name);
  std::erase_if(names, [&](const std::string& name) {
    const std::string path = path_of_attribute(name);
    return !root.has(path) || root.open(path).is_dataset();
  });
  return names;
}

/// One row of each frame, all in one call. get(frame) is a list of numbers; they are multiplied
/// with `factor`, by times(numbers, frame).
template <class T, class Get, class Times>
void append_rows(Series& series, std::span<const H5mdFrame> frames, double factor, const Get& get,
                 const Times& times) {
  if (frames.size() == 1 && factor == 1) return series.append(std::data(get(frames[0])));
  std::vector<T> rows;
  for (const H5mdFrame& frame : frames) {
    const auto row = get(frame);
    const std::size_t first = rows.size();
    rows.insert(rows.end(), std::begin(row), std::end(row));
    if (factor != 1) times(std::span(rows).subspan(first), frame);
  }
  series.append(rows.data(), frames.size());
}
template <class T, class Get>
void append_rows(Series& series, std::span<const H5mdFrame> frames, double factor, const Get& get) {
  append_rows<T>(series, frames, factor, get, [factor](std::span<T> row, const H5mdFrame&) {
    for (T& value : row) value = T(value * factor);
  });
}

/// Coordinates in another unit, below the upper face of the box also after rounding.
template <class T, class Get>
void append_positions(Series& series, std::span<const H5mdFrame> frames, double factor,
                      const Get& get) {
  append_rows<T>(series, frames, factor, get, [factor](std::span<T> row, const H5mdFrame& frame) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double edge = frame.edges[4 * (k % 3)] * factor;
      const bool inside = row[k] < frame.edges[4 * (k % 3)];
      row[k] = T(row[k] * factor);
      if (inside && row[k] >= edge) row[k] = std::nextafter(T(edge), T(0));
    }
  });
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

/// About the axes of each particle's own frame.
void write_moments(const Node& root, const Configuration& c, const H5mdUnits& units) {
  const std::string path = "parameters/perrin/moment_of_inertia";
  std::vector<double> numbers;
  for (const auto& moment : c.moment_of_inertia)
    for (int axis = 0; axis < 3; ++axis)
      numbers.push_back(units.moment_of_inertia.factor * moment[axis]);
  root.write(path, H5T_IEEE_F64LE, {c.moment_of_inertia.size(), 3}, numbers.data());
  set_unit(root.open(path), units.moment_of_inertia);
}

/// What does not change.
void write_static(const Node& root, const Configuration& c, const H5mdLayout& layout,
                  const H5mdUnits& units) {
  const std::size_t n = c.position.size();
  const bool bonds = !layout.dynamic_bonds, ids = !layout.moving_ids;
  const auto stays = [&](const std::string& name) {
    return std::ranges::count(layout.changing_attributes, name) == 0;
  };
  if (!c.mass.empty())
    root.write(all_particles + "mass", c.mass);
  else
    root.write(all_particles + "mass", std::vector<double>(n, 1.0));
  if (!c.charge.empty() && stays("charge")) root.write(all_particles + "charge", c.charge);
  std::vector<std::int32_t> id(n);
  for (std::size_t k = 0; k < n; ++k) id[k] = std::int32_t(c.id.empty() ? k : c.id[k]);
  if (ids) root.write(all_particles + "id", id);
  if (!c.diameter.empty() && stays("diameter")) {
    std::vector<double> diameters = c.diameter;
    for (double& diameter : diameters) diameter *= units.length.factor;
    root.write("parameters/perrin/diameter", diameters);
    set_unit(root.open("parameters/perrin/diameter"), units.length);
  }
  if (has_moments(c)) write_moments(root, c, units);
  for (const auto& [name, values] : c.attributes)
    if (stays(name)) root.write(path_of_attribute(name), values);
  write_names(root, "parameters/perrin/type_names", c.types);
  root.write("parameters/perrin/dimension", {}, &c.box.dimension);

  const Topology& t = c.topology;
  if (bonds) write_bonds(root, c);
  if (!t.molecule.empty()) root.write("parameters/perrin/molecule", t.molecule);

  std::vector<std::int32_t> species(c.types.size()), from, to;
  for (std::size_t k = 0; k < species.size(); ++k) species[k] = std::int32_t(k);
  root.write("parameters/vmd_structure/indexOfSpecies", species);
  write_short_names(root, "parameters/vmd_structure/name", c.types);
  write_short_names(root, "parameters/vmd_structure/type", c.types);
  if (!bonds) return;
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
                    const Node& step, const Node& time, const FileUnit& unit,
                    const H5mdLayout& layout) {
  const Node group = root.make_group(path);
  Packing packing = layout.packing;
  if (packing.filter == Packing::Filter::rounded) packing.filter = Packing::Filter::deflate;
  Series series =
      Series::make(group, "value", type, row, layout.chunk_frames, packing, layout.chunk_particles);
  set_unit(series.node(), unit);
  group.hard_link(step, "step");
  group.hard_link(time, "time");
  return series;
}

/// The positions, with what they are relative to, and step and time of all elements.
Node make_positions(const Node& particles, hsize_t n, const H5mdLayout& layout,
                    const H5mdUnits& units) {
  Node group = particles.make_group("position");
  make_clock(group, units.time);
  const Series series =
      Series::make(group, "value", layout.fine_positions ? H5T_IEEE_F64LE : H5T_IEEE_F32LE, {n, 3},
                   layout.chunk_frames, layout.packing, layout.chunk_particles);
  set_unit(series.node(), units.length);
  if (layout.packing.filter == Packing::Filter::rounded)
    series.node().attribute("rounded_to", std::pow(10.0, -layout.packing.decimals));
  group.attribute("wrapped", std::string(layout.unwrapped ? "no" : "yes"));
  group.attribute("coordinates",
                  std::string("from the lower corner of the box, 0 to L; those of the job (walls, "
                              "profiles) are position + parameters/perrin/box_origin"));
  return group;
}

}  // namespace

std::size_t H5mdFrame::bytes() const {
  const std::size_t bonded =
      topology ? 12 * topology->bonds.size() + 16 * topology->angles.size() : 0;
  const std::size_t attribute_size = attributes.empty() ? 0 : attributes[0].size();
  return 4 * (position.size() + velocity.size() + force.size() + image.size() + species.size() +
              id.size() + orientation.size() + angular_momentum.size() + torque.size()) +
         8 * (fine_position.size() + fine_velocity.size()) +
         8 * attributes.size() * attribute_size + bonded;
}

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
      angular_momentum(file_angular_momentum(units)),
      torque(file_torque(units)),
      moment_of_inertia(file_moment_of_inertia(units)),
      mass(units.mass) {}

static void write_contents(const Node& root, const Configuration& c, const H5mdLayout& layout,
                           const JobRecord& record, const H5mdUnits& units) {
  write_run_record(root, record, units.named());
  const hsize_t n = c.position.size();
  const Node particles = root.make_group("particles/all");
  const Node position = make_positions(particles, n, layout, units);
  const Node step = position.open("step"), time = position.open("time");
  const auto element = [&](const std::string& name, hid_t type, const Shape& row,
                           const FileUnit& unit, const H5mdLayout& how) {
    make_element(root, name, type, row, step, time, unit, how);
  };
  if (layout.velocity)
    element(all_particles + "velocity", layout.fine_velocities ? H5T_IEEE_F64LE : H5T_IEEE_F32LE,
            {n, 3}, units.velocity, layout);
  if (layout.force) element(all_particles + "force", H5T_IEEE_F32LE, {n, 3}, units.force, layout);
  if (layout.image) element(all_particles + "image", H5T_STD_I32LE, {n, 3}, {}, layout);
  if (layout.orientation) {
    element(all_particles + "orientation", H5T_IEEE_F32LE, {n, 4}, {}, layout);
    root.open(all_particles + "orientation")
        .attribute(orientation_components, std::vector<std::string>{"w", "x", "y", "z"});
  }
  if (layout.angular_momentum) {
    element(all_particles + "angular_momentum", H5T_IEEE_F32LE, {n, 3}, units.angular_momentum,
            layout);
    root.open(all_particles + "angular_momentum")
        .attribute(angular_momentum_frame, std::string("particle"));
  }
  if (layout.torque)
    element(all_particles + "torque", H5T_IEEE_F32LE, {n, 3}, units.torque, layout);
  const std::vector<std::int32_t> species(c.type.begin(), c.type.end());
  if (layout.moving_species)
    element(all_particles + "species", H5T_STD_I32LE, {n}, {}, layout);
  else
    root.write(all_particles + "species", species);
  if (layout.moving_ids) element(all_particles + "id", H5T_STD_I32LE, {n}, {}, layout);

  const Node box = particles.make_group("box");
  box.attribute("dimension", std::int32_t(3));
  std::vector<std::string> boundary;
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat_axis = c.box.dimension == 2 && axis == 2;
    boundary.push_back(c.box.periodic[std::size_t(axis)] && !flat_axis ? "periodic" : "none");
  }
  box.attribute("boundary", boundary);
  H5mdLayout small;  // not packed, whatever the rest is
  small.chunk_frames = layout.chunk_frames;
  element(all_particles + "box/edges", H5T_IEEE_F64LE, {3, 3}, units.length, small);
  element("parameters/perrin/box_origin", H5T_IEEE_F64LE, {3}, units.length, small);
  for (const std::string& name : layout.changing_attributes)
    element(path_of_attribute(name), H5T_IEEE_F64LE, {n},
            name == "diameter" ? units.length : FileUnit{}, layout);
  write_static(root, c, layout, units);
  if (layout.dynamic_bonds) make_moving_bonds(root, c.topology, *layout.dynamic_bonds, step, time);
  set_unit(root.open(all_particles + "mass"), {units.mass});
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
  check_steps(root, all_particles + "position/step", frames, last_step);
  const auto cut = [&](const std::string& name) {
    if (!root.has(name)) return;
    Series series = Series::open(root, name, H5T_NATIVE_DOUBLE);
    if (series.size() < frames)
      throw UserError(fmt::format("{}: cannot be continued: /{} has {} frames, expected {}", path,
                                  name, series.size(), frames));
    series.truncate(frames);
  };
  // Positions first: their number is the number of frames for every reader.
  for (const char* name : {"position", "velocity", "force", "image", "orientation",
                           "angular_momentum", "torque", "box/edges"})
    cut(all_particles + name + "/value");
  for (const char* name : {"species", "id"})
    if (!root.open(all_particles + name).is_dataset()) cut(all_particles + name + "/value");
  for (const std::string& name : changing_attributes(root)) cut(path_of_attribute(name) + "/value");
  cut("parameters/perrin/box_origin/value");
  MovingBonds::trim(root, frames);
  cut(all_particles + "position/step");
  cut(all_particles + "position/time");
  renew_run_record(root, record, last_step);
  file.close();
}

static bool in_double(const Node& root, const std::string& path) {
  return root.has(path) && H5Tget_size(Hid(H5Dget_type(root.open(path).id()))) == sizeof(double);
}

H5mdWriter::H5mdWriter(const std::string& path) : OpenWhenUsed(path, most_frames) { use(); }

void H5mdWriter::open_parts(const Node& root) {
  const auto open = [&](Series& series, const std::string& name, hid_t type) {
    if (!root.has(name)) return false;
    series = Series::open(root, name, type);
    return true;
  };
  step_ = Series::open(root, all_particles + "position/step", H5T_NATIVE_INT64);
  time_ = Series::open(root, all_particles + "position/time", H5T_NATIVE_DOUBLE);
  edges_ = Series::open(root, all_particles + "box/edges/value", H5T_NATIVE_DOUBLE);
  origin_ = Series::open(root, "parameters/perrin/box_origin/value", H5T_NATIVE_DOUBLE);
  fine_ = in_double(root, all_particles + "position/value");
  position_ = Series::open(root, all_particles + "position/value",
                           fine_ ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT);
  fine_velocity_ = in_double(root, all_particles + "velocity/value");
  has_velocity_ = open(velocity_, all_particles + "velocity/value",
                       fine_velocity_ ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT);
  has_force_ = open(force_, all_particles + "force/value", H5T_NATIVE_FLOAT);
  has_image_ = open(image_, all_particles + "image/value", H5T_NATIVE_INT32);
  has_orientation_ = open(orientation_, all_particles + "orientation/value", H5T_NATIVE_FLOAT);
  has_angular_momentum_ =
      open(angular_momentum_, all_particles + "angular_momentum/value", H5T_NATIVE_FLOAT);
  has_torque_ = open(torque_, all_particles + "torque/value", H5T_NATIVE_FLOAT);
  has_species_ = root.open(all_particles + "species").is_dataset() == false &&
                 open(species_, all_particles + "species/value", H5T_NATIVE_INT32);
  has_id_ = root.open(all_particles + "id").is_dataset() == false &&
            open(id_, all_particles + "id/value", H5T_NATIVE_INT32);
  for (const std::string& name : changing_attributes(root))
    attributes_.push_back(
        Series::open(root, path_of_attribute(name) + "/value", H5T_NATIVE_DOUBLE));
  bonds_.open(root);
  length_factor_ = factor_of(position_);
  time_factor_ = factor_of(time_);
  if (has_velocity_) velocity_factor_ = factor_of(velocity_);
  if (has_force_) force_factor_ = factor_of(force_);
  if (has_angular_momentum_) angular_momentum_factor_ = factor_of(angular_momentum_);
  if (has_torque_) torque_factor_ = factor_of(torque_);
  wall_time_ = root.open("parameters/perrin/wall_time");
  wall_before_ = read_real(wall_time_);
  opened_ = std::chrono::steady_clock::now();
}

void H5mdWriter::append(std::span<const H5mdFrame> frames) {
  use();
  const auto add = [&]<class T>(T, Series& series, const auto& get, double factor = 1) {
    append_rows<T>(series, frames, factor, get);
    series.flush();
  };
  const auto one = [](const auto& value) { return std::span(&value, 1); };
  add(std::int64_t(), step_, [&](const H5mdFrame& f) { return one(f.step); });
  add(
      double(), time_, [&](const H5mdFrame& f) { return one(f.time); }, time_factor_);
  add(
      double(), edges_, [](const H5mdFrame& f) { return std::span(f.edges); }, length_factor_);
  add(
      double(), origin_, [](const H5mdFrame& f) { return std::span(f.origin); }, length_factor_);
  if (has_species_)
    add(std::int32_t(), species_, [](const H5mdFrame& f) { return std::span(f.species); });
  if (has_id_) add(std::int32_t(), id_, [](const H5mdFrame& f) { return std::span(f.id); });
  if (has_velocity_ && fine_velocity_)
    add(
        double(), velocity_, [](const H5mdFrame& f) { return std::span(f.fine_velocity); },
        velocity_factor_);
  else if (has_velocity_)
    add(
        float(), velocity_, [](const H5mdFrame& f) { return std::span(f.velocity); },
        velocity_factor_);
  if (has_force_)
    add(
        float(), force_, [](const H5mdFrame& f) { return std::span(f.force); }, force_factor_);
  if (has_image_)
    add(std::int32_t(), image_, [](const H5mdFrame& f) { return std::span(f.image); });
  if (has_orientation_)
    add(float(), orientation_, [](const H5mdFrame& f) { return std::span(f.orientation); });
  if (has_angular_momentum_)
    add(
        float(), angular_momentum_,
        [](const H5mdFrame& f) { return std::span(f.angular_momentum); }, angular_momentum_factor_);
  if (has_torque_)
    add(
        float(), torque_, [](const H5mdFrame& f) { return std::span(f.torque); }, torque_factor_);
  for (std::size_t k = 0; k < attributes_.size(); ++k)
    add(
        double(), attributes_[k],
        [k](const H5mdFrame& f) { return std::span<const double>(f.attributes.at(k)); },
        factor_of(attributes_[k]));
  if (bonds_.is_open())
    for (const H5mdFrame& frame : frames) {
      PERRIN_ASSERT(frame.topology != nullptr);
      bonds_.append(*frame.topology);
    }
  // Last: a reader that counts frames by the positions finds everything else there.
  if (fine_)
    append_positions<double>(position_, frames, length_factor_,
                             [](const H5mdFrame& f) { return std::span(f.fine_position); });
  else
    append_positions<float>(position_, frames, length_factor_,
                            [](const H5mdFrame& f) { return std::span(f.position); });
  position_.flush();
  const double seconds =
      wall_before_ +
      std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
  wall_time_.rewrite(H5T_NATIVE_DOUBLE, &seconds);
  write_late();
}

void H5mdWriter::write_late() {
  if (late_.waits()) late_.write(use());
}

void H5mdWriter::write_neighbors(const std::string& report) {
  late_.neighbors(report);
  if (is_open()) write_late();
}

void H5mdWriter::write_stage(std::size_t stages, std::size_t k, std::int64_t step,
                             const std::string& remark) {
  late_.stage(stages, k, step, remark);
  if (is_open()) write_late();
}

void H5mdWriter::close() {
  write_late();
  close_for_good();
}

H5mdWriter::~H5mdWriter() {
  try {
    write_late();
  } catch (const std::exception& error) {
    remember_output_failure(error.what());
  }
}

void H5mdWriter::close_parts() {
  for (Series* series : {&step_, &time_, &edges_, &origin_, &velocity_, &force_, &image_, &species_,
                         &id_, &orientation_, &angular_momentum_, &torque_, &position_})
    *series = Series();
  attributes_.clear();
  bonds_.close();
  wall_time_ = Node();
}

}  // namespace perrin::io
