#include "io/h5md_connectivity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "io/hdf5_values.h"

namespace perrin::io {
namespace {

class Connectivity {
 public:
  Connectivity(const Node& root, const std::vector<H5mdMembers>& groups, bool asked_for,
               std::int64_t frame, Configuration& c)
      : root_(root), groups_(groups), asked_for_(asked_for), frame_(frame), c_(c) {
    for (const H5mdMembers& g : groups) all_.insert(all_.end(), g.place.begin(), g.place.end());
    std::ranges::sort(all_);
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    unique_ = std::ranges::adjacent_find(all_, same) == all_.end() &&
              (groups.size() == 1 ||
               std::ranges::all_of(groups, [](const auto& g) { return g.group->has_ids(); }));
  }

  void read() {
    if (!root_.has("connectivity")) {
      const char* const for_vmd = "parameters/vmd_structure/bond_from";
      if (root_.has(for_vmd))
        left_out(root_.open(for_vmd), "names bonds, but there is no /connectivity");
      return;
    }
    const Node connectivity = root_.open("connectivity");
    if (connectivity.is_dataset()) return left_out(connectivity, "is not a group of lists");
    for (const std::string& name : connectivity.children())
      if (connectivity.has(name)) read(name, connectivity.open(name));
  }

 private:
  using Places = std::vector<std::pair<std::int64_t, std::uint32_t>>;

  [[noreturn]] static void fail(const Node& node, const std::string& what) {
    throw UserError(fmt::format("{}: {}: {}", node.file(), node.path(), what));
  }
  void left_out(const Node& node, const std::string& why) {
    c_.warnings.push_back(fmt::format("{} {}: left out", node.path(), why));
  }

  void read(const std::string& name, const Node& node) {
    const bool grouped = !node.is_dataset();
    if (grouped && (!node.has("value") || !node.open("value").is_dataset()))
      return left_out(node, "is neither a list nor a series of lists");
    const Node value = root_.open("connectivity/" + name + (grouped ? "/value" : ""));
    if (!value.is_number()) return left_out(node, "does not hold numbers");
    Shape shape = value.shape();
    const bool series = grouped && (shape.size() == 3 || node.has("step"));
    if (series && !shape.empty()) shape.erase(shape.begin());
    if (shape.size() != 2 || shape[1] < 2 || shape[1] > 4)
      return left_out(node, fmt::format("has the shape [{}]{}, expected [number of lists][2 to 4]",
                                        fmt::join(shape, "]["), series ? " in a frame" : ""));
    Row row;
    if (series) row = groups_[0].group->row_of(node, frame_, H5mdGroup::When::held);
    const auto ids = read_integers<std::int64_t>(value, row);
    const Places* places = places_of(node, value);
    add(name, node, ids, shape[1], places, series ? row : Row{});
  }

  /// Of the group that the attribute particles_group refers to; nullptr: of one that is not read.
  const Places* places_of(const Node& node, const Node& value) {
    for (const Node* it : {&node, &value}) {
      const auto reference = read_reference_attribute(*it, "particles_group");
      if (!reference) continue;
      for (const H5mdMembers& g : groups_)
        if (*reference == reference_to(g.group->node())) return &g.place;
      // Where both number by id, the ids are those of all groups.
      some_ = asked_for_;
      return unique_ && groups_[0].group->has_ids() && refers_to_ids(*reference) ? &all_ : nullptr;
    }
    some_ = asked_for_ && groups_[0].group->has_ids();
    if (unique_ && (some_ || !asked_for_ || others() <= groups_.size())) return &all_;
    if (asked_for_)
      fail(node,
           "names no particles_group, and the file has several groups: the group of its particles "
           "is unknown");
    fail(node,
         "names no particles_group, and several groups are joined whose particles have the same "
         "ids: name one group");
  }

  /// How many groups there are under /particles, by whatever names.
  std::size_t others() const {
    std::vector<hobj_ref_t> seen;
    const Node particles = root_.open("particles");
    for (const std::string& name : particles.children())
      if (particles.has(name)) seen.push_back(reference_to(particles.open(name)));
    std::ranges::sort(seen);
    return std::size_t(std::unique(seen.begin(), seen.end()) - seen.begin());
  }
  /// Whether a group that is not read numbers its particles by id.
  bool refers_to_ids(hobj_ref_t reference) const {
    const Node particles = root_.open("particles");
    for (const std::string& name : particles.children()) {
      if (!particles.has(name)) continue;
      const Node group = particles.open(name);
      if (!group.is_dataset() && reference_to(group) == reference) return group.has("id");
    }
    return false;
  }

  void add(const std::string& name, const Node& node, const std::vector<std::int64_t>& ids,
           std::size_t width, const Places* places, Row row) {
    const bool improper = width == 4 && name.starts_with("improper");
    const std::size_t n = ids.size() / width;
    const char* kind = width == 2   ? "bonds"
                       : width == 3 ? "angles"
                       : improper   ? "impropers"
                                    : "dihedrals";
    if (!places) {
      if (!asked_for_) c_.left_out[kind] += std::int64_t(n);
      return;
    }
    // With ours come the types of the bonds; a list of others is one type, named like the list.
    std::vector<std::uint32_t> types(n, 0);
    std::vector<std::string> type_names{name};
    const std::string own = "parameters/perrin/" + name + "_type";
    if (root_.has(own) && root_.has(own + "_names")) {
      type_names = read_names(root_.open(own + "_names"));
      const Node kinds = root_.open(own);
      types = row && !kinds.is_dataset() ? read_integers<std::uint32_t>(kinds.open("value"), row)
                                         : read_integers<std::uint32_t>(kinds);
      if (types.size() != n)
        fail(root_.open(own), fmt::format("{} values, expected {}", types.size(), n));
    }
    for (const std::uint32_t type : types)
      if (type >= type_names.size())
        fail(root_.open(own),
             fmt::format("type {}, expected 0 to {}", type, type_names.size() - 1));
    Topology& t = c_.topology;
    auto& all_names = width == 2   ? t.bond_types
                      : width == 3 ? t.angle_types
                      : improper   ? t.improper_types
                                   : t.dihedral_types;
    const auto first = std::uint32_t(all_names.size());
    all_names.insert(all_names.end(), type_names.begin(), type_names.end());
    for (std::size_t k = 0; k < n; ++k) {
      const std::int64_t* id = ids.data() + width * k;
      // Series whose lists grow and shrink are filled up so.
      if (std::all_of(id, id + width, [](std::int64_t i) { return i < 0; })) continue;
      if (some_) {
        const auto among = std::count_if(
            id, id + width, [&](std::int64_t i) { return find(*places, i) != places->end(); });
        if (among == 0) continue;
        if (among < std::ptrdiff_t(width)) {
          ++c_.left_out[kind];
          continue;
        }
      }
      std::array<std::uint32_t, 4> m{};
      for (std::size_t j = 0; j < width; ++j) m[j] = place(*places, id[j], node);
      const std::uint32_t type = first + types[k];
      if (width == 2)
        t.bonds.push_back({m[0], m[1], type});
      else if (width == 3)
        t.angles.push_back({m[0], m[1], m[2], type});
      else
        (improper ? t.impropers : t.dihedrals).push_back({m[0], m[1], m[2], m[3], type});
    }
  }

  static Places::const_iterator find(const Places& places, std::int64_t id) {
    const auto it = std::ranges::lower_bound(places, id, {}, &Places::value_type::first);
    return it == places.end() || it->first != id ? places.end() : it;
  }
  std::uint32_t place(const Places& places, std::int64_t id, const Node& node) const {
    const auto it = find(places, id);
    if (it == places.end())
      fail(node,
           groups_[0].group->has_ids()
               ? fmt::format("names particle {}, which is not among the ids", id)
               : fmt::format("names particle {}, expected 0 to {}", id, std::ssize(places) - 1));
    return it->second;
  }

  const Node& root_;
  const std::vector<H5mdMembers>& groups_;
  bool asked_for_, unique_ = false;
  bool some_ = false;  // the list that is read may name particles of groups that are not
  std::int64_t frame_;
  Configuration& c_;
  Places all_;
};

}  // namespace

void read_connectivity(const Node& root, const std::vector<H5mdMembers>& groups, bool asked_for,
                       std::int64_t frame, Configuration& c) {
  Connectivity(root, groups, asked_for, frame, c).read();
}

}  // namespace perrin::io
