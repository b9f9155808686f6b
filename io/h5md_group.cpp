#include "io/h5md_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "io/file_units.h"
#include "io/h5md_elements.h"
#include "io/hdf5_values.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

template <class T>
std::vector<T> read_as(const Node& node, Row row) {
  if constexpr (std::is_floating_point_v<T>)
    return read_reals(node, row);
  else
    return read_integers<T>(node, row);
}

std::vector<std::uint32_t> order_of(const std::vector<std::int64_t>& id) {
  std::vector<std::uint32_t> order(id.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return id[i]; });
  return order;
}

}  // namespace

H5mdGroup::H5mdGroup(const Node& root, Node group)
    : root_(root.open("/")), group_(std::move(group)) {
  const auto refuse = [&](const std::string& expected) {
    throw UserError(fmt::format("{}: no positions: expected {}", root_.file(), expected));
  };
  if (!group_.has("position")) refuse(group_.path() + "/position");
  const Node position = group_.open("position");
  moving_ = !position.is_dataset();
  if (moving_ && !position.has("value")) refuse(position.path() + "/value");
  const Node value = group_.open(moving_ ? "position/value" : "position");
  const Shape shape = shape_of_numbers(value);
  const std::size_t rank = moving_ ? 3 : 2;
  if (shape.size() != rank || (shape[rank - 1] != 3 && shape[rank - 1] != 2))
    fail(value, fmt::format("the shape [{}], expected {}[particles][3]", fmt::join(shape, "]["),
                            moving_ ? "[frames]" : ""));
  frames_ = moving_ ? std::int64_t(shape[0]) : 1;
  n_ = shape[rank - 2];
  dimension_ = shape[rank - 1];
  if (frames_ <= 0) fail(value, "no frames");
}

void H5mdGroup::fail(const Node& node, const std::string& what) const {
  throw UserError(fmt::format("{}: {}: {}", root_.file(), node.path(), what));
}

const H5mdSteps& H5mdGroup::steps_of(const Node& element) const {
  const auto it = steps_.find(element.path());
  if (it != steps_.end()) return it->second;
  return steps_.emplace(element.path(), H5mdSteps(element)).first->second;
}

bool H5mdGroup::has_steps() const { return moving_ && steps_of(group_.open("position")).known(); }

std::int64_t H5mdGroup::step(std::int64_t frame) const {
  return has_steps() ? steps_of(group_.open("position")).at(frame) : 0;
}

std::int64_t H5mdGroup::frame_beside(const H5mdGroup& other, std::int64_t frame) const {
  const Node position = group_.open("position");
  if (has_steps() && other.has_steps()) {
    const std::int64_t step = other.step(frame);
    if (const auto row = steps_of(position).row_of(step, frame)) return *row;
    fail(position, fmt::format("no value at step {}, where {} has one", step, other.node().path()));
  }
  if (frames_ == other.frames()) return frame;
  fail(position, fmt::format("{} frames, {} has {}, and steps are missing", frames_,
                             other.node().path(), other.frames()));
}

std::optional<std::int64_t> H5mdGroup::row_of(const Node& element, std::int64_t frame,
                                              When when) const {
  const H5mdSteps& own = steps_of(element);
  if (!has_steps() || !own.known()) {
    if (own.rows() == 1 && (when != When::same || frames_ == 1)) return 0;
    if (moving_ && own.rows() == frames_) return frame;
    fail(element,
         fmt::format("{} values for {} frames of the positions, and no steps to assign them",
                     own.rows(), frames_));
  }
  const std::int64_t step = this->step(frame);
  if (const auto row = own.row_of(step, frame)) return row;
  if (when == When::same) return std::nullopt;
  if (when == When::only && own.rows() == 1) return 0;
  if (when == When::only) fail(element, fmt::format("no value at step {} of the positions", step));
  if (const auto row = own.before(step)) return row;
  fail(element, fmt::format("no value at step {} of the positions, nor before it", step));
}

template <class T>
H5mdGroup::Found H5mdGroup::get(const Node& parent, const std::string& name, std::int64_t frame,
                                When when, std::size_t count, std::vector<T>& values) const {
  values.clear();
  if (!parent.has(name)) return Found::no;
  const Node node = parent.open(name);
  if (node.is_dataset()) {
    values = read_as<T>(node, Row{});
  } else {
    if (!node.has("value")) return Found::no;
    const auto row = row_of(node, frame, when);
    if (!row) return Found::elsewhere;
    values = read_as<T>(node.open("value"), *row);
  }
  if (count > 0 && values.size() != count)
    fail(node, fmt::format("{} values in a frame, expected {}", values.size(), count));
  return Found::here;
}

template H5mdGroup::Found H5mdGroup::get(const Node&, const std::string&, std::int64_t, When,
                                         std::size_t, std::vector<double>&) const;
template H5mdGroup::Found H5mdGroup::get(const Node&, const std::string&, std::int64_t, When,
                                         std::size_t, std::vector<std::uint32_t>&) const;
template H5mdGroup::Found H5mdGroup::get(const Node&, const std::string&, std::int64_t, When,
                                         std::size_t, std::vector<std::int64_t>&) const;

/// The ids at the instant from which the value of an element is.
std::vector<std::int64_t> H5mdGroup::ids_of(const Node& element, std::int64_t frame) const {
  const Node ids = group_.open("id");
  const H5mdSteps& own = steps_of(ids);
  std::optional<std::int64_t> row;
  if (element.is_dataset()) {
    row = 0;
  } else {
    const std::int64_t from = *row_of(element, frame, When::held);
    const H5mdSteps& steps = steps_of(element);
    row = steps.known() && own.known() ? own.row_of(steps.at(from), from) : from;
  }
  if (!row || *row >= own.rows())
    fail(element,
         "is from a step without ids, and ids change: its values cannot be assigned to particles");
  return read_integers<std::int64_t>(ids.open("value"), *row);
}

/// What stays until it changes. Where particles change their order (their ids) it may have been
/// written in another one.
template <class T>
bool H5mdGroup::held(const std::string& name, std::int64_t frame,
                     const std::vector<std::int64_t>& id, std::vector<T>& values) const {
  if (get(group_, name, frame, When::held, n_, values) == Found::no) return false;
  if (id.empty() || group_.open("id").is_dataset()) return true;
  const bool all_equal = std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
  if (all_equal) return true;
  const Node node = group_.open(name);
  const auto then = ids_of(node, frame);
  const auto same = [](std::int64_t a, std::int64_t b) { return a == b || a == -1 || b == -1; };
  if (std::ranges::equal(then, id, same)) return true;  // -1: it is not there
  if (node.is_dataset())
    fail(node,
         "holds for all frames, but the order of particles (id) changes: its values cannot be "
         "assigned to particles");
  const auto from = order_of(then), to = order_of(id);
  const std::vector<T> written = values;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k >= from.size() || then[from[k]] != id[to[k]]) fail(node, "is from a step with other ids");
    values[to[k]] = written[from[k]];
  }
  return true;
}

template <class To, class From>
std::vector<Vec3<To>> H5mdGroup::vectors(const std::vector<From>& values) const {
  std::vector<Vec3<To>> out(n_);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t axis = 0; axis < dimension_; ++axis)
      out[i][int(axis)] = To(values[dimension_ * i + axis]);
  return out;
}

std::string H5mdGroup::absent(const char* name, std::int64_t frame) const {
  return fmt::format("{}/{} has no value at step {} of the positions", group_.path(), name,
                     step(frame));
}

H5mdPart H5mdGroup::read(std::int64_t frame) const {
  H5mdPart part;
  Frame& f = part.frame;
  Configuration& c = f.configuration;
  f.units = read_units();
  c.box = read_box(frame, f.units);
  std::vector<double> real;
  std::vector<std::int64_t> whole;
  if (get(group_, "position", frame, When::same, dimension_ * n_, real) != Found::here)
    fail(group_, "no positions");
  c.position = vectors<double>(real);
  for (auto& r : c.position) r += c.box.origin;
  if (c.box.dimension == 2)
    for (auto& r : c.position) r.z = 0;
  get(group_, "id", frame, When::only, n_, part.id);
  const auto moving = [&](const char* name, auto& values, std::string& none) {
    const Found found = get(group_, name, frame, When::same, dimension_ * n_, values);
    if (found == Found::elsewhere) none = absent(name, frame);
    return found == Found::here;
  };
  if (moving("velocity", real, f.no_velocities)) c.velocity = vectors<double>(real);
  if (moving("image", whole, f.no_images)) {
    for (const std::int64_t image : whole)
      if (!std::in_range<std::int32_t>(image))
        fail(group_.open("image"), fmt::format("the value {}, expected one of 32 bits", image));
    c.image = vectors<std::int32_t>(whole);
  }
  read_orientations(frame, f);
  held("mass", frame, part.id, c.mass);
  held("charge", frame, part.id, c.charge);
  if (held("species", frame, part.id, whole)) {
    for (const std::int64_t species : whole)
      if (!std::in_range<std::int32_t>(species))
        fail(group_.open("species"), fmt::format("the value {}, expected one of 32 bits", species));
    part.species.assign(whole.begin(), whole.end());
  }
  f.fine = in_double("position");
  f.fine_velocity = in_double("velocity");
  f.has_step = has_steps();
  c.step = step(frame);
  f.time = time(frame);
  return part;
}

std::map<std::int32_t, std::string> H5mdGroup::species_names() const {
  std::map<std::int32_t, std::string> names;
  if (!group_.has("species")) return names;
  Node node = group_.open("species");
  if (!node.is_dataset()) node = node.open("value");
  const Hid type(H5Dget_type(node.id()));
  if (H5Tget_class(type) != H5T_ENUM) return names;
  const Hid base(H5Tget_super(type));
  const int members = H5Tget_nmembers(type);
  for (unsigned k = 0; k < unsigned(std::max(members, 0)); ++k) {
    std::array<char, 16> value{};  // of the enumeration, then as a number of 64 bits
    if (H5Tget_size(type) > value.size() || H5Tget_member_value(type, k, value.data()) < 0 ||
        H5Tconvert(base, H5T_NATIVE_INT64, 1, value.data(), nullptr, H5P_DEFAULT) < 0)
      fail(node, "an enumeration that cannot be read");
    std::int64_t number = 0;
    std::memcpy(&number, value.data(), sizeof number);
    char* const name = H5Tget_member_name(type, k);
    if (name == nullptr) fail(node, "an enumeration that cannot be read");
    if (std::in_range<std::int32_t>(number)) names[std::int32_t(number)] = name;
    H5free_memory(name);
  }
  return names;
}

bool H5mdGroup::in_double(const std::string& element) const {
  if (!group_.has(element)) return false;
  Node node = group_.open(element);
  if (!node.is_dataset()) node = node.open("value");
  const Hid type(H5Dget_type(node.id()));
  return H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) > sizeof(float);
}

std::optional<std::array<std::size_t, 4>> H5mdGroup::components() const {
  const Node node = group_.open("orientation");
  const auto names = read_text_attribute(node, orientation_components);
  if (names.size() != 4) return std::nullopt;
  std::array<std::size_t, 4> place{};
  for (std::size_t k = 0; k < 4; ++k) {
    const auto at = std::ranges::find(names, std::string(1, "wxyz"[k]));
    if (at == names.end()) return std::nullopt;
    place[k] = std::size_t(at - names.begin());
  }
  return place;
}

std::string H5mdGroup::why_unread(const std::string& name) const {
  if (name == "orientation" && !components())
    return fmt::format("its attribute {} does not name w, x, y and z", orientation_components);
  if (name == "angular_momentum" &&
      read_text_attribute(group_.open(name), angular_momentum_frame) !=
          std::vector<std::string>{"particle"})
    return fmt::format("its attribute {} is not \"particle\"", angular_momentum_frame);
  return {};
}

void H5mdGroup::read_orientations(std::int64_t frame, Frame& f) const {
  Configuration& c = f.configuration;
  std::vector<double> real;
  if (group_.has("orientation"))
    if (const auto place = components()) {
      const Found found = get(group_, "orientation", frame, When::same, 4 * n_, real);
      if (found == Found::elsewhere) f.no_orientations = absent("orientation", frame);
      if (found == Found::here) c.orientation.resize(n_);
      for (std::size_t i = 0; i < c.orientation.size(); ++i) {
        const auto number = [&](std::size_t k) { return real[4 * i + (*place)[k]]; };
        c.orientation[i] = {number(1), number(2), number(3), number(0)};
      }
    }
  if (!group_.has("angular_momentum") || !why_unread("angular_momentum").empty()) return;
  const Found found = get(group_, "angular_momentum", frame, When::same, 3 * n_, real);
  if (found == Found::elsewhere) f.no_velocities = absent("angular_momentum", frame);
  if (found != Found::here) return;
  for (std::size_t i = 0; i < n_; ++i)
    c.angular_momentum.push_back({real[3 * i], real[3 * i + 1], real[3 * i + 2]});
}

/// What the attributes say; an element without one is in the units of the others.
FrameUnits H5mdGroup::read_units() const {
  const auto unit = [&](std::initializer_list<std::string> names) -> std::string {
    for (const std::string& name : names)
      if (group_.has(name))
        if (const auto text = read_text_attribute(group_.open(name), "unit"); !text.empty())
          return text[0];
    return "";
  };
  return {unit({"position/value", "position", "box/edges/value", "box/edges"}),
          unit({"position/time"}), unit({"velocity/value", "velocity"}),
          unit({"mass/value", "mass"}), unit({"angular_momentum/value", "angular_momentum"})};
}

double H5mdGroup::time(std::int64_t frame) const {
  if (!moving_ || !group_.has("position/time")) return 0;
  const Node node = group_.open("position/time");
  const Shape shape = shape_of_numbers(node);
  if (shape.size() > 1)
    fail(node, fmt::format("the shape [{}], expected one per frame", fmt::join(shape, "][")));
  if (shape.size() == 1 && (shape[0] != 1 || frames_ == 1)) return read_reals(node, frame).at(0);
  const double offset = node.has_attribute("offset") ? read_real_attribute(node, "offset") : 0;
  return offset + read_real(node) * double(frame);
}

Box H5mdGroup::read_box(std::int64_t frame, const FrameUnits& units) const {
  if (!group_.has("box/edges"))
    throw UserError(fmt::format("{}: no box: expected {}/box/edges", root_.file(), group_.path()));
  const Node node = group_.open("box");
  std::vector<double> edges;
  get(node, "edges", frame, When::only, 0, edges);
  const std::string where = fmt::format("{}: {}/edges", root_.file(), node.path());
  for (const char* name : {"edges/value", "edges"})
    if (node.has(name))
      if (const auto text = read_text_attribute(node.open(name), "unit"); !text.empty()) {
        const double factor = convert_unit(text[0], units.length, where);
        for (double& number : edges) number *= factor;
        break;
      }
  Box box;
  const std::size_t d = dimension_;
  if (edges.size() == d) {
    for (std::size_t k = 0; k < d; ++k) box.length[int(k)] = edges[k];
  } else if (edges.size() == d * d) {
    std::array<Vec3<double>, 3> rows{Vec3<double>{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (std::size_t k = 0; k < d * d; ++k) rows[k / d][int(k % d)] = edges[k];
    box = box_from_edges(rows, where);
  } else {
    throw UserError(fmt::format("{}: {} values, expected {} or {}", where, edges.size(), d, d * d));
  }
  box.origin = {0, 0, 0};
  box.dimension = int(d);
  read_boundary(node, box);
  read_own(frame, box);
  if (box.dimension == 2) box.periodic[2] = true;
  return box;
}

/// One text for each axis, or one for all.
void H5mdGroup::read_boundary(const Node& node, Box& box) const {
  const auto boundary = read_text_attribute(node, "boundary");
  if (boundary.empty()) return;
  if (boundary.size() != dimension_ && boundary.size() != 1)
    fail(node, fmt::format("the attribute boundary has {} texts, expected {} or 1", boundary.size(),
                           dimension_));
  for (std::size_t k = 0; k < dimension_; ++k) {
    const std::string& text = boundary[boundary.size() == 1 ? 0 : k];
    if (text != "periodic" && text != "none")
      fail(node,
           fmt::format("the boundary {}, expected \"periodic\" or \"none\"", in_quotes(text)));
    box.periodic[k] = text == "periodic";
  }
}

/// What Perrin writes of the box besides.
void H5mdGroup::read_own(std::int64_t frame, Box& box) const {
  if (root_.has("parameters/perrin/dimension")) {
    const Node dimension = root_.open("parameters/perrin/dimension");
    const auto value = read_integer(dimension);
    if (value != 2 && value != 3) fail(dimension, fmt::format("{}, expected 2 or 3", value));
    if (value == 2) box.dimension = 2;
  }
  std::vector<double> origin;
  if (root_.has("parameters/perrin/box_origin") &&
      get(root_.open("parameters/perrin"), "box_origin", frame, When::only, 3, origin) ==
          Found::here)
    box.origin = {origin[0], origin[1], origin[2]};
}

}  // namespace perrin::io
