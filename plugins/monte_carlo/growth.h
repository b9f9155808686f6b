// A new end of a chain, by the bond that goes at the other one (reptation.h).
#pragma once

#include "rng/keyed.h"
#include "turn.h"
#include "whole_position.h"

namespace perrin::monte_carlo {

struct Growth {
  Edges edges;
  double kt, stretch, bend;
  bool any_direction, flat;
  Words4 words, more;

  struct End {
    WholePosition at;
    double energy;  // stands for the factor in Metropolis's rule; 1e30: there is no such end
  };
  /// A vector across another one of length 1, of the same length.
  PERRIN_HD static Vec3<double> across(const Vec3<double>& u) {
    const double x = u.x * u.x, y = u.y * u.y, z = u.z * u.z;
    const Vec3<double> axis = x <= y && x <= z ? Vec3<double>{1, 0, 0}
                              : y <= z         ? Vec3<double>{0, 1, 0}
                                               : Vec3<double>{0, 0, 1};
    return unit(cross(u, axis));
  }
  PERRIN_HD static Vec3<double> unit(const Vec3<double>& v) {
    const double length = std::sqrt(dot(v, v));
    return length > 0 ? (1 / length) * v : Vec3<double>{1, 0, 0};
  }

  /// `gone`, `next`, `third`: at the end that goes; `end`, `inner`: at the one that grows.
  PERRIN_HD End operator()(const WholePosition& gone, const WholePosition& next,
                           const WholePosition& third, const WholePosition& end,
                           const WholePosition& inner) const {
    const Vec3<double> bond = edges.vector(gone, next);
    const double old_length = std::sqrt(dot(bond, bond));
    const double length = old_length + between(stretch, words.x);
    double factor = length / old_length * (flat ? 1 : length / old_length);
    const double turn = between(M_PI, words.y);
    Vec3<double> way;
    bool possible = length > 0;
    if (any_direction) {
      way = flat ? Vec3<double>{std::cos(turn), std::sin(turn), 0}
                 : direction<double>(words.z, words.y);
    } else {
      const Vec3<double> old_way = unit(edges.vector(next, third)),
                         new_way = unit(edges.vector(end, inner));
      const Vec3<double> normal = cross(old_way, bond);
      const double by = between(bend, words.w);
      if (flat) {
        const double angle = std::atan2(normal.z, dot(old_way, bond)) + by;
        way = new_way + Turn<double>({0, 0, 1}, more.x & 1u ? angle : -angle).step(new_way);
      } else {
        const double angle = std::atan2(std::sqrt(dot(normal, normal)), dot(old_way, bond));
        possible = possible && angle + by > 0 && angle + by < M_PI;
        // The end of a straight start must not outweigh overlaps.
        const double sine = std::sin(angle);
        factor *= std::sin(angle + by) / (sine > 1e-6 ? sine : 1e-6);
        const Vec3<double> u = across(new_way), v = cross(new_way, u);
        way = std::cos(angle + by) * new_way +
              std::sin(angle + by) * (std::cos(turn) * u + std::sin(turn) * v);
      }
    }
    End grown{end, possible ? -kt * std::log(factor) : 1e30};
    edges.move(grown.at, (possible ? length : old_length) * way);
    return grown;
  }
};

}  // namespace perrin::monte_carlo
