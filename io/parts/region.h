// Where in the box a part of a start is.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "engine/system/box.h"
#include "engine/system/nearest_vector.h"
#include "rng/distributions.h"
#include "rng/philox.h"

namespace perrin::parts {

/// Takes a mistake: the key, from the part's settings on, and what is wrong.
using Report = std::function<void(const std::string& key, const std::string& what)>;

struct SphereSettings {
  Vec3<double> center;
  double radius = 1;
};
template <class D>
void describe(D& d, SphereSettings& s) {
  d.required("center", s.center, Any{}, "centre");
  d.required("radius", s.radius, Positive{}, "radius");
}

struct CylinderSettings {
  Vec3<double> center;
  double radius = 1;
  std::string axis = "z";
};
template <class D>
void describe(D& d, CylinderSettings& s) {
  d.required("center", s.center, Any{}, "a point of the axis");
  d.required("radius", s.radius, Positive{}, "radius");
  d.optional("axis", s.axis, OneOf{"x", "y", "z"}, "direction of the axis");
}

struct ShapeSettings {
  using Corner = std::vector<std::optional<double>>;
  std::optional<std::array<Corner, 2>> box;
  std::optional<SphereSettings> sphere;
  std::optional<CylinderSettings> cylinder;
};
template <class D>
void describe(D& d, ShapeSettings& s) {
  d.optional("box", s.box, Any{},
             "lower and upper corner: [[x, y, z], [x, y, z]]; null: as far as the box goes");
  d.optional("sphere", s.sphere, Any{}, "a sphere; in two dimensions a circle");
  d.optional("cylinder", s.cylinder, Any{}, "a cylinder that goes through the whole box");
}

/// What lies in all shapes given, and in none of `outside`.
struct RegionSettings : ShapeSettings {
  std::vector<ShapeSettings> outside;
};
template <class D>
void describe(D& d, RegionSettings& s) {
  describe(d, static_cast<ShapeSettings&>(s));
  d.optional("outside", s.outside, Any{}, "shapes that are left out");
}

class Region {
 public:
  /// Without settings: the whole box.
  Region(const std::optional<RegionSettings>& settings, const Box& box);

  /// Of settings and the box; keys are reported below "region".
  static void check(const std::optional<RegionSettings>& settings, const Box& box,
                    const Report& error);

  bool contains(Vec3<double> r) const;
  bool whole() const { return !settings_; }
  /// Corners that enclose it: in space where the box is orthogonal, otherwise of the whole box, in
  /// units of its edges.
  Vec3<double> lower() const { return lower_; }
  Vec3<double> upper() const { return upper_; }
  /// Any place in it, equally likely; nothing where none was found.
  std::optional<Vec3<double>> sample(Philox& stream) const;
  /// Its volume, or that of the places in it that `also` takes: by one place in each of many boxes.
  double volume(std::uint64_t seed, const std::function<bool(Vec3<double>)>& also = nullptr) const;

 private:
  bool inside(const ShapeSettings& shape, Vec3<double> r) const;
  bool inside_box(const std::array<ShapeSettings::Corner, 2>& corners, Vec3<double> r) const;
  void enclose(const ShapeSettings& shape);
  /// From fractions of what encloses it.
  Vec3<double> place(Vec3<double> fraction) const;
  double enclosed_volume() const;

  std::optional<RegionSettings> settings_;
  Box box_;
  Images<double> images_;
  Vec3<double> lower_, upper_;
};

}  // namespace perrin::parts
