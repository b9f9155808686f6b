#include "io/parts/growth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/parts/directions.h"
#include "rng/math.h"

namespace perrin::parts {
namespace {

constexpr int bead_attempts = 100, most_retreats = 1000;

}  // namespace

Growth::Growth(Start& start, const Polymer& polymer, const BondNames& names, double bond_length)
    : start_(start), polymer_(polymer), names_(names), length_(bond_length) {
  const auto types = start.types(polymer.types);
  for (const std::uint32_t t : polymer.type) type_.push_back(types[t]);
}

bool Growth::grow(Philox& stream, const Root& root, const Allowed& allowed) {
  first_ = std::uint32_t(start_.size());
  const auto beads = std::uint32_t(polymer_.beads());
  std::uint32_t grown = 0, furthest = 0, back = 1;
  // Where no place is left the last beads are taken back: more of them each time, until the walk
  // has come further than before.
  for (int retreats = 0; grown < beads;) {
    if (add_bead(stream, grown, root, allowed)) {
      ++grown;
      if (grown > furthest) furthest = grown, back = 1;
      continue;
    }
    if (grown == 0) return false;
    if (++retreats > most_retreats) back = grown;
    for (std::uint32_t k = std::min(back, grown); k > 0; --k, --grown) start_.remove_last();
    if (retreats > most_retreats) return false;
    back = std::min(2 * back, beads);
  }
  add_bonds();
  start_.end_molecule();
  return true;
}

bool Growth::add_bead(Philox& stream, std::uint32_t bead, const Root& root,
                      const Allowed& allowed) {
  // Those bonded to it may be nearer than the minimum distance.
  std::array<std::uint32_t, 2> bonded{first_ + polymer_.parent[bead], first_};
  const bool closes = polymer_.ring && bead + 1 == polymer_.beads();
  const std::span<const std::uint32_t> except{bonded.data(), bead == 0 ? 0u : closes ? 2u : 1u};
  for (int attempt = 0; attempt < bead_attempts; ++attempt) {
    auto r = bead == 0 ? root(stream) : propose(stream, bead);
    if (straight_ && bead > 0 && attempt == (always_ ? 0 : bead_attempts - 1))
      r = placed(polymer_.parent[bead]) + length_ * *straight_;
    if (!r || !allowed(*r) || !start_.fits(*r, type_[bead], except)) continue;
    start_.add(*r, type_[bead]);
    return true;
  }
  return false;
}

std::optional<Vec3<double>> Growth::propose(Philox& stream, std::uint32_t bead) const {
  const Vec3<double> from = placed(polymer_.parent[bead]);
  if (!polymer_.ring) return from + length_ * random_direction(stream, start_.box().dimension);
  const std::size_t left = polymer_.beads() - bead;  // bonds from here to the first bead
  if (left == 1) return closing(stream, from, placed(0));
  const Vec3<double> r = from + length_ * random_direction(stream, start_.box().dimension);
  const Vec3<double> before = from - placed(0), after = r - placed(0);
  if (returns(stream, std::sqrt(dot(before, before)), std::sqrt(dot(after, after)), left)) return r;
  return std::nullopt;
}

/// Whether a ring takes a step: as likely as a walk of so many bonds more comes back, relative to
/// the best step. Walks are Gaussian here.
bool Growth::returns(Philox& stream, double before, double after, std::size_t bonds) const {
  const double most = double(bonds) * length_;
  if (after > most) return false;
  const double best = std::abs(before - length_);
  const double width = double(bonds) * length_ * length_ / start_.box().dimension;
  // The chance is the exponential of this.
  const double exponent = (best * best - after * after) / (2 * width);
  return exact::log(stream.uniform_open<double>()) <= exponent;
}

/// A place at one bond's length from both.
std::optional<Vec3<double>> Growth::closing(Philox& stream, Vec3<double> a, Vec3<double> b) const {
  const Vec3<double> between = b - a;
  const double square = dot(between, between), height2 = length_ * length_ - square / 4;
  if (height2 < 0 || square == 0) return std::nullopt;
  // Across the line between them.
  const Vec3<double> u = random_direction(stream, start_.box().dimension);
  Vec3<double> across = u - (dot(u, between) / square) * between;
  const double norm = std::sqrt(dot(across, across));
  if (norm < 1e-6) return std::nullopt;
  return a + 0.5 * between + (std::sqrt(height2) / norm) * across;
}

void Growth::add_bonds() const {
  Topology& t = start_.topology();
  const auto beads = std::uint32_t(polymer_.beads());
  if (beads > 1) {
    const std::uint32_t type = start_.bond_type(names_.bond);
    for (std::uint32_t bead = 1; bead < beads; ++bead)
      t.bonds.push_back({first_ + polymer_.parent[bead], first_ + bead, type});
    if (polymer_.ring) t.bonds.push_back({first_ + beads - 1, first_, type});
  }
  for (const auto& strand : polymer_.strands) {
    const std::size_t n = strand.size();
    const auto id = [&](std::size_t k) { return first_ + strand[k % n]; };
    const auto rows = [&](std::size_t of) { return polymer_.ring ? n : n - std::min(n, of - 1); };
    if (!names_.angle.empty())
      for (std::size_t k = 0; k < rows(3); ++k)
        t.angles.push_back({id(k), id(k + 1), id(k + 2), start_.angle_type(names_.angle)});
    if (!names_.dihedral.empty() && (!polymer_.ring || n > 3))
      for (std::size_t k = 0; k < rows(4); ++k)
        t.dihedrals.push_back(
            {id(k), id(k + 1), id(k + 2), id(k + 3), start_.dihedral_type(names_.dihedral)});
  }
}

}  // namespace perrin::parts
