// Device work that has been noted instead of given: what a recording of one of many simulations
// is, whose kernels are launched for all of them at once (engine/device/batch.h).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace perrin {

class Device;

/// A block of a kernel that works for several simulations: whose it is, and which blocks of theirs
/// it does: first … last - 1.
struct BatchBlock {
  std::uint32_t member, first, last;
};

/// One launch for all members of a batch; pointers are to device memory.
struct BatchLaunch {
  const Device* device;
  const char* name;
  const void* grids;            // [member]: see GridKernel in engine/device/grid_launch.h
  const std::uint32_t* blocks;  // [member]
  const std::uint32_t* active;  // [member]; 0: nothing is done for it
  const BatchBlock* table;      // [block of the kernel]
  unsigned count;               // of blocks
};

class LaunchList {
 public:
  /// So many blocks keep a multiprocessor busy, and where there are more, so many are done in turn
  /// at most.
  struct Turns {
    unsigned resident = 16, most_in_turn = 8;
    auto operator<=>(const Turns&) const = default;
  };
  /// What is known of a kernel: one object for each.
  struct Kernel {
    std::size_t bytes;  // of its grid
    Turns turns;
    void (*launch)(const BatchLaunch&);
  };
  struct Entry {
    const Kernel* kernel;
    const char* name;
    unsigned blocks;
    std::size_t at;  // of the grid in grids()
  };

  template <class Grid>
  void add(const Kernel& kernel, const char* name, unsigned blocks, const Grid& grid) {
    entries_.push_back({&kernel, name, blocks, grids_.size()});
    grids_.resize(grids_.size() + sizeof grid);
    std::memcpy(grids_.data() + entries_.back().at, &grid, sizeof grid);
  }
  void add_zero(void* memory, std::size_t bytes);
  void add_copy(void* to, const void* from, std::size_t bytes);
  /// There was something that cannot be launched for several.
  void refuse(const char* what) {
    if (refused_.empty()) refused_ = what;
  }
  /// The first of that; empty: nothing.
  const std::string& refused() const { return refused_; }

  const std::vector<Entry>& entries() const { return entries_; }
  const std::byte* grid(const Entry& entry) const { return grids_.data() + entry.at; }
  /// Are the same kernels launched, in the same order?
  bool alike(const LaunchList& other) const;

 private:
  std::vector<Entry> entries_;
  std::vector<std::byte> grids_;
  std::string refused_;
};

}  // namespace perrin
