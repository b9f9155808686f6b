#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/pattern.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin {
namespace {

constexpr int bead_attempts = 100, chain_attempts = 1000;
using io::Blocks;

class Chains : public Source {
 public:
  Chains(const ChainsSettings& s, const Blocks& blocks, const Box& box, std::uint64_t seed)
      : settings_(s), box_(box), seed_(seed) {
    for (const auto& [name, n] : blocks) {
      auto it = std::ranges::find(types_, name);
      if (it == types_.end()) it = types_.insert(types_.end(), name);
      chain_.insert(chain_.end(), std::size_t(n), std::uint32_t(it - types_.begin()));
    }
  }

  Configuration make() override {
    Configuration c;
    c.box = box_;
    c.types = types_;
    Topology& t = c.topology;
    if (chain_.size() > 1) t.bond_types = {settings_.bond_type};
    const bool angles = !settings_.angle_type.empty() && chain_.size() > 2;
    if (angles) t.angle_types = {settings_.angle_type};
    const bool dihedrals = !settings_.dihedral_type.empty() && chain_.size() > 3;
    if (dihedrals) t.dihedral_types = {settings_.dihedral_type};
    io::Placement placement(box_, settings_.min_distance);
    for (std::int64_t k = 0; k < settings_.chains; ++k) {
      if (!grow(placement, std::uint32_t(k)))
        throw UserError(fmt::format(
            "min_distance: no position found for chain {} of {} ({} beads, {} from all others) in "
            "{} attempts; use a smaller min_distance or density, or random walks (0) and a soft "
            "start",
            k + 1, settings_.chains, chain_.size(), settings_.min_distance, chain_attempts));
      const auto first = std::uint32_t(c.type.size());
      for (std::uint32_t bead = 0; bead < chain_.size(); ++bead) {
        c.type.push_back(chain_[bead]);
        t.molecule.push_back(std::uint32_t(k));
        const std::uint32_t id = first + bead;
        if (bead >= 1) t.bonds.push_back({id - 1, id, 0});
        if (bead >= 2 && angles) t.angles.push_back({id - 2, id - 1, id, 0});
        if (bead >= 3 && dihedrals) t.dihedrals.push_back({id - 3, id - 2, id - 1, id, 0});
      }
    }
    wrap(c, placement.positions());
    c.mass = masses_of(settings_.masses, c.types, c.type);
    return c;
  }

 private:
  Vec3<double> direction(Philox& stream) const {
    constexpr double two_pi = 6.283185307179586;
    const double angle = two_pi * stream.uniform<double>();
    if (box_.dimension == 2) return {std::cos(angle), std::sin(angle), 0};
    const double z = 2 * stream.uniform<double>() - 1, radius = std::sqrt(1 - z * z);
    return {radius * std::cos(angle), radius * std::sin(angle), z};
  }

  /// One walk, not wrapped; starts anew where it gets stuck.
  bool grow(io::Placement& placement, std::uint32_t chain) const {
    for (int attempt = 0; attempt < chain_attempts; ++attempt) {
      Philox stream = io::position_stream(seed_, std::uint64_t(attempt), chain);
      std::size_t grown = 0;
      while (grown < chain_.size() && add_bead(placement, stream, grown == 0)) ++grown;
      if (grown == chain_.size()) return true;
      for (; grown > 0; --grown) placement.remove_last();
    }
    return false;
  }

  bool add_bead(io::Placement& placement, Philox& stream, bool first) const {
    const auto& placed = placement.positions();
    // The neighbour along the chain may be nearer than min_distance.
    const std::int64_t except = first ? -1 : std::int64_t(placed.size()) - 1;
    for (int attempt = 0; attempt < bead_attempts; ++attempt) {
      Vec3<double> r;
      if (first) {
        Vec3<double> s;
        for (int axis = 0; axis < 3; ++axis) s[axis] = stream.uniform<double>();
        r = box_.point(s);
        if (box_.dimension == 2) r.z = 0;
      } else {
        r = placed.back() + settings_.bond_length * direction(stream);
      }
      if (!placement.inside(r) || !placement.fits(r, except)) continue;
      placement.add(r);
      return true;
    }
    return false;
  }

  void wrap(Configuration& c, const std::vector<Vec3<double>>& walks) const {
    for (const Vec3<double>& walk : walks) {
      const Vec3<double> s = box_.fraction(walk);
      Vec3<double> r = walk;
      Image image;
      for (int axis = 0; axis < 3; ++axis) {
        if (!box_.periodic[std::size_t(axis)]) continue;
        const double whole = std::floor(s[axis]);
        r[axis] -= whole * box_.length[axis];
        image[axis] = std::int32_t(whole);
      }
      c.position.push_back(r);
      c.image.push_back(image);
    }
  }

  ChainsSettings settings_;
  Box box_;
  std::uint64_t seed_;
  std::vector<std::string> types_;
  std::vector<std::uint32_t> chain_;  // types along one chain
};

}  // namespace

std::unique_ptr<Source> make_chains(const ChainsSettings& s, Setup& setup) {
  const Blocks blocks = io::parse_pattern(s.pattern, "pattern", setup);
  if (blocks.empty()) return nullptr;
  double in_chain = 0;
  std::vector<std::string> names;
  for (const auto& [name, n] : blocks) {
    in_chain += double(n);
    names.push_back(name);
  }
  if (!check_count(in_chain * double(s.chains), "chains", setup)) return nullptr;
  const auto beads = std::int64_t(in_chain);
  check_masses(s.masses, names, setup);
  const Box box = box_for(s.density, s.box, beads * s.chains, s.dimension, s.periodic, setup);
  for (int axis = 0; axis < s.dimension; ++axis)
    if (box.periodic[std::size_t(axis)] && box.length[axis] <= 2 * s.bond_length)
      setup.error("bond_length", fmt::format("must be below half the box ({}), got {}",
                                             box.length[axis] / 2, s.bond_length));
  return std::make_unique<Chains>(s, blocks, box, setup.seed());
}

}  // namespace perrin
