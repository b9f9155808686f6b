// The state that the engines work on: molecules of all replicas, on a device.
#pragma once

#include <cstdint>

#include "engine/core/archive.h"
#include "engine/core/box.h"
#include "engine/core/buffer.h"
#include "model.h"

namespace perrin::metropolis {

/// What a trial move is made of.
struct MoveSizes {
  double translation = 0;  // length: each coordinate of the displacement lies within ±this
  double rotation = 0;     // radians: largest angle by which a molecule's pole is turned; 0: none
};

/// What a kernel sees. Molecule m of replica r is entry r · molecules + m, its sites are the
/// entries r · sites + first_site[m] … of `site`. All coordinates are fixed-point fractions of the
/// box (engine/core/real.h): the minimum image of two sites is the wrap-around of their difference.
struct SystemView {
  std::uint32_t molecules, sites, replicas, types;
  const std::uint32_t* first_site;      // [molecules + 1]
  const std::uint32_t* template_first;  // [templates + 1], of `local`
  const Vec3<double>* local;            // coordinates of the templates' sites, length
  const std::uint32_t* local_type;
  Position* centre;  // type: template
  Quaternion* orientation;
  Position* site;                // type: site type
  const double* kT;              // [replicas]
  double* energy;                // [replicas]: running, without tails
  unsigned long long* accepted;  // [replicas]
  Vec3<double> length;           // of the box's edges
};

class System {
 public:
  /// All replicas start from `start`. Throws UserError where there are too many molecules for 32
  /// bits.
  System(const Device& device, const Model& model, const Placement& start, std::int64_t replicas);

  const Device& device() const { return device_; }
  const Model& model() const { return model_; }
  SystemView view();

  std::int64_t molecules() const { return std::int64_t(model_.molecule.size()); }
  std::int64_t sites() const { return model_.sites(); }
  std::int64_t replicas() const { return replicas_; }

  const Vec3<double>& box() const { return model_.box; }
  /// Scales all centres with the box; molecules keep their shape.
  void set_box(const Vec3<double>& edges);
  std::vector<double> temperatures() const { return kT_.to_host(); }
  void set_temperatures(const std::vector<double>& kT);

  std::vector<double> energies() const { return energy_.to_host(); }
  void set_energies(const std::vector<double>& energy) { energy_.assign(energy); }
  std::vector<unsigned long long> accepted() const { return accepted_.to_host(); }
  void clear_accepted() { accepted_.zero(); }

  /// Of one replica: host copies, in the order of the molecules.
  std::vector<Position> centres(std::int64_t replica = 0) const;
  std::vector<Position> site_positions(std::int64_t replica = 0) const;
  std::vector<Quaternion> orientations(std::int64_t replica = 0) const;
  void set_centres(const std::vector<Position>& all);  // of all replicas; then rebuild_sites()
  /// Sites from centres and orientations.
  void rebuild_sites();

  /// The chain's state: the box, where molecules are, energies, counts. Not the temperatures.
  void state(Archive& archive);

 private:
  Device device_;
  Model model_;
  std::int64_t replicas_;
  Buffer<std::uint32_t> first_site_, template_first_;
  Buffer<Vec3<double>> local_;
  Buffer<std::uint32_t> type_;  // of each site of the templates
  Buffer<Position> centre_, site_;
  Buffer<Quaternion> orientation_;
  Buffer<double> kT_, energy_;
  Buffer<unsigned long long> accepted_;
};

}  // namespace perrin::metropolis
