// Neighbour search: one traversal (neighbor/traversal.h), and when lists are built again.
//
// A list holds, for every particle, all others closer than their range + skin when it was built
// (clusters: at least these). It is built again when, and only when, some particle has moved half
// the skin since; the decision is taken on the device. In a box that has shrunk since it is less
// than half, as move_limit() says. Building also sorts the particles in memory
// by (cell, id). L. Verlet, Phys. Rev. 159, 98 (1967); linked cells: R. W. Hockney, J. W. Eastwood,
// Computer Simulation Using Particles (1981).
#pragma once

#include <string>

#include "neighbor/choices.h"
#include "neighbor/exclusions.h"
#include "neighbor/move_check.h"
#include "neighbor/traversal.h"

namespace perrin {

/// How far a particle may come from where it was when the list was built, before the list must be
/// built again (length; negative: at once), and still have room for lengths that shrink by the
/// share `reserve`. A pair within the range R is now at most λ(R + 2d) apart in the box of the
/// list, if both have moved by d: λ is the longest that a unit vector of the present box becomes in
/// that one. The list has it if this is at most R + skin.
PERRIN_HD double move_limit(const Box& built, const Box& now, double range, double skin,
                            double reserve) {
  double a[3], b[3];
  for (int axis = 0; axis < 3; ++axis) {
    const bool periodic = now.periodic[std::size_t(axis)];
    a[axis] = periodic ? 1 : 1 + 2 * built.padding[axis];
    b[axis] = periodic ? 1 : 1 + 2 * now.padding[axis];
  }
  // The upper triangular matrix from vectors of one box to those of the other.
  const double yy_now = now.length.y * b[1], zz_now = now.length.z * b[2];
  const double xx = built.length.x * a[0] / (now.length.x * b[0]);
  const double yy = built.length.y * a[1] / yy_now, zz = built.length.z * a[2] / zz_now;
  const double xy = (built.xy * a[1] - xx * now.xy * b[1]) / yy_now;
  const double yz = (built.yz * a[2] - yy * now.yz * b[2]) / zz_now;
  const double xz = (built.xz * a[2] - xx * now.xz * b[2] - xy * now.yz * b[2]) / zz_now;
  const auto most = [](double u, double v, double w) {
    const double larger = u > v ? u : v;
    return larger > w ? larger : w;
  };
  const auto size = [](double u) { return u < 0 ? -u : u; };
  // At least the spectral norm; the same for a diagonal matrix.
  const double rows = most(xx + size(xy) + size(xz), yy + size(yz), zz);
  const double columns = most(xx, size(xy) + yy, size(xz) + size(yz) + zz);
  double norm2 = rows * columns;
  if (xy != 0 || xz != 0 || yz != 0) {  // in shear half as much: |1 + N|² ≤ 1 + 2 |sym N| + |N|²
    const double nx = xx - 1, ny = yy - 1, nz = zz - 1;
    const double sxy = size(xy) / 2, sxz = size(xz) / 2, syz = size(yz) / 2;
    const double all = 1 + 2 * most(nx + sxy + sxz, sxy + ny + syz, sxz + syz + nz) + nx * nx +
                       ny * ny + nz * nz + 4 * (sxy * sxy + sxz * sxz + syz * syz);
    norm2 = all < norm2 ? all : norm2;
  }
  const double stretch = (1 + reserve) * std::sqrt(norm2);
  return stretch <= 1 ? skin / 2 : (skin - (stretch - 1) * range) / (2 * stretch);
}

/// What GPUs that share a simulation know of the next step. Words of device memory; those that say
/// 0 or 1 have the same value in all processes, but for `soon`.
struct Foresight {
  static constexpr int slots = 32;
  std::uint32_t soon;          // of this process: lists may be void in the next step
  std::uint32_t warned;        // somewhere they may
  std::uint32_t built[slots];  // [update of the recording]: lists have been
  std::uint32_t unused;        // flag of conditions that are only raised
};

class Neighbors {
  static constexpr double first_part = 0.85;

 public:
  /// `ranges`: how far particles interact. `choices`: those of an earlier run, or nullptr. Throws
  /// UserError if the longest range exceeds half the box.
  Neighbors(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
            const NeighborChoices* choices = nullptr);
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  const Particles& particles() const { return particles_; }
  double range() const { return ranges_.longest(); }
  const Ranges& ranges() const { return ranges_; }
  double skin() const { return choices_.skin; }
  const NeighborChoices& choices() const { return choices_; }

  /// After a change of the particles' box: lists, cells and the limit of moves follow. Device work.
  void follow_box();
  /// Tilts may change from here on: no traversal takes the box to be orthogonal any more. True:
  /// that is news, and lists are built anew. Host only.
  bool expect_tilts();
  /// The next check of moves finds that lists hold no more: particles were written in another box.
  /// Device work, behind follow_box().
  void require_build();
  /// Lists are to have room for a change of the box by which lengths shrink by so much of
  /// themselves.
  void set_reserve(double reserve);

  /// For the kernel that moves the particles in this step (see MoveCheck). `progress` and `step`:
  /// it notes there which step is running.
  MoveCheck check_moves(std::uint32_t* progress, std::uint32_t step);
  /// Builds the list again if it no longer holds: looks how far the particles have moved, unless
  /// check_moves() was asked for since. Device work only, so that a step can be recorded.
  /// `may_exchange`: sorting may leave the buffers swapped (Particles::swap_buffers()). `is_last`:
  /// no other update belongs to the same recording.
  void update(std::uint32_t* progress = nullptr, std::uint32_t step = 0, bool may_exchange = false,
              bool is_last = true);
  /// check_moves() was asked for, but what it was for was not done.
  void forget_check() { moves_checked_ = false; }
  /// Makes the next update() build.
  void invalidate();
  /// After a halt: true if something was full; then there is more room, and lists are built.
  bool recover();
  /// GPUs, between steps: the cuts of shares that the team has planned. Lists are those that other
  /// cuts would have. Waits.
  void move_cuts();
  /// After a pair loop without lists: it found no room, and is to be run again. (A recorded one is
  /// looked after by the host later.)
  bool must_search_again();

  /// f(traversal) for the one there is, with its type.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(f, traversal_);
  }
  const char* traversal() const;
  /// Are there lists? Else pairs are searched by every pair_loop().
  bool has_lists() const;
  /// "clusters, skin 0.25": the traversal and what was chosen.
  std::string report() const;
  /// Lists built so far, and mean number of entries per particle (clusters: pairs that are tested)
  /// (waits).
  std::int64_t builds() const { return builds_.to_host(0); }
  double mean_entries() const;
  /// Memory of lists and grids, as far as it depends on the system.
  std::int64_t bytes() const;
  /// Changes when device addresses do: recorded steps are then void.
  std::int64_t version() const { return version_; }

  /// To be restored by an object with the same settings and choices, after the particles. The list
  /// is built again from where particles were when it was built, which brings them into the order
  /// in memory that they had. False: they have come into another one, which is harmless, but not to
  /// the last bit what the earlier run would have gone on with.
  bool state(Archive& archive);

 private:
  TraversalInput input() const;
  template <std::size_t K = 0>
  Traversal make_traversal() const;
  bool fits() const;
  bool holds() const;
  void plan_again();
  void fall_back(const Crowding& crowding);
  bool sorts_apart() const;
  void build(bool in_step = false, std::uint32_t* built = nullptr);
  bool build_as_before(const Box& built);
  bool plans_cuts_on_cpu();
  void exchange_moved(const Agreement& agreement);
  bool looks_ahead() const;
  void update_ahead(std::uint32_t* progress, std::uint32_t step, bool is_last);
  Agreement agreement(std::uint32_t* progress, std::uint32_t step) const;
  void join_halts();
  void forget_partners();
  Team* team() const { return particles_.device().team(); }

  Particles& particles_;
  const Ranges ranges_;
  const NeighborSettings settings_;
  std::int64_t version_ = 0;

  Condition rebuild_{};          // of the running step
  bool complete_ = true;         // are positions of other processes all known?
  bool moves_checked_ = false;   // by the kernel that moves the particles
  Buffer<std::uint32_t> flags_;  // [0] build now; [1] the traversal's own
  // Several GPUs look ahead (update_ahead()).
  Buffer<Foresight> foresight_;
  Condition warned_{};        // of the next step of the recording
  int slot_ = -1;             // of the step that is being recorded; -1: none
  double part_ = first_part;  // of the way to move_limit() after which lists may not last
  Buffer<std::int64_t> builds_;
  Buffer<std::uint32_t> own_flag_;   // of this process alone, while lists are built …
  Buffer<std::int64_t> own_builds_;  // … and how often they were
  Buffer<std::uint32_t> progress_;   // if the caller has none
  Buffer<Position> reference_;       // where particles were when the list was built …
  Buffer<Box> built_;                // … and the box
  Buffer<Real> limit2_;              // MoveCheck::limit2
  double reserve_ = 0;
  Exclusions exclusions_;
  NeighborChoices choices_;
  Traversal traversal_;
};

/// Of the vectors that pair_loop() gives, in that box.
Strain pair_strain(const Neighbors& neighbors, const Box& box);

}  // namespace perrin
