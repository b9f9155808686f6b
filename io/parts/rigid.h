// Parts of molecules that keep their shape: at random places, turned at random.
#pragma once

#include "io/parts/part.h"

namespace perrin::parts {

struct RigidSettings {
  std::int64_t number = 0;
  std::string orientation = "random";
  std::optional<Vec3<double>> center;
  std::optional<RegionSettings> region;
};
template <class D>
void describe(D& d, RigidSettings& s) {
  d.required("number", s.number, Positive{}, "number of molecules");
  d.optional("orientation", s.orientation, OneOf{"random", "fixed"},
             "random: every orientation is equally likely; fixed: as given");
  d.optional("center", s.center, Any{},
             "where the centre (the mean position) of the only molecule is; default: at random");
  d.optional("region", s.region, Any{}, "where in the box all particles are; default: anywhere");
}

class RigidPart : public StartPart {
 public:
  /// Takes the molecule's positions from their mean on.
  RigidPart(Configuration molecule, const RigidSettings& settings);

  std::vector<std::string> types() const override { return molecule_.types; }
  double particles(const Box&) const override {
    return double(settings_.number) * double(molecule_.position.size());
  }
  void check(const Box& box, const Distances& distances, const Report& error) const override;
  void place(Start& start, std::uint64_t seed) const override;

 private:
  void check_size(const Box& box, const Distances& distances, const Report& error) const;
  bool put(Start& start, const Region& region, const std::vector<std::uint32_t>& types,
           Philox stream) const;

  Configuration molecule_;
  RigidSettings settings_;
};

}  // namespace perrin::parts
