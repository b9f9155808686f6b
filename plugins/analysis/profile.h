// Observer "profile": density, velocity and temperature in slabs across one axis, averaged over the
// samples between two rows of the file.
#pragma once

#include "engine/core/buffer.h"
#include "engine/run/observer.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"
#include "output.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct ProfileSettings {
  std::int64_t stride = 10, rows_every = 1000;
  std::string file = "profile.h5", axis = "z";
  std::int32_t bins = 50;
  std::vector<std::string> types;
};
template <class D>
void describe(D& d, ProfileSettings& s) {
  d.optional("stride", s.stride, Positive{}, "steps from one sample to the next");
  d.optional("rows_every", s.rows_every, Positive{},
             "steps from one row of the file to the next, a multiple of stride; a row is the mean "
             "of the samples since the last one");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
  d.optional(
      "axis", s.axis, OneOf{"x", "y", "z"},
      "across the slabs; coordinates count from the middle of the box, -L/2 to L/2, those of "
      "H5MD files from its corner (perrin help coordinates)");
  d.optional("bins", s.bins, Between{1, 100000}, "number of slabs, of equal thickness");
  d.optional("types", s.types, Any{}, "particle types that count; none: all");
}

/// Columns: coordinate (middle of the slab), density (particles per volume), velocity (of the
/// slab's centre of mass), temperature (of the motion relative to that). Sums are made of
/// integers, so that their bits do not depend on the order in which particles come.
class Profile final : public Observer {
 public:
  Profile(const ProfileSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(Simulation& simulation, bool resumed) override;
  void observe(Simulation& simulation) override;
  void end(Simulation& simulation) override;
  void state(Archive& archive) override;

  /// particles, mass, momentum (3), m v² of a slab
  static constexpr int quantities = 6;
  /// The largest of one particle's, from which the units of a sample's integer sums follow.
  struct Largest {
    double mass = 0, momentum = 0, mv2 = 0;
    PERRIN_HD Largest& operator+=(const Largest& b) {
      mass = b.mass > mass ? b.mass : mass;
      momentum = b.momentum > momentum ? b.momentum : momentum;
      mv2 = b.mv2 > mv2 ? b.mv2 : mv2;
      return *this;
    }
  };

 private:
  void write_row(Simulation& simulation);
  ProfileSettings settings_;
  int axis_, dimension_;
  double k_boltzmann_;
  io::ObservableFile file_;
  Buffer<std::uint32_t> mask_;
  Buffer<std::int64_t> sample_;  // [quantity · bins + bin], each quantity in a unit of its own
  Buffer<double> sum_;           // of the samples since the last row
  Buffer<Largest> largest_, scratch_;
  std::int64_t samples_ = 0, last_sample_ = -1;
};

void register_profile(Registry& registry);

}  // namespace perrin::analysis
