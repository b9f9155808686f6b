// Particles that constraints connect, in a box that a barostat changes: each cluster goes with its
// centre of mass, in units of the edges, and keeps its form and its inner motion; momenta of whole
// clusters change as those of free particles. The virial that a change sees is then that of the
// forces on whole clusters (G. Ciccotti, J. P. Ryckaert, Comput. Phys. Rep. 4, 346 (1986), section
// 5).
#pragma once

#include "engine/device/buffer.h"
#include "engine/system/configuration.h"

namespace perrin {

struct BarostatMemory;
class StepContext;
namespace detail {
struct ClusterView;
}

class ClusterScaling {
 public:
  /// Of a system with constraints (Topology::constraints).
  ClusterScaling(const Device& device, const Topology& topology, std::int64_t particles);

  // Device work of all processes; each of them has all positions.
  /// Before a change of the box.
  void keep(StepContext& s);
  /// [place], as velocities: of a cluster's particles that of its centre of mass, as it was kept.
  const Real4* velocities() const { return velocity_.data(); }
  /// Of forces and virials by place in memory, as ForceOutput has them: forces on clusters, of
  /// which each particle has the part of its mass, and their virial.
  void correct(StepContext& s, Buffer<Real4>& force, Buffer<Real>& virial);
  /// The box has been changed as memory says: puts clusters where their centres are.
  void follow(StepContext& s, const BarostatMemory* memory);
  /// Where memory says that nothing was changed after all: puts all back.
  void settle(StepContext& s, const BarostatMemory* memory);
  /// Where a change was proposed and not decided on: the same.
  void take_back(StepContext& s, const BarostatMemory* memory);

 private:
  detail::ClusterView view(StepContext& s);

  std::int64_t clusters_ = 0;
  // Particles (ids) cluster by cluster; which of them each is connected with; the first of a
  // cluster.
  Buffer<std::uint32_t> particle_, parent_, first_;
  Buffer<Vec3<double>> way_;   // [particle of a cluster]: from the centre of mass
  Buffer<Position> position_;  // likewise: as they were kept
  Buffer<Image> image_;
  Buffer<Real4> velocity_;
};

}  // namespace perrin
