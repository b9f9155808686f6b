// H5MD 1.1 files of Perrin and of others: any frame as a configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/base/error.h"
#include "io/file_attributes.h"
#include "io/file_units.h"
#include "io/formats.h"
#include "io/h5md_connectivity.h"
#include "io/h5md_elements.h"
#include "io/h5md_group.h"
#include "io/hdf5_values.h"
#include "io/particle_ids.h"
#include "io/particle_order.h"
#include "io/writer.h"

namespace perrin::io {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

class H5mdReader : public FrameReader {
 public:
  H5mdReader(const std::string& path, const OpenOptions& options)
      : FrameReader(path), asked_for_(!options.groups.empty()) {
    writer().call([&] {
      try {
        file_ = File::read(path);
        open(options.groups);
      } catch (...) {
        close();
        throw;
      }
    });
  }
  ~H5mdReader() override {
    writer().call([&] { close(); });
  }

  std::int64_t frames() const override { return frames_; }

 protected:
  Frame get(std::int64_t index) override {
    return writer().get([&] { return read_all(index); });
  }

 private:
  /// On the writer's thread, like all that HDF5 does.
  void close() {
    groups_.clear();
    file_ = File();
  }
  [[noreturn]] void fail(const Node& node, const std::string& what) const {
    throw UserError(fmt::format("{}: {}: {}", path_, node.path(), what));
  }

  void open(const std::vector<std::string>& asked_for) {
    const Node& root = file_.root();
    if (!root.has("particles"))
      throw UserError(path_ + ": no group /particles: expected an H5MD file");
    const Node particles = root.open("particles");
    for (const std::string& name : asked_for.empty() ? usual_groups(particles) : asked_for) {
      if (name.find('/') != std::string::npos || !particles.has(name))
        throw UserError(fmt::format("{}: no group of particles {}; the groups are: {}", path_, name,
                                    fmt::join(particles.children(), ", ")));
      Node group = particles.open(name);
      for (const H5mdGroup& other : groups_)
        if (reference_to(other.node()) == reference_to(group))
          throw UserError(fmt::format("{}: {} and {} are the same group of particles", path_,
                                      other.node().path(), group.path()));
      groups_.emplace_back(root, std::move(group));
    }
    frames_ = groups_[0].frames();
    for (const H5mdGroup& group : groups_)
      for (const std::string& name : group.node().children())
        if (std::ranges::count(H5mdGroup::elements, name) == 0)
          dropped_.push_back(fmt::format("{}/{} is left out", group.node().path(), name));
        else if (const std::string why = group.why_unread(name); !why.empty())
          dropped_.push_back(fmt::format("{}/{} is left out: {}", group.node().path(), name, why));
    if (root.has("observables")) dropped_.push_back("/observables is left out");
  }

  /// The group that holds all; else every group, once where it has several names.
  std::vector<std::string> usual_groups(const Node& particles) const {
    for (const char* usual : {"all", "trajectory", "system"})
      if (particles.has(usual)) return {usual};
    std::vector<std::string> names;
    std::vector<hobj_ref_t> seen;
    for (const std::string& name : particles.children()) {
      if (!particles.has(name)) continue;
      const Node group = particles.open(name);
      if (group.is_dataset() || std::ranges::count(seen, reference_to(group)) > 0) continue;
      seen.push_back(reference_to(group));
      names.push_back(name);
    }
    // A group without positions says more about what is wrong than none.
    if (names.size() > 1)
      std::erase_if(names, [&](const auto& name) { return !particles.open(name).has("position"); });
    if (names.empty())
      throw UserError(path_ + ": no group of particles with positions under /particles");
    return names;
  }

  Frame read_all(std::int64_t index) const {
    std::vector<H5mdPart> parts;
    for (const H5mdGroup& group : groups_)
      parts.push_back(
          group.read(&group == &groups_[0] ? index : group.frame_beside(groups_[0], index)));
    Frame frame = joined(parts);
    Configuration& c = frame.configuration;
    read_types(parts, c);
    const Node& root = file_.root();
    const std::size_t n = c.position.size();
    read_diameters(c, index);
    groups_[0].get(root, "parameters/perrin/molecule", 0, H5mdGroup::When::held, n,
                   c.topology.molecule);
    read_moments(c, frame.units);
    if (const std::string path = "parameters/perrin/attributes"; root.has(path))
      for (const std::string& name : root.open(path).children()) {
        std::vector<double> values;
        if (groups_[0].get(root, path + "/" + name, index, H5mdGroup::When::held, n, values) ==
            H5mdGroup::Found::here)
          take_attribute(c, name, path + "/" + name, std::move(values));
      }
    frame.changing_attributes = changing_attributes();
    frame.dropped = dropped_;
    const auto members = sort_by_id(parts, c);
    read_connectivity(root, members, asked_for_, index, c);
    if (const auto absent = std::ranges::count(parts[0].id, -1); absent > 0)
      keep_first(c, n - std::size_t(absent));
    keep_ids_of(members, c);
    if (root.has("parameters/perrin/no_sites"))
      c.topology.body.assign(c.position.size(), Topology::no_body);
    if (groups_.size() > 1 && !asked_for_) {
      std::vector<std::string> names;
      for (const H5mdGroup& group : groups_) names.push_back(group.name());
      c.warnings.push_back(
          fmt::format("the groups of particles {} are joined", fmt::join(names, ", ")));
    }
    return frame;
  }

  /// Those that are time-dependent elements.
  std::set<std::string> changing_attributes() const {
    std::set<std::string> names;
    const auto look = [&](const Node& parent, const std::string& path, const std::string& name) {
      if (parent.has(path) && !parent.open(path).is_dataset()) names.insert(name);
    };
    for (const H5mdGroup& group : groups_) look(group.node(), "charge", "charge");
    look(file_.root(), "parameters/perrin/diameter", "diameter");
    if (const std::string path = "parameters/perrin/attributes"; file_.root().has(path))
      for (const std::string& name : file_.root().open(path).children())
        look(file_.root(), path + "/" + name, name);
    return names;
  }

  /// In the unit of length of the rest. Earlier versions wrote them in the job's, without a unit.
  void read_diameters(Configuration& c, std::int64_t frame) const {
    const std::string path = "parameters/perrin/diameter";
    const Node &root = file_.root(), &group = groups_[0].node();
    if (groups_[0].get(root, path, frame, H5mdGroup::When::held, c.position.size(), c.diameter) !=
            H5mdGroup::Found::here ||
        !root.open(path).is_dataset() || root.open(path).has_attribute("unit") ||
        !group.has("position/value"))
      return;
    const double factor = factor_of(group.open("position/value"));
    if (factor == 1) return;
    for (double& diameter : c.diameter) diameter *= factor;
  }

  /// In the units of mass and length of the rest, whatever they are written in.
  void read_moments(Configuration& c, const FrameUnits& units) const {
    const std::string path = "parameters/perrin/moment_of_inertia";
    const std::size_t n = c.position.size();
    std::vector<double> numbers;
    if (groups_[0].get(file_.root(), path, 0, H5mdGroup::When::held, 3 * n, numbers) !=
        H5mdGroup::Found::here)
      return;
    double factor = 1;
    if (const auto unit = read_text_attribute(file_.root().open(path), "unit"); !unit.empty())
      factor =
          convert_unit(unit[0], fmt::format("{} {} {}", units.mass, units.length, units.length),
                       path_ + ": " + path);
    for (std::size_t i = 0; i < n; ++i)
      c.moment_of_inertia.push_back(
          factor * Vec3<double>{numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]});
  }

  /// Group behind group.
  Frame joined(const std::vector<H5mdPart>& parts) const {
    Frame frame = parts[0].frame;
    Configuration& c = frame.configuration;
    for (std::size_t k = 1; k < parts.size(); ++k) {
      const Node& node = groups_[k].node();
      const Frame& other = parts[k].frame;
      const Configuration& o = other.configuration;
      const std::string first = groups_[0].node().path();
      const auto need = [&](bool same, const char* what) {
        if (!same) fail(node, fmt::format("{} of {}: they cannot be joined", what, first));
      };
      need(groups_[k].dimension() == groups_[0].dimension() && o.box == c.box,
           "the box differs from that");
      need(other.units == frame.units, "the units differ from those");
      need(o.mass.empty() == c.mass.empty(), "masses are missing here, or in those");
      const auto all = [&](auto& mine, const auto& more, std::string& none, const char* what) {
        if (mine.empty() != more.empty() && none.empty() && c.position.size() > 0)
          none = fmt::format("{} has no {}, or only {} has some", first, what, node.path());
        if (mine.empty() || more.empty()) return mine.clear();
        append(mine, more);
      };
      if (!other.no_velocities.empty()) frame.no_velocities = other.no_velocities;
      if (!other.no_images.empty()) frame.no_images = other.no_images;
      all(c.velocity, o.velocity, frame.no_velocities, "velocities");
      all(c.image, o.image, frame.no_images, "images");
      if (!other.no_orientations.empty()) frame.no_orientations = other.no_orientations;
      all(c.orientation, o.orientation, frame.no_orientations, "orientations");
      all(c.angular_momentum, o.angular_momentum, frame.no_velocities, "angular momenta");
      frame.fine = frame.fine || other.fine;
      frame.fine_velocity = frame.fine_velocity || other.fine_velocity;
      append(c.mass, o.mass);
      if (!c.charge.empty() || !o.charge.empty()) {
        c.charge.resize(c.position.size());
        append(c.charge, o.charge);
        c.charge.resize(c.position.size() + o.position.size());
      }
      append(c.position, o.position);
    }
    return frame;
  }

  /// Names are those that Perrin gave, or of an enumeration; else the numbers, or the group's where
  /// it has no numbers.
  void read_types(const std::vector<H5mdPart>& parts, Configuration& c) const {
    const Node& root = file_.root();
    const bool named = root.has("parameters/perrin/type_names");
    if (named) c.types = read_names(root.open("parameters/perrin/type_names"));
    std::map<std::pair<std::int32_t, std::size_t>, std::uint32_t> known;  // of (number, group)
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (const std::int32_t s : parts[k].species) known.emplace(std::pair(s, k), 0);
    std::vector<std::map<std::int32_t, std::string>> names;
    for (const H5mdGroup& group : groups_) names.push_back(group.species_names());
    if (!named)
      for (auto& [key, type] : known) {
        const auto& [s, k] = key;
        const auto name = names[k].find(s);
        type = index_of(c.types, name == names[k].end() ? std::to_string(s) : name->second);
      }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::size_t n = groups_[k].size();
      if (parts[k].species.empty()) {
        const std::string name = parts.size() > 1 ? groups_[k].name() : "0";
        c.type.insert(c.type.end(), n, named && parts.size() == 1 ? 0 : index_of(c.types, name));
        continue;
      }
      for (const std::int32_t s : parts[k].species) {
        if (named && (s < 0 || std::size_t(s) >= c.types.size()))
          throw UserError(fmt::format("{}: species {} has no name: expected 0 to {}", path_, s,
                                      std::ssize(c.types) - 1));
        c.type.push_back(named ? std::uint32_t(s) : known.at({s, k}));
      }
    }
  }

  /// H5MD 1.1: where particles come and go there is room for all, and the id of who is not there is
  /// -1. They become the last ones.
  void hide_absent(std::vector<std::int64_t>& id) const {
    if (std::ranges::count(id, -1) == 0) return;
    if (groups_.size() > 1)
      fail(groups_[0].node().open("id"),
           "is -1 for particles that are not there, and groups with such are not joined");
    std::int64_t next = *std::ranges::max_element(id);
    for (std::int64_t& one : id)
      if (one == -1) one = ++next;
  }

  /// The others are not there, nor are the types that they have meanwhile.
  static void keep_first(Configuration& c, std::size_t n) {
    const auto cut = [n](auto& values) {
      if (values.size() > n) values.resize(n);
    };
    cut(c.position), cut(c.type), cut(c.velocity), cut(c.image), cut(c.mass), cut(c.charge);
    cut(c.diameter), cut(c.orientation), cut(c.angular_momentum), cut(c.moment_of_inertia);
    cut(c.topology.molecule);
    for (auto& [name, values] : c.attributes) cut(values);
    c.types.erase(std::ranges::find_if(c.types, is_absent), c.types.end());
  }

  /// Where all groups have ids, and no two particles the same.
  static void keep_ids_of(const std::vector<H5mdMembers>& members, Configuration& c) {
    const std::size_t n = c.position.size();
    std::vector<std::int64_t> ids(n);
    bool changing = false;
    for (const H5mdMembers& m : members) {
      if (!m.group->has_ids()) return;
      changing = changing || m.group->has_changing_ids();
      for (const auto& [id, row] : m.place)
        if (row < n) ids[row] = id;  // the others are not there
    }
    if (std::ranges::adjacent_find(ids, std::ranges::greater_equal()) != ids.end()) return;
    keep_ids(c, ids, changing);
  }

  /// Others may write particles in any order, with their ids beside. Where groups are joined and
  /// their ids differ, all are sorted; where they are the same numbers, each group for itself.
  std::vector<H5mdMembers> sort_by_id(const std::vector<H5mdPart>& parts, Configuration& c) const {
    const std::size_t n = c.position.size();
    std::vector<std::int64_t> id;
    for (const H5mdPart& part : parts) append(id, part.id);
    const bool all = id.size() == n;
    hide_absent(id);
    std::vector<std::size_t> group_of, begin{0};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      group_of.insert(group_of.end(), groups_[k].size(), k);
      begin.push_back(begin.back() + groups_[k].size());
    }
    if (!all) {  // some have none: by row
      id.clear();
      for (std::size_t k = 0; k < parts.size(); ++k)
        for (std::size_t i = 0; i < groups_[k].size(); ++i)
          id.push_back(parts[k].id.empty() ? std::int64_t(i) : parts[k].id[i]);
    }
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const auto by_id = [&](std::uint32_t a, std::uint32_t b) { return id[a] < id[b]; };
    std::ranges::stable_sort(order, by_id);
    bool twice = false;
    for (std::size_t k = 1; k < n; ++k) {
      const std::uint32_t a = order[k - 1], b = order[k];
      if (id[a] != id[b]) continue;
      twice = true;
      if (group_of[a] == group_of[b])
        fail(groups_[group_of[a]].node().open("id"), fmt::format("the id {} occurs twice", id[a]));
      if (all && c.position[a] == c.position[b])
        throw UserError(fmt::format("{}: particle {} is in {} and in {}: name one of them (group)",
                                    path_, id[a], groups_[group_of[a]].node().path(),
                                    groups_[group_of[b]].node().path()));
    }
    if (twice || !all)
      std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return group_of[i]; });
    reorder_particles(c, order);
    std::vector<H5mdMembers> members;
    for (const H5mdGroup& group : groups_) members.push_back({&group, {}});
    for (std::size_t k = 0; k < n; ++k)
      members[group_of[order[k]]].place.emplace_back(id[order[k]], std::uint32_t(k));
    for (H5mdMembers& m : members) std::ranges::sort(m.place);
    return members;
  }

  File file_;
  bool asked_for_;
  std::vector<H5mdGroup> groups_;
  std::int64_t frames_ = 0;
  std::vector<std::string> dropped_;
};

}  // namespace

FileFormat h5md_format() {
  return {"h5md",
          {".h5", ".h5md", ".hdf5"},
          false,
          true,
          [](std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
          [](const std::string& path, const OpenOptions& options) -> std::unique_ptr<FrameReader> {
            return std::make_unique<H5mdReader>(path, options);
          },
          write_h5md,
          [](const Frame&) { return std::vector<std::string>(); }};
}

}  // namespace perrin::io
