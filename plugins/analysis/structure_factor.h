// Observer "structure_factor": S(k) = |sum over particles of exp(i k·r)|² / N at all wave vectors
// of the periodic box up to a length, one of each pair k, -k, by explicit sums.
#pragma once

#include <array>

#include "engine/core/buffer.h"
#include "engine/run/observer.h"
#include "engine/settings/settings.h"
#include "io/observable_file.h"
#include "output.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct StructureFactorSettings {
  std::int64_t stride = 100, rows_every = 1000;
  std::string file = "structure_factor.h5";
  double k_max = 0;
  std::vector<std::string> types;
};
template <class D>
void describe(D& d, StructureFactorSettings& s) {
  d.required("k_max", s.k_max, Positive{}, "longest wave vector, 1/length");
  d.optional("stride", s.stride, Positive{}, "steps from one sample to the next");
  d.optional("rows_every", s.rows_every, Positive{},
             "steps from one row of the file to the next, a multiple of stride; a row is the mean "
             "of the samples since the last one");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
  d.optional("types", s.types, Any{}, "particle types that scatter; none: all");
}

/// Column: structure_factor, one number per wave vector. What the numbers stand for is in
/// /parameters/perrin/wave_numbers (K × 3 integers n; k is n times the reciprocal lattice, 2 pi n /
/// L in an orthogonal box) and wave_vectors (K × 3, 1/length, in the box at the start).
///
/// The phase of a particle is n · (its fixed-point coordinates), exact in integers of a 2^-32th
/// turn.
class StructureFactor final : public Observer {
 public:
  StructureFactor(const StructureFactorSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(Simulation& simulation, bool resumed) override;
  void observe(Simulation& simulation) override;
  void end(Simulation& simulation) override;
  void state(Archive& archive) override;

 private:
  StructureFactorSettings settings_;
  std::vector<std::array<std::int32_t, 3>> wave_numbers_;
  std::vector<double> wave_vectors_;
  double scatterers_ = 0;
  io::ObservableFile file_;
  Buffer<std::uint32_t> mask_;
  Buffer<Vec3<std::int32_t>> numbers_;
  Buffer<Vec3<double>> partial_;  // real and imaginary part of a chunk of the particles
  Buffer<double> sum_;            // of the samples since the last row
  std::int64_t samples_ = 0, last_sample_ = -1;
};

void register_structure_factor(Registry& registry);

}  // namespace perrin::analysis
