// H5MD 1.1 files of Perrin and of others: any frame as a configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "engine/core/error.h"
#include "io/file_units.h"
#include "io/formats.h"
#include "io/hdf5_values.h"
#include "io/particle_order.h"
#include "io/text_lines.h"
#include "io/writer.h"

namespace perrin::io {
namespace {

class H5mdReader : public FrameReader {
 public:
  explicit H5mdReader(const std::string& path) : FrameReader(path) {
    writer().call([&] {
      file_ = File::read(path);
      open();
    });
  }
  ~H5mdReader() override {
    writer().call([&] {
      group_ = Node();
      file_ = File();
    });
  }

  std::int64_t frames() const override { return frames_; }

 protected:
  Frame get(std::int64_t index) override {
    return writer().get([&] { return read_all(index); });
  }

 private:
  [[noreturn]] void fail(const Node& node, const std::string& what) const {
    throw UserError(fmt::format("{}: {}: {}", path_, node.path(), what));
  }

  void open() {
    const Node& root = file_.root();
    if (!root.has("particles"))
      throw UserError(path_ + ": no group /particles: expected an H5MD file");
    const Node particles = root.open("particles");
    std::string name;
    for (const char* usual : {"all", "trajectory", "system"})
      if (name.empty() && particles.has(usual)) name = usual;
    const auto names = name.empty() ? particles.children() : std::vector<std::string>{};
    if (name.empty() && names.size() == 1) name = names[0];
    if (name.empty())
      throw UserError(fmt::format(
          "{}: {} groups under /particles, expected one, or one called \"all\" or \"trajectory\"",
          path_, names.size()));
    group_ = particles.open(name);
    if (!group_.has("position"))
      throw UserError(
          fmt::format("{}: no positions: expected /particles/{}/position", path_, name));
    const Node position = group_.open("position");
    moving_ = !position.is_dataset();
    if (moving_ && !position.has("value"))
      throw UserError(fmt::format("{}: no positions: expected {}/value", path_, position.path()));
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

  /// Calls read(dataset, row) for an element, static or not, and checks how many values came; false
  /// where there is no such element. count 0: any number.
  template <class T, class Read>
  bool element(const Node& parent, const std::string& name, std::int64_t frame, std::size_t count,
               std::vector<T>& values, Read&& read) const {
    if (!parent.has(name)) return false;
    const Node node = parent.open(name);
    if (!node.is_dataset() && !node.has("value")) return false;
    values = node.is_dataset() ? read(node, Row{}) : read(node.open("value"), row_of(node, frame));
    if (count > 0 && values.size() != count)
      fail(node, fmt::format("{} values in a frame, expected {}", values.size(), count));
    return true;
  }
  bool reals(const Node& parent, const std::string& name, std::int64_t frame, std::size_t count,
             std::vector<double>& values) const {
    return element(parent, name, frame, count, values,
                   [](const Node& node, Row row) { return read_reals(node, row); });
  }
  template <class T>
  bool integers(const Node& parent, const std::string& name, std::int64_t frame, std::size_t count,
                std::vector<T>& values) const {
    return element(parent, name, frame, count, values,
                   [](const Node& node, Row row) { return read_integers<T>(node, row); });
  }
  bool static_reals(const std::string& path, std::size_t count, std::vector<double>& values) const {
    return reals(file_.root(), path, 0, count, values);
  }

  /// The row of an element at a frame of the positions: that of the same step, where it counts its
  /// own.
  std::int64_t row_of(const Node& node, std::int64_t frame) const {
    if (!moving_ || !node.has("step") || !group_.has("position/step")) return frame;
    const Node own = node.open("step"), positions = group_.open("position/step");
    if (shape_of_numbers(own).size() != 1 || shape_of_numbers(positions).size() != 1) return frame;
    const auto step = read_integers<std::int64_t>(positions, frame)[0];
    if (const Shape shape = shape_of_numbers(own); hsize_t(frame) < shape[0])
      if (read_integers<std::int64_t>(own, frame)[0] == step) return frame;
    const auto steps = read_integers<std::int64_t>(own);
    const auto it = std::ranges::find(steps, step);
    if (it == steps.end()) fail(node, fmt::format("no value at step {} of the positions", step));
    return it - steps.begin();
  }

  template <class To, class From>
  std::vector<Vec3<To>> vectors(const std::vector<From>& values) const {
    std::vector<Vec3<To>> out(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t axis = 0; axis < dimension_; ++axis)
        out[i][int(axis)] = To(values[dimension_ * i + axis]);
    return out;
  }

  Frame read_all(std::int64_t index) const {
    Frame frame;
    Configuration& c = frame.configuration;
    frame.units = read_units();
    c.box = read_box(index, frame.units);
    std::vector<double> real;
    std::vector<std::int32_t> whole;
    if (!reals(group_, "position", index, dimension_ * n_, real)) fail(group_, "no positions");
    c.position = vectors<double>(real);
    for (auto& r : c.position) r += c.box.origin;
    if (c.box.dimension == 2)
      for (auto& r : c.position) r.z = 0;
    if (reals(group_, "velocity", index, dimension_ * n_, real)) c.velocity = vectors<double>(real);
    if (integers(group_, "image", index, dimension_ * n_, whole))
      c.image = vectors<std::int32_t>(whole);
    reals(group_, "mass", index, n_, c.mass);
    reals(group_, "charge", index, n_, c.charge);
    static_reals("parameters/perrin/diameter", n_, c.diameter);
    read_types(index, c);
    read_topology(c);
    if (moving_) {
      c.step = step(index);
      frame.time = time(index);
    }
    sort_by_id(index, c);
    return frame;
  }

  /// What the attributes say; an element without one is in the units of the others.
  FrameUnits read_units() const {
    const auto unit = [&](std::initializer_list<std::string> names) -> std::string {
      for (const std::string& name : names)
        if (group_.has(name))
          if (const auto text = read_text_attribute(group_.open(name), "unit"); !text.empty())
            return text[0];
      return "";
    };
    return {unit({"position/value", "position", "box/edges/value", "box/edges"}),
            unit({"position/time"}), unit({"velocity/value", "velocity"}),
            unit({"mass/value", "mass"})};
  }

  /// Step or time of a frame: one per frame, or, in files of others, an increment and an offset.
  /// `read` reads the number at a row or, without one, the only one.
  template <class Number, class Read>
  Number clock(const char* name, std::int64_t frame, Read&& read) const {
    const Node position = group_.open("position");
    if (!position.has(name)) return 0;
    const Node node = position.open(name);
    const Shape shape = shape_of_numbers(node);
    if (shape.size() == 1) return read(node, Row{frame});
    if (!shape.empty())
      fail(node, fmt::format("the shape [{}], expected one per frame", fmt::join(shape, "][")));
    Number value = read(node, Row{}), offset = 0;
    if (node.has_attribute("offset")) offset = Number(read_real_attribute(node, "offset"));
    if constexpr (std::is_integral_v<Number>) {
      if (__builtin_mul_overflow(value, frame, &value) ||
          __builtin_add_overflow(value, offset, &value))
        fail(node, "the step is beyond 64 bits");
      return value;
    } else {
      return offset + value * Number(frame);
    }
  }
  std::int64_t step(std::int64_t frame) const {
    return clock<std::int64_t>("step", frame, [](const Node& node, Row row) {
      return row ? read_integers<std::int64_t>(node, row).at(0) : read_integer(node);
    });
  }
  double time(std::int64_t frame) const {
    return clock<double>("time", frame, [](const Node& node, Row row) {
      return row ? read_reals(node, row).at(0) : read_real(node);
    });
  }

  Box read_box(std::int64_t index, const FrameUnits& units) const {
    if (!group_.has("box/edges"))
      throw UserError(fmt::format("{}: no box: expected {}/box/edges", path_, group_.path()));
    const Node node = group_.open("box");
    std::vector<double> edges;
    reals(node, "edges", index, 0, edges);
    const std::string where = fmt::format("{}: {}/edges", path_, node.path());
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
      throw UserError(
          fmt::format("{}: {} values, expected {} or {}", where, edges.size(), d, d * d));
    }
    box.origin = {0, 0, 0};
    box.dimension = int(d);
    read_boundary(node, box);
    const Node& root = file_.root();
    if (root.has("parameters/perrin/dimension")) {
      const Node dimension = root.open("parameters/perrin/dimension");
      const auto value = read_integer(dimension);
      if (value != 2 && value != 3) fail(dimension, fmt::format("{}, expected 2 or 3", value));
      if (value == 2) box.dimension = 2;
    }
    if (box.dimension == 2) box.periodic[2] = true;
    std::vector<double> origin;
    if (root.has("parameters/perrin/box_origin") &&
        reals(root.open("parameters/perrin"), "box_origin", index, 3, origin))
      box.origin = {origin[0], origin[1], origin[2]};
    return box;
  }

  void read_boundary(const Node& node, Box& box) const {
    const auto boundary = read_text_attribute(node, "boundary");
    if (boundary.empty()) return;
    if (boundary.size() != dimension_)
      fail(node, fmt::format("the attribute boundary has {} texts, expected {}", boundary.size(),
                             dimension_));
    for (std::size_t k = 0; k < dimension_; ++k) {
      if (boundary[k] != "periodic" && boundary[k] != "none")
        fail(node, fmt::format("the boundary {}, expected \"periodic\" or \"none\"",
                               quoted(boundary[k])));
      box.periodic[k] = boundary[k] == "periodic";
    }
  }

  void read_types(std::int64_t index, Configuration& c) const {
    const Node& root = file_.root();
    std::vector<std::int32_t> species;
    if (!integers(group_, "species", index, n_, species)) species.assign(n_, 0);
    if (root.has("parameters/perrin/type_names"))
      c.types = read_names(root.open("parameters/perrin/type_names"));
    std::map<std::int32_t, std::uint32_t> known;
    if (!c.types.empty()) {
      for (std::size_t k = 0; k < c.types.size(); ++k) known[std::int32_t(k)] = std::uint32_t(k);
    } else {
      for (const std::int32_t s : species) known.emplace(s, 0);
      for (auto& [s, type] : known) {
        type = std::uint32_t(c.types.size());
        c.types.push_back(std::to_string(s));
      }
    }
    for (const std::int32_t s : species) {
      const auto it = known.find(s);
      if (it == known.end())
        throw UserError(fmt::format("{}: species {} has no name: expected 0 to {}", path_, s,
                                    c.types.size() - 1));
      c.type.push_back(it->second);
    }
  }

  void read_topology(Configuration& c) const {
    const Node& root = file_.root();
    integers(root, "parameters/perrin/molecule", 0, n_, c.topology.molecule);
    if (!root.has("connectivity")) return;
    const Node connectivity = root.open("connectivity");
    for (const std::string& name : connectivity.children()) {
      if (!connectivity.has(name)) continue;
      const Node node = connectivity.open(name);
      if (!node.is_dataset()) continue;
      const Shape shape = node.shape();
      if (shape.size() == 2 && shape[1] >= 2 && shape[1] <= 4) read_list(name, node, shape, c);
    }
  }

  void read_list(const std::string& name, const Node& node, const Shape& shape,
                 Configuration& c) const {
    const Node& root = file_.root();
    const auto ids = read_integers<std::uint32_t>(node);
    const std::size_t n = ids.size() / shape[1];
    // With ours come the types of the bonds; a list of others is one type, named like the list.
    std::vector<std::uint32_t> types(n, 0);
    std::vector<std::string> type_names{name};
    const std::string own = "parameters/perrin/" + name + "_type";
    if (root.has(own) && root.has(own + "_names")) {
      type_names = read_names(root.open(own + "_names"));
      types = read_integers<std::uint32_t>(root.open(own));
      if (types.size() != n)
        fail(root.open(own), fmt::format("{} values, expected {}", types.size(), n));
    }
    Topology& t = c.topology;
    const bool impropers = name.starts_with("improper");
    auto& all_names = shape[1] == 2   ? t.bond_types
                      : shape[1] == 3 ? t.angle_types
                      : impropers     ? t.improper_types
                                      : t.dihedral_types;
    const auto first = std::uint32_t(all_names.size());
    for (const std::uint32_t type : types)
      if (type >= type_names.size())
        fail(root.open(own), fmt::format("type {}, expected 0 to {}", type, type_names.size() - 1));
    all_names.insert(all_names.end(), type_names.begin(), type_names.end());
    for (std::size_t k = 0; k < n; ++k) {
      if (shape[1] == 2)
        t.bonds.push_back({ids[2 * k], ids[2 * k + 1], first + types[k]});
      else if (shape[1] == 3)
        t.angles.push_back({ids[3 * k], ids[3 * k + 1], ids[3 * k + 2], first + types[k]});
      else
        (impropers ? t.impropers : t.dihedrals)
            .push_back(
                {ids[4 * k], ids[4 * k + 1], ids[4 * k + 2], ids[4 * k + 3], first + types[k]});
    }
  }

  /// Others may write particles in any order, with their ids beside. Bonds name ids.
  void sort_by_id(std::int64_t index, Configuration& c) const {
    std::vector<std::int64_t> id;
    if (!integers(group_, "id", index, n_, id)) return;
    std::vector<std::uint32_t> order(n_);
    for (std::size_t i = 0; i < n_; ++i) order[i] = std::uint32_t(i);
    if (!std::ranges::is_sorted(id))
      std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return id[i]; });
    reorder_particles(c, order);
    reorder(id, order);
    if (const auto twice = std::ranges::adjacent_find(id); twice != id.end())
      fail(group_.open("id"), fmt::format("the id {} is there twice", *twice));
    const auto place = [&](std::uint32_t& member) {
      const auto it = std::ranges::lower_bound(id, std::int64_t(member));
      if (it == id.end() || *it != std::int64_t(member))
        throw UserError(
            fmt::format("{}: /connectivity names particle {}, which is not among the "
                        "ids",
                        path_, member));
      member = std::uint32_t(it - id.begin());
    };
    for (auto& g : c.topology.bonds) place(g.a), place(g.b);
    for (auto& g : c.topology.angles) place(g.a), place(g.b), place(g.c);
    for (auto* list : {&c.topology.dihedrals, &c.topology.impropers})
      for (auto& g : *list) place(g.a), place(g.b), place(g.c), place(g.d);
  }

  File file_;
  Node group_;
  bool moving_ = false;
  std::int64_t frames_ = 0;
  std::size_t n_ = 0, dimension_ = 3;
};

}  // namespace

FileFormat h5md_format() {
  return {"h5md",
          {".h5", ".h5md", ".hdf5"},
          false,
          true,
          [](std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
          [](const std::string& path) -> std::unique_ptr<FrameReader> {
            return std::make_unique<H5mdReader>(path);
          },
          write_h5md,
          [](const Frame&) { return std::vector<std::string>(); }};
}

}  // namespace perrin::io
