// Sorting into columns by several domains, each of which knows its own particles alone
// (engine/domain/decomposition.h): who has come into the layers of columns that it needs. CPU.
//
// All count their particles in each layer of columns, and add that up: so each layer's place in
// memory is known, and whose share it is in. A domain needs the layers that its share reaches
// into, whole, and as many beside these as lists reach: particles there are sent to it with
// everything that is known of them. Put into order they are as a single domain would have them.
#pragma once

#include <vector>

#include "engine/domain/decomposition.h"
#include "engine/system/particles.h"
#include "neighbor/columns/column_grid.h"

namespace perrin {

class OwnAndGhosts {
 public:
  /// Those in layers that this domain needs: its own and what others send. `reach`: how far one
  /// looks from a layer (length). All domains call it.
  void gather(const Particles& particles, const ColumnGrid& grid, double reach);

  std::int64_t size() const { return std::int64_t(id_.size()); }
  // Of particle k of these, in an order of no meaning.
  const Position* position() const { return position_.data(); }
  const std::uint32_t* id() const { return id_.data(); }

  /// The place in memory of the first particle of a layer; of the layer after the last one: the
  /// number of all particles.
  std::int64_t layer_begin(std::int32_t layer) const { return layer_first_[std::size_t(layer)]; }
  bool knows(std::int32_t layer) const { return mine_.has(layer); }
  /// Of a place in memory: is it known who is there?
  bool knows_place(std::int64_t place) const { return knows(layer_of(place)); }
  /// Puts them where they belong in memory: order[k], the k-th of these when sorted.
  void put(Particles& particles, const std::uint32_t* order) const;
  /// What is added to k, the number of a sorted particle of this layer, for its place in memory.
  std::int64_t to_memory(std::int32_t layer) const { return to_memory_[std::size_t(layer)]; }
  std::int64_t bytes() const;  // of memory

 private:
  /// Layers that follow one another, the first after the last.
  struct Layers {
    std::int32_t begin = 0, count = 0, all = 1;
    bool has(std::int32_t layer) const { return (layer - begin + all) % all < count; }
  };
  /// What is sent, and after it the particle's elements of other arrays.
  struct Migrant {
    Real4 velocity;
    Position position;
    Image image;
    std::uint32_t id;
  };
  std::int32_t layer_of(std::int64_t place) const;
  void count_layers(const Particles& particles);
  Layers needed_by(const Share& share) const;
  void travel(const Particles& particles);
  void take(std::size_t k, const Migrant& migrant);
  unsigned char* elements_of(std::size_t k) { return elements_.data() + k * element_bytes_; }

  ColumnGrid grid_{};
  std::int32_t beside_ = 0;  // layers on each side of those of a share
  Layers mine_;
  std::vector<std::int32_t> layer_;        // of own particles
  std::int64_t parts_ = 0;                 // of own particles, worked on by a thread each
  std::vector<std::uint32_t> part_count_;  // [part][layer]
  std::vector<std::int64_t> layer_first_, to_memory_;
  Decomposition::Pieces out_, in_;
  std::vector<Position> position_;
  std::vector<Real4> velocity_;
  std::vector<Image> image_;
  std::vector<std::uint32_t> id_;
  std::vector<unsigned char>
      elements_;                   // of the arrays that go with particles (Particles::extra())
  std::size_t element_bytes_ = 0;  // of one particle
};

}  // namespace perrin
