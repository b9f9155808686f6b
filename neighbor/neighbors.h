// Neighbour search: when lists are built again, and what comes before and after.
//
// A list holds, for every particle, all others closer than their range + skin when it was built
// (clusters: at least these). It is built again when, and only when, some particle has moved half
// the skin since; the decision is taken on the device. In a box that has shrunk since it is less
// than half, as move_limit() says (neighbor/validity/list_validity.h has the states of a list).
// Building also sorts the particles in memory by (cell, id). L. Verlet, Phys. Rev. 159, 98 (1967);
// linked cells: R. W. Hockney, J. W. Eastwood, Computer Simulation Using Particles (1981).
#pragma once

#include <string>

#include "neighbor/chosen_traversal.h"
#include "neighbor/move_check.h"
#include "neighbor/validity/list_forecast.h"
#include "neighbor/validity/list_validity.h"

namespace perrin {

class Neighbors {
 public:
  /// `ranges`: how far particles interact. `choices`: those of an earlier run, or nullptr. Throws
  /// UserError if the longest range exceeds half the box.
  Neighbors(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
            const NeighborChoices* choices = nullptr);
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  const Particles& particles() const { return particles_; }
  double range() const { return traversal_.range(); }
  const Ranges& ranges() const { return traversal_.ranges(); }
  double skin() const { return traversal_.skin(); }
  const NeighborChoices& choices() const { return traversal_.choices(); }

  /// After a change of the particles' box: lists, cells and the limit of moves follow. Device work.
  void follow_box();
  /// Tilts may change from here on: no traversal takes the box to be orthogonal any more. True:
  /// that is news, and lists are built anew. Host only.
  bool expect_tilts();
  /// Bonds have been made or broken (ParticleProperties::topology, Domain::require()): lists are
  /// built anew. All domains have all particles. Host only.
  void follow_topology();
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
  /// `may_exchange`: sorting may leave the buffers swapped (MemoryOrder). `is_last`:
  /// no other update belongs to the same recording.
  void update(std::uint32_t* progress = nullptr, std::uint32_t step = 0, bool may_exchange = false,
              bool is_last = true);
  /// check_moves() was asked for, but what it was for was not done.
  void forget_check() { moves_checked_ = false; }
  /// Makes the next update() build.
  void invalidate();
  /// After a halt: true if something was full; then there is more room, and lists are built.
  bool recover();
  /// GPUs, between steps: the cuts of shares that the decomposition has planned. Lists are those
  /// that other cuts would have. Waits.
  void rebalance();
  /// After a pair loop without lists: it found no room, and is to be run again. (A recorded one is
  /// looked after by the host later.)
  bool must_search_again();

  /// Pairs that pair forces leave out.
  ExclusionView exclusions() const { return traversal_.exclusions(); }
  /// f(traversal) for the one there is, with its type.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return traversal_.visit(f);
  }
  const char* traversal() const { return traversal_.name(); }
  /// Are there lists? Else pairs are searched by every pair_loop().
  bool has_lists() const { return traversal_.has_lists(); }
  /// "clusters, skin 0.25": the traversal and what was chosen.
  std::string report() const { return traversal_.report(); }
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
  void look(const MoveCheck& check);
  void update_lists(bool in_step);
  bool pair_loops_build() const;
  void sort_for_search(std::uint32_t* progress, std::uint32_t step, bool may_exchange);
  void update_ahead(std::uint32_t* progress, std::uint32_t step, bool is_last);
  bool looks_ahead() const;
  Votes votes(std::uint32_t* progress, std::uint32_t step) const;
  void exchange_moved(const Votes& votes);

  void build(bool in_step = false, std::uint32_t* built = nullptr);
  bool build_as_before(const Box& built);
  bool plans_rebalancing();
  void join_halts();
  void forget_partners();
  void cut_again();

  // For each reason of a halt (neighbor/halts.h): true if it was this one.
  bool recover_partners();
  bool recover_stale_lists();
  bool recover_cut();
  bool recover_room();

  Decomposition& decomposition() const { return decomposition_of(particles_.device()); }

  Particles& particles_;
  ChosenTraversal traversal_;
  ListValidity validity_;
  ListForecast forecast_;
  std::int64_t version_ = 0;

  Condition rebuild_{};          // of the running step
  bool complete_ = true;         // are positions of other domains all known?
  bool moves_checked_ = false;   // by the kernel that moves the particles
  bool may_be_full_ = false;     // the next pair loop may find that a list it builds has no room
  Buffer<std::uint32_t> flags_;  // [0] build now; [1] the traversal's own
  Buffer<std::int64_t> builds_;
  Buffer<std::uint32_t> own_flag_;   // of this domain alone, while lists are built …
  Buffer<std::int64_t> own_builds_;  // … and how often they were
  Buffer<std::uint32_t> progress_;   // if the caller has none
};

/// Of the vectors that pair_loop() gives, in that box.
Strain pair_strain(const Neighbors& neighbors, const Box& box);

}  // namespace perrin
