// The state that the engines work on: molecules of all replicas, on a device.
#pragma once

#include <cstdint>

#include "engine/device/buffer.h"
#include "engine/domain/work_distribution.h"
#include "engine/system/archive.h"
#include "engine/system/box.h"
#include "model.h"

namespace perrin::metropolis {

/// What a trial move is made of.
struct MoveSizes {
  double translation = 0;  // length: each coordinate of the displacement lies within ±this
  double rotation = 0;     // radians: largest angle by which a molecule's pole is turned; 0: none
};

/// What a kernel sees. Molecule m of replica r is entry r · molecules + m, its sites are the
/// entries r · sites + first_site[m] … of `site`. All coordinates are fixed-point fractions of the
/// box (engine/base/real.h): the minimum image of two sites is the wrap-around of their difference.
/// Where replicas are distributed over processes, it shows those of this process, from 0.
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
  double* step_energy;           // [replicas]: sum of `energy` after each trial move
  Vec3<double> length;           // of the box's edges
};

/// Replicas are distributed over the processes of a run: each has all of them in memory, and moves
/// its own. Those of other processes are as they were at the start or when they were last gathered.
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
  std::int64_t replicas() const { return replicas_; }  // of all processes
  /// Those of this process.
  Share own() const {
    return is_distributed() ? WorkDistribution(replicas_).own() : Share{0, replicas_};
  }
  bool is_distributed() const { return replicas_ > 1 && WorkDistribution::several(); }
  /// Of `values`, a number for each replica, this process has its own; all have all afterwards.
  /// All processes call it.
  template <class T>
  std::vector<T> gathered(std::vector<T> values, std::int64_t each = 1) const;

  const Vec3<double>& box() const { return model_.box; }
  /// Scales all centres with the box; molecules keep their shape.
  void set_box(const Vec3<double>& edges);
  std::vector<double> temperatures() const { return kT_.to_host(); }
  void set_temperatures(const std::vector<double>& kT);

  /// Gathered, as are accepted().
  std::vector<double> energies() const { return gathered(energy_.to_host()); }
  void set_energies(const std::vector<double>& energy) {
    energy_.assign(energy);
    ++times_set_;
  }
  /// How often they were set: for sums of changes since then.
  std::int64_t times_set() const { return times_set_; }
  std::vector<unsigned long long> accepted() const { return gathered(accepted_.to_host()); }
  void clear_accepted() { accepted_.zero(); }
  /// Sum of the running energy after each trial move since clear_step_energies(); gathered.
  std::vector<double> step_energies() const { return gathered(step_energy_.to_host()); }
  void clear_step_energies() { step_energy_.zero(); }

  /// Of one replica of this process: host copies, in the order of the molecules.
  std::vector<Position> centres(std::int64_t replica = 0) const;
  std::vector<Position> site_positions(std::int64_t replica = 0) const;
  std::vector<Quaternion> orientations(std::int64_t replica = 0) const;
  void set_centres(const std::vector<Position>& all);  // of all replicas; then rebuild_sites()
  /// Sites from centres and orientations, of this process's replicas.
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
  Buffer<double> kT_, energy_, step_energy_;
  Buffer<unsigned long long> accepted_;
  std::int64_t times_set_ = 0;
};

template <class T>
std::vector<T> System::gathered(std::vector<T> values, std::int64_t each) const {
  PERRIN_ASSERT(std::int64_t(values.size()) == replicas_ * each);
  if (is_distributed()) WorkDistribution(replicas_).gather(values, each);
  return values;
}

}  // namespace perrin::metropolis
