#include "engine/system/domain.h"

#include <vector>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"

namespace perrin {
namespace {

struct FindIndex {
  const std::uint32_t* id;
  std::uint32_t* index;
  PERRIN_HD void operator()(std::int64_t i) const { index[id[i]] = std::uint32_t(i); }
};

}  // namespace

Decomposition& Domain::decomposition() const { return decomposition_of(particles_.device()); }

Share Domain::share() const { return decomposition().share(particles_.size()); }

void Domain::require(const GhostNeeds& needs, const Topology& topology, const Box& box) {
  needs_ = needs;
  partners_.reset();
  if (!decomposition().several() || needs.positions != GhostNeeds::Positions::bonded) return;
  auto partners =
      std::make_unique<Partners>(particles_.device(), std::size_t(particles_.size()), topology);
  constexpr double growth = 1.5;  // what bonds at rest and angles that open do not exceed
  partners->set_reach(growth * longest_to_partner(topology, particles_.position().to_host(),
                                                  particles_.index().to_host(), box.metric()));
  partners_ = std::move(partners);
}

std::array<SharedArray, 2> Domain::moved_arrays() const {
  ParticleBuffers& p = particles_;
  return {{{p.position().data(), sizeof(Position), p.size()},
           {p.velocity().data(), sizeof(Real4), p.size()}}};
}

void Domain::exchange(const Votes& votes, const HaloPlan* ghosts) {
  decomposition().exchange({moved_arrays().data(), needs_.velocities ? 2u : 1u}, votes, ghosts);
}

void Domain::exchange_overlapped(const Votes& votes, const HaloPlan& ghosts,
                                 const Overlap& beside) {
  decomposition().exchange_overlapped({moved_arrays().data(), needs_.velocities ? 2u : 1u}, votes,
                                      ghosts, beside);
}

void Domain::gather(bool positions) { gather(positions, {}); }

void Domain::gather(bool positions, const Votes& votes) {
  if (!decomposition().several()) return;
  ParticleBuffers& p = particles_;
  const Device& device = p.device();
  std::vector<SharedArray> arrays;
  const auto add = [&](void* data, std::size_t bytes) {
    arrays.push_back({data, bytes, p.size()});
  };
  if (positions) add(p.position().data(), sizeof(Position));
  if (positions || !needs_.velocities) add(p.velocity().data(), sizeof(Real4));
  add(p.image().data(), sizeof(Image));
  if (sorts_locally_) add(p.id().data(), sizeof(std::uint32_t));
  extra_.append_to(arrays);
  const Share mine = share();
  extra_.pack(p.id().data(), mine);
  decomposition().exchange(arrays, votes);
  if (sorts_locally_)
    for_each(device, "who is where", p.size(), FindIndex{p.id().data(), p.index().data()});
  extra_.unpack(p.id().data(), {0, mine.begin});
  extra_.unpack(p.id().data(), {mine.end, p.size()});
}

void Domain::gather_if_sorted_locally() {
  if (sorts_locally_) gather(true);
}

void Domain::gather_all() {
  gather(true);
  gather(particles_.force());
}

void Domain::gather_bytes(void* data, std::size_t bytes) const {
  decomposition().all_gather(data, bytes, particles_.size());
}

/// Beside the arrays that all particles have.
bool Domain::nothing_moves_along() const {
  return !extra_.any(IndexedBy::memory) && !extra_.any(IndexedBy::id);
}

void Domain::gather_for_sort(bool positions) {
  if (!only_arrays() || sorts_locally_) return gather(positions);
  if (positions) gather(particles_.position());
}

void Domain::migrate(const std::uint32_t* order) {
  if (!only_arrays() || sorts_locally_) return;
  ParticleBuffers& p = particles_;
  const SharedArray arrays[] = {{p.velocity().data(), sizeof(Real4), p.size()},
                                {p.image().data(), sizeof(Image), p.size()}};
  decomposition().migrate(arrays, order);
}

}  // namespace perrin
