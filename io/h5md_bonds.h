// Bonds, angles, dihedrals and impropers of an H5MD file: once, or in every frame where they are
// made and broken while the job runs.
//
// Once: /connectivity/bonds, int [number][2]. In every frame: the group /connectivity/bonds with
// value, int [frame][most][2], and the step and time of the positions; rows that a frame does not
// need hold -1. Types of both are in /parameters/perrin/bonds_type, likewise.
#pragma once

#include <vector>

#include "engine/system/configuration.h"
#include "io/hdf5.h"

namespace perrin::io {

/// Into a new file, once. Ids of particles are `c.id`, or their numbers.
void write_bonds(const Node& root, const Configuration& c);
/// Series into a new file, for so many at most; `step` and `time`: of the positions.
void make_moving_bonds(const Node& root, const Topology& topology, const BondedCounts& most,
                       const Node& step, const Node& time);

class MovingBonds {
 public:
  /// The series of a file, if it has them.
  void open(const Node& root);
  /// Cut to so many frames.
  static void trim(const Node& root, std::int64_t frames);
  /// A frame. Throws RunError where there are more than the file has room for.
  void append(const Topology& topology);
  bool is_open() const { return !lists_.empty(); }
  void close() { lists_.clear(); }

 private:
  struct List {
    int kind;  // bonds, angles, dihedrals, impropers
    Series members, types;
  };
  std::vector<List> lists_;
  std::vector<std::int32_t> id_;  // of the particles
};

}  // namespace perrin::io
