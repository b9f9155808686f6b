// H5MD 1.1 files of Perrin and of others: any frame as a configuration.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/error.h"
#include "io/formats.h"
#include "io/h5md_file.h"
#include "io/hdf5.h"
#include "io/writer.h"

namespace perrin::io {
namespace {

class H5mdReader : public FrameReader {
 public:
  explicit H5mdReader(const std::string& path) : path_(path) {
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

  Frame read(std::int64_t index) override {
    Frame frame = writer().get([&] { return get(index); });
    check_frame(frame.configuration, fmt::format("{}, frame {}", path_, index));
    return frame;
  }

 private:
  void open() {
    const Node& root = file_.root();
    if (!root.has("particles"))
      throw UserError(path_ + ": no group /particles: expected an H5MD file");
    const Node particles = root.open("particles");
    const auto names = particles.children();
    std::string name;
    for (const char* usual : {"all", "trajectory", "system"})
      if (name.empty() && particles.has(usual)) name = usual;
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
    const Node value = moving_ ? position.open("value") : group_.open("position");
    const Shape shape = value.shape();
    const std::size_t rank = moving_ ? 3 : 2;
    if (shape.size() != rank || (shape[rank - 1] != 3 && shape[rank - 1] != 2) ||
        !value.is_number())
      throw UserError(fmt::format("{}: {} has the shape [{}], expected {}[particles][3]", path_,
                                  value.path(), fmt::join(shape, "]["), moving_ ? "[frames]" : ""));
    frames_ = moving_ ? std::int64_t(shape[0]) : 1;
    n_ = shape[rank - 2];
    dimension_ = shape[rank - 1];
    if (frames_ == 0) throw UserError(fmt::format("{}: {} has no frames", path_, value.path()));
  }

  /// The values of an element at a frame, static or not; false where there is none. `per` values
  /// are expected, of which the last axis may be 2 or 3 long.
  template <class T>
  bool element(const Node& parent, const std::string& name, std::int64_t frame, std::size_t count,
               std::vector<T>& values) const {
    if (!parent.has(name)) return false;
    const Node node = parent.open(name);
    if (node.is_dataset()) {
      values = node.read<T>();
    } else {
      if (!node.has("value")) return false;
      const Node value = node.open("value");
      const Shape shape = value.shape();
      if (shape.empty() || std::int64_t(shape[0]) <= frame)
        throw UserError(fmt::format("{}: {} has {} frames, frame {} is wanted", path_, value.path(),
                                    shape.empty() ? 0 : shape[0], frame));
      values = value.read_row<T>(frame);
    }
    if (count > 0 && values.size() != count)
      throw UserError(fmt::format("{}: {} has {} values in a frame, expected {}", path_,
                                  node.path(), values.size(), count));
    return true;
  }

  template <class To, class From>
  std::vector<Vec3<To>> vectors(const std::vector<From>& values) const {
    std::vector<Vec3<To>> out(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t axis = 0; axis < dimension_; ++axis)
        out[i][int(axis)] = To(values[dimension_ * i + axis]);
    return out;
  }

  Frame get(std::int64_t index) const {
    Frame frame;
    Configuration& c = frame.configuration;
    c.box = read_box(index);
    std::vector<double> real;
    std::vector<std::int32_t> whole;
    element(group_, "position", index, dimension_ * n_, real);
    c.position = vectors<double>(real);
    for (auto& r : c.position) r += c.box.origin;
    if (c.box.dimension == 2)
      for (auto& r : c.position) r.z = 0;
    if (element(group_, "velocity", index, dimension_ * n_, real))
      c.velocity = vectors<double>(real);
    if (element(group_, "image", index, dimension_ * n_, whole))
      c.image = vectors<std::int32_t>(whole);
    element(group_, "mass", index, n_, c.mass);
    element(group_, "charge", index, n_, c.charge);
    read_types(index, c);
    read_topology(c);
    if (moving_) {
      std::vector<std::int64_t> step;
      clock("step", index, step);
      if (!step.empty()) c.step = step[0];
      clock("time", index, real);
      if (!real.empty()) frame.time = real[0];
    }
    const Node& root = file_.root();
    if (root.has("parameters/perrin/diameter"))
      c.diameter = root.open("parameters/perrin/diameter").read<double>();
    sort_by_id(index, c);
    return frame;
  }

  /// Step or time: one per frame, or, in files of others, a single increment.
  template <class T>
  void clock(const std::string& name, std::int64_t frame, std::vector<T>& value) const {
    value.clear();
    const Node position = group_.open("position");
    if (!position.has(name)) return;
    const Node node = position.open(name);
    const Shape shape = node.shape();
    if (shape.empty()) {
      const T increment = node.read<T>()[0];
      value = {T(increment * T(frame))};
    } else if (std::int64_t(shape[0]) > frame) {
      value = node.read_row<T>(frame);
    }
  }

  Box read_box(std::int64_t index) const {
    if (!group_.has("box/edges"))
      throw UserError(fmt::format("{}: no box: expected {}/box/edges", path_, group_.path()));
    const Node node = group_.open("box");
    std::vector<double> edges;
    element(node, "edges", index, 0, edges);
    Box box;
    const std::size_t d = dimension_;
    if (edges.size() == d) {
      for (std::size_t k = 0; k < d; ++k) box.length[int(k)] = edges[k];
    } else if (edges.size() == d * d) {
      std::array<Vec3<double>, 3> rows{Vec3<double>{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      for (std::size_t k = 0; k < d * d; ++k) rows[k / d][int(k % d)] = edges[k];
      box = box_from_edges(rows, fmt::format("{}: {}/box/edges", path_, group_.path()));
    } else {
      throw UserError(fmt::format("{}: {}/box/edges has {} values, expected {} or {}", path_,
                                  group_.path(), edges.size(), d, d * d));
    }
    box.origin = {0, 0, 0};
    box.dimension = int(d);
    if (node.has_attribute("boundary")) {
      const auto boundary = node.texts_attribute("boundary");
      for (std::size_t k = 0; k < std::min(boundary.size(), d); ++k)
        box.periodic[k] = boundary[k] == "periodic";
    }
    const Node& root = file_.root();
    if (root.has("parameters/perrin/dimension") &&
        root.open("parameters/perrin/dimension").read<std::int32_t>()[0] == 2) {
      box.dimension = 2;
      box.periodic[2] = true;
    }
    std::vector<double> origin;
    if (root.has("parameters/perrin") &&
        element(root.open("parameters/perrin"), "box_origin", index, 3, origin))
      box.origin = {origin[0], origin[1], origin[2]};
    return box;
  }

  void read_types(std::int64_t index, Configuration& c) const {
    const Node& root = file_.root();
    std::vector<std::int32_t> species;
    if (!element(group_, "species", index, n_, species)) species.assign(n_, 0);
    if (root.has("parameters/perrin/type_names")) c.types = names("parameters/perrin/type_names");
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

  std::vector<std::string> names(const std::string& path) const {
    return file_.root().open(path).read_texts();
  }

  void read_topology(Configuration& c) const {
    const Node& root = file_.root();
    if (root.has("parameters/perrin/molecule"))
      c.topology.molecule = root.open("parameters/perrin/molecule").read<std::uint32_t>();
    if (!root.has("connectivity")) return;
    const Node connectivity = root.open("connectivity");
    for (const std::string& name : connectivity.children()) {
      const Node node = connectivity.open(name);
      if (!node.is_dataset()) continue;
      const Shape shape = node.shape();
      if (shape.size() == 2 && shape[1] == 4 && shape[0] > 0)
        c.left_out["dihedrals"] += std::int64_t(shape[0]);
      if (shape.size() != 2 || (shape[1] != 2 && shape[1] != 3)) continue;
      const auto ids = node.read<std::int64_t>();
      // With ours come the types of the bonds; a list of others is one type, named like the list.
      std::vector<std::uint32_t> types(shape[0], 0);
      std::vector<std::string> type_names{name};
      const std::string own = "parameters/perrin/" + name + "_type";
      if (root.has(own) && root.has(own + "_names")) {
        types = root.open(own).read<std::uint32_t>();
        type_names = names(own + "_names");
        if (types.size() != shape[0])
          throw UserError(fmt::format("{}: /{} has {} values, expected {}", path_, own,
                                      types.size(), shape[0]));
      }
      const auto id = [&](std::size_t k) { return std::uint32_t(ids[k]); };
      Topology& t = c.topology;
      if (shape[1] == 2) {
        const auto first = std::uint32_t(t.bond_types.size());
        t.bond_types.insert(t.bond_types.end(), type_names.begin(), type_names.end());
        for (std::size_t k = 0; k < shape[0]; ++k)
          t.bonds.push_back({id(2 * k), id(2 * k + 1), first + types[k]});
      } else {
        const auto first = std::uint32_t(t.angle_types.size());
        t.angle_types.insert(t.angle_types.end(), type_names.begin(), type_names.end());
        for (std::size_t k = 0; k < shape[0]; ++k)
          t.angles.push_back({id(3 * k), id(3 * k + 1), id(3 * k + 2), first + types[k]});
      }
    }
  }

  /// Others may write particles in any order, with their ids beside.
  void sort_by_id(std::int64_t index, Configuration& c) const {
    std::vector<std::int64_t> id;
    if (!group_.has("id") || !element(group_, "id", index, n_, id)) return;
    if (std::ranges::is_sorted(id)) return;
    std::vector<std::size_t> order(n_);
    for (std::size_t i = 0; i < n_; ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return id[i]; });
    const auto sort = [&](auto& values) {
      if (values.size() != n_) return;
      auto sorted = values;
      for (std::size_t k = 0; k < n_; ++k) sorted[k] = values[order[k]];
      values = std::move(sorted);
    };
    sort(c.position);
    sort(c.velocity);
    sort(c.image);
    sort(c.mass);
    sort(c.charge);
    sort(c.type);
  }

  std::string path_;
  File file_;
  Node group_;
  bool moving_ = false;
  std::int64_t frames_ = 0;
  std::size_t n_ = 0, dimension_ = 3;
};

class H5mdConverter : public FrameWriter {
 public:
  H5mdConverter(const std::string& path, const Frame& first) {
    H5mdLayout layout;
    const Configuration& c = first.configuration;
    layout.velocity = !c.velocity.empty();
    JobRecord record;
    record.version = "convert";
    n_ = c.position.size();
    writer().call([&] {
      H5mdWriter::create(path, c, layout, record, Units{}, false);
      out_ = std::make_unique<H5mdWriter>(path);
    });
    path_ = path;
    velocity_ = layout.velocity;
  }
  ~H5mdConverter() override {
    writer().call([&] { out_.reset(); });
  }

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    if (c.position.size() != n_)
      throw UserError(
          fmt::format("{}: the number of particles changes from {} to {}: not possible "
                      "in this layout",
                      path_, n_, c.position.size()));
    H5mdFrame out;
    out.step = c.step;
    out.time = frame.time;
    out.set_box(c.box);
    for (std::size_t i = 0; i < n_; ++i) {
      const Vec3<double> r = c.position[i] - c.box.origin;
      for (int axis = 0; axis < 3; ++axis) {
        out.position.push_back(float(c.box.dimension == 2 && axis == 2 ? 0.5 : r[axis]));
        if (velocity_) out.velocity.push_back(c.velocity.empty() ? 0 : float(c.velocity[i][axis]));
        out.image.push_back(c.image.empty() ? 0 : c.image[i][axis]);
      }
    }
    writer().call([&] { out_->append(out); });
  }
  void finish() override {
    writer().call([&] { out_->close(); });
  }

 private:
  std::string path_;
  std::size_t n_ = 0;
  bool velocity_ = false;
  std::unique_ptr<H5mdWriter> out_;
};

}  // namespace

std::unique_ptr<FrameReader> open_h5md(const std::string& path) {
  return std::make_unique<H5mdReader>(path);
}
std::unique_ptr<FrameWriter> write_h5md(const std::string& path, const Frame& first) {
  return std::make_unique<H5mdConverter>(path, first);
}

}  // namespace perrin::io
