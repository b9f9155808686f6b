// A group of particles of an H5MD file, of Perrin or of others: its frames.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats.h"
#include "io/h5md_steps.h"

namespace perrin::io {

/// A frame of a group; particles in the order of the file, without types and bonds.
struct H5mdPart {
  Frame frame;
  std::vector<std::int64_t> id;       // empty: the group has none
  std::vector<std::int32_t> species;  // likewise
};

class H5mdGroup {
 public:
  /// What is read of a group.
  static constexpr std::array<std::string_view, 10> elements{
      "position", "velocity", "image", "mass",        "charge",
      "species",  "id",       "box",   "orientation", "angular_momentum"};
  /// Why an element of one of these names is not read after all; empty: it is.
  std::string why_unread(const std::string& name) const;
  /// Throws UserError where it has no positions.
  H5mdGroup(const Node& root, Node group);
  const Node& node() const { return group_; }
  std::string name() const { return group_.path().substr(group_.path().rfind('/') + 1); }
  std::int64_t frames() const { return frames_; }
  std::size_t size() const { return n_; }
  std::size_t dimension() const { return dimension_; }
  bool has_ids() const { return group_.has("id"); }
  /// Whether each frame has its own: particles may come and go.
  bool has_changing_ids() const { return has_ids() && !group_.open("id").is_dataset(); }
  /// Names of the numbers of species, where these are an enumeration.
  std::map<std::int32_t, std::string> species_names() const;
  /// Whether frames have steps, and that of a frame.
  bool has_steps() const;
  std::int64_t step(std::int64_t frame) const;
  /// The frame of this group that belongs to one of another. Throws UserError where there is none.
  std::int64_t frame_beside(const H5mdGroup& other, std::int64_t frame) const;
  H5mdPart read(std::int64_t frame) const;

  /// Which value of an element is that of a frame: `same`, of the same step, if there is one;
  /// `only`, of the same step, or the only one that there is; `held`, the last one so far.
  enum class When { same, only, held };
  enum class Found { no, elsewhere, here };  // elsewhere: not at this step
  /// Row of a time-dependent element; none with `same`, where it has no value at that step. Throws
  /// UserError where there is none.
  std::optional<std::int64_t> row_of(const Node& element, std::int64_t frame, When when) const;
  /// The values of an element, static or not. count 0: any number. T: double or an integer.
  template <class T>
  Found get(const Node& parent, const std::string& name, std::int64_t frame, When when,
            std::size_t count, std::vector<T>& values) const;

 private:
  [[noreturn]] void fail(const Node& node, const std::string& what) const;
  const H5mdSteps& steps_of(const Node& element) const;
  template <class T>
  bool held(const std::string& name, std::int64_t frame, const std::vector<std::int64_t>& id,
            std::vector<T>& values) const;
  /// Places of w, x, y, z in the quaternions of a group; nothing where it does not say them.
  std::optional<std::array<std::size_t, 4>> components() const;
  bool in_double(const std::string& element) const;
  void read_orientations(std::int64_t frame, Frame& f) const;
  std::vector<std::int64_t> ids_of(const Node& element, std::int64_t frame) const;
  template <class To, class From>
  std::vector<Vec3<To>> vectors(const std::vector<From>& values) const;
  std::string absent(const char* name, std::int64_t frame) const;
  double time(std::int64_t frame) const;
  FrameUnits read_units() const;
  Box read_box(std::int64_t frame, const FrameUnits& units) const;
  void read_boundary(const Node& node, Box& box) const;
  void read_own(std::int64_t frame, Box& box) const;

  Node root_, group_;
  bool moving_ = false;
  std::int64_t frames_ = 0;
  std::size_t n_ = 0, dimension_ = 3;
  mutable std::map<std::string, H5mdSteps> steps_;  // by element; plain numbers
};

}  // namespace perrin::io
