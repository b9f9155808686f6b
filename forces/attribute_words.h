// Attributes of particles as kernels read them.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "engine/formula/bounds.h"
#include "engine/formula/program.h"

namespace perrin {

struct RealPair {
  Real x, y;
};
/// N attributes of a particle, at most four.
template <std::size_t N>
using AttributeWord = std::conditional_t<N == 1, Real, std::conditional_t<N == 2, RealPair, Real4>>;
PERRIN_HD Real4 to_real4(Real word) { return {word, 0, 0, 0}; }
PERRIN_HD Real4 to_real4(const RealPair& word) { return {word.x, word.y, 0, 0}; }
PERRIN_HD Real4 to_real4(const Real4& word) { return word; }

/// Attributes by the place of the particle in memory.
template <std::size_t N>
struct AttributeView {
  static constexpr std::size_t stride = N == 3 ? 4 : N;
  const Real* in_memory;  // [place · stride + attribute]

  template <class Index>
  PERRIN_HD AttributeWord<N> operator()(Index i) const {
#ifdef __CUDA_ARCH__
    return reinterpret_cast<const AttributeWord<N>*>(in_memory)[i];
#endif
    // Number by number: on the CPU a loop over neighbours gathers them in vectors.
    const Real* const of = in_memory + stride * std::size_t(i);
    if constexpr (N == 1) {
      return of[0];
    } else {
      AttributeWord<N> word;
      word.x = of[0], word.y = of[1];
      if constexpr (N > 2) word.z = of[2];
      if constexpr (N > 3) word.w = of[3];
      return word;
    }
  }
};

/// Attributes that a force reads, of all particles.
class AttributeWords {
 public:
  static constexpr std::size_t most = 4;
  static constexpr std::int64_t beyond_last = 16;  // particles that whole vectors read

  /// Reports at `key` attributes that the system does not have.
  AttributeWords(const std::vector<std::string>& names, const std::string& key, Setup& setup);
  /// For Force::follow_attributes(); forces are then computed outside of a recording, where view()
  /// makes its copy anew.
  void follow(const std::map<std::string, std::vector<double>>& changed);
  /// Of each particle, by id; of those that change with the time, at the start.
  const std::vector<std::array<double, most>>& values() const { return values_; }
  Real4 word(std::size_t id) const;
  /// Between which numbers attribute k of the particles of a type is, at all times.
  formula::Bounds bounds(std::size_t k, std::uint32_t type, const Configuration& c) const;
  /// By id, as they are now. Device work.
  const Real4* by_id(StepContext& s);
  /// Of the first N attributes, for the particles where they are now. Device work.
  template <std::size_t N>
  AttributeView<N> view(StepContext& s) {
    refresh(s, AttributeView<N>::stride);
    return {in_memory_.data()};
  }
  /// For trial moves, which are made where particles have kept their places since view().
  template <std::size_t N>
  AttributeView<N> trial_view(StepContext& s) {
    if (!keeps_view(s)) return view<N>(s);
    return {in_memory_.data()};
  }

 private:
  void refresh(StepContext& s, std::size_t stride);
  bool keeps_view(const StepContext& s) const;
  bool keeps_order(const StepContext& s);
  std::vector<Real4> words() const;
  bool changes() const;
  void take_change(const Configuration& c, const std::string& name, std::size_t k,
                   const std::string& key, Setup& setup);

  std::vector<std::array<double, most>> values_;
  Buffer<Real4> by_id_;
  Buffer<Real> in_memory_;
  bool viewed_ = false;
  std::vector<std::uint32_t> order_;  // on a CPU: ids in the order of the copy
  std::shared_ptr<const ParticleArrays::OrderedCopy> copy_;
  std::vector<std::string> names_;
  // Of those that change.
  std::array<Buffer<formula::Instruction>, most> code_;
  std::vector<std::string> input_names_;
  std::vector<double> columns_;  // [input][id]: attributes at the start
  Buffer<double> inputs_;
};

}  // namespace perrin
