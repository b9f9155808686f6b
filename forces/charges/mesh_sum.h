// The part of an Ewald sum in the space of wave vectors by a particle mesh (mesh_terms.h).
//
// Charges are spread in fixed point: 64-bit integers, whose sums do not depend on the order. On
// CPUs domains share the mesh out (mesh_exchange.h); on GPUs each makes the whole mesh from all
// particles. All gather the forces on their own.
#pragma once

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "forces/attribute_words.h"
#include "forces/charges/ewald_terms.h"
#include "forces/charges/fft.h"
#include "forces/charges/mesh_exchange.h"
#include "forces/charges/mesh_terms.h"

namespace perrin {

namespace mesh {
struct Points;
struct Spread;
}  // namespace mesh

class MeshSum {
 public:
  /// `total`: the sum of the charges' sizes; `largest`: of one.
  MeshSum(const EwaldTerms& terms, const MeshTerms& mesh, double total, double largest);

  /// Adds to the output, without what a charge and itself add. Device work; allocates at the first
  /// call.
  void compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output);

  /// What a unit charge and itself add through the mesh, on average over places.
  struct Self {
    double energy = 0, virial[6] = {};
    PERRIN_HD Self& operator+=(const Self& b) {
      energy += b.energy;
      for (int c = 0; c < 6; ++c) virial[c] += b.virial[c];
      return *this;
    }
  };

 private:
  mesh::Points points(const Device& device) const;
  void prepare(const Device& device);
  void weigh(StepContext& s, bool energy);
  void begin_exchange(StepContext& s, const ForceOutput& output, const mesh::Spread& body);
  void spread(StepContext& s, const mesh::Spread& body);
  void transform_charges(const Device& device);
  template <class F>
  void for_waves(const Device& device, const char* name, const F& f);
  void back_in_space(const Device& device, int numbers);

  EwaldTerms terms_;
  MeshTerms mesh_;
  double unit_;  // of charge, in fixed point
  bool weighed_ = false, self_known_ = false;
  Box weighed_for_;
  Buffer<Box> weighed_box_;  // on a GPU whose steps change the box
  Buffer<std::uint32_t> stale_;
  Fft3 fft_;
  MeshExchange exchange_;
  int copies_ = 1;                   // of the mesh, for threads that spread charges
  Buffer<std::int64_t> fixed_;       // [copy][point in rows]: charge in units
  Buffer<Real4> fields_;             // [point in rows]: field, and potential in steps with energies
  Buffer<Complex> charges_, waves_;  // [wave], [component · waves + wave]
  Buffer<Real> space_;               // [component · points + point]
  Buffer<Real4> influence_;          // [wave]: k, and the potential of a unit
  Buffer<double> filter_, squares_;  // [x …, y …, z …]
  Buffer<Self> self_, scratch_;
};

}  // namespace perrin
