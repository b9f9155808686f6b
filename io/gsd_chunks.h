// The chunks of a GSD frame with the schema hoomd, for all writers.
#pragma once

#include <string>
#include <vector>

#include "engine/system/configuration.h"
#include "io/gsd_layout.h"

namespace perrin::io::gsd {

/// Takes the chunks of a frame.
class Chunks {
 public:
  /// `fine`: numbers are float64 (schema 2.0), else float32. `path` is for messages.
  Chunks(std::string path, bool fine) : path_(std::move(path)), fine_(fine) {}
  virtual ~Chunks() = default;

  /// `rows` × `columns` values; nothing where there are none.
  virtual void put(const std::string& name, Type type, std::size_t rows, std::size_t columns,
                   const void* data) = 0;
  /// Whether frame 0 has it: who has nothing of it must say so then.
  virtual bool in_first(const std::string& name) const = 0;

  /// Throws UserError, with the name and the particle, where a number does not fit.
  void put_reals(const std::string& name, const std::vector<double>& values,
                 std::size_t columns = 1);
  void put_names(const std::string& name, const std::vector<std::string>& list);
  void put_text(const std::string& name, const std::string& text);
  /// Box and dimensions; `periodic`, where an axis is not: only Perrin reads that.
  void put_box(const Box& box);
  void put_periodic(const Box& box);
  void put_topology(const Topology& topology);
  /// Of HOOMD-blue, for n particles: the number of the centre for it and its sites, -1 in no body.
  void put_bodies(const Topology& topology, std::size_t n);
  /// Bonds, angles, … of a frame whose first has the names of their types: their number in any
  /// case.
  void put_members(const Topology& topology);

 protected:
  std::string path_;
  bool fine_;

 private:
  template <class Group>
  void put_groups(const std::string& kind, const std::vector<std::string>& names,
                  const std::vector<Group>& groups);
  template <class Group>
  void put_list(const std::string& kind, const std::vector<Group>& groups);
};

/// The header of a file; where index and names are is left to the caller.
Header header_of(bool fine);

}  // namespace perrin::io::gsd
