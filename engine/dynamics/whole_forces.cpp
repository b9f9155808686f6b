// Forces for who looks at them, in stages where slow parts act in some steps alone
// (engine/components/slow_forces.h).
#include "engine/domain/decomposition.h"
#include "engine/dynamics/gather_forces.h"
#include "engine/dynamics/simulation.h"
#include "engine/system/orientations.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

/// A copy, written back at the end.
template <class T>
class Kept {
 public:
  explicit Kept(Buffer<T>& of) : of_(of), copy_(of.device(), of.size()) {
    of_.device().memory().copy(copy_.data(), of_.data(), std::size_t(of_.size()) * sizeof(T));
  }
  ~Kept() {
    of_.device().memory().copy(of_.data(), copy_.data(), std::size_t(of_.size()) * sizeof(T));
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 private:
  Buffer<T>& of_;
  Buffer<T> copy_;
};

}  // namespace

void Simulation::with_whole_forces(const std::function<void()>& look) {
  if (slow_.stride == 1) return look();
  ensure_forces();
  const Kept kept(particles_.force());
  std::optional<Kept<Real4>> torques;
  if (particles_.orientations()) torques.emplace(particles_.orientations()->torque());
  // Where nothing has moved the order in memory stays as it is.
  if (neighbors_) neighbors_->update();
  slow_in_full_ = true;
  compute_forces();
  slow_in_full_ = false;
  gather_forces(particles_);
  look();
}

}  // namespace perrin
