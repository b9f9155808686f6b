// The angle forces that come with Perrin.
#include "forces/angle_force.h"
#include "forces/angle_potentials.h"

namespace perrin {

void register_angles(Registry& registry) {
  register_angle<AngleHarmonic>(registry);
  register_angle<AngleCosine>(registry);
  register_angle<AngleCosineSquared>(registry);
}

}  // namespace perrin
