// Forces of charges: what a job asks of several of them beside each other.
#pragma once

namespace perrin {

/// What a Force derives from as well whose energies are C q_1 q_2/r, or made of that.
class ActsByCoulomb {
 public:
  virtual ~ActsByCoulomb() = default;
  virtual double coulomb_constant() const = 0;  // C: energy · length
};

}  // namespace perrin
