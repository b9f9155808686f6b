#include "neighbor/tiles/brick_curve.h"

#include <utility>

namespace perrin {
namespace {

using Cell = Vec3<std::int32_t>;

/// An edge of a block: a number of steps of one along an axis.
struct Edge {
  Cell step;
  std::int32_t n;

  Cell all() const { return n * step; }
  Cell last() const { return (n - 1) * step; }
  Edge back() const { return {-step, n}; }
};

/// The first part of an edge, and the rest. An even number of bricks, where it can be: so that the
/// curve leaves a part where the next one begins.
struct Parts {
  Edge first, rest;

  explicit Parts(const Edge& edge) : first(edge), rest(edge) {
    const std::int32_t half = edge.n / 2;
    first.n = half % 2 == 1 && edge.n > 2 ? half + 1 : half;
    rest.n = edge.n - first.n;
  }
};

std::int64_t count_of(const Cell& bricks) { return std::int64_t(bricks.x) * bricks.y * bricks.z; }

std::uint32_t row_of(const Cell& bricks, const Cell& at) {
  return std::uint32_t((std::int64_t(at.z) * bricks.y + at.y) * bricks.x + at.x);
}

BrickOrder with_inverse(std::vector<std::uint32_t> row_of_number) {
  BrickOrder order{std::move(row_of_number), {}};
  order.number_of_row.resize(order.row_of_number.size());
  for (std::size_t k = 0; k < order.row_of_number.size(); ++k)
    order.number_of_row[order.row_of_number[k]] = std::uint32_t(k);
  return order;
}

class Curve {
 public:
  explicit Curve(const Cell& bricks) : bricks_(bricks) {
    order_.reserve(std::size_t(count_of(bricks)));
    const Edge x{{1, 0, 0}, bricks.x}, y{{0, 1, 0}, bricks.y}, z{{0, 0, 1}, bricks.z};
    if (z.n >= x.n && z.n >= y.n)
      walk({}, z, x, y);
    else if (y.n >= x.n)
      walk({}, y, x, z);
    else
      walk({}, x, y, z);
  }
  std::vector<std::uint32_t> order() && { return std::move(order_); }

 private:
  /// Through the block with these edges, from the corner `at` to the one at the end of `a`.
  void walk(const Cell& at, const Edge& a, const Edge& b, const Edge& c) {
    if (a.n == 0 || b.n == 0 || c.n == 0) return;
    if ((a.n == 1) + (b.n == 1) + (c.n == 1) >= 2)
      straight(at, a.n > 1 ? a : b.n > 1 ? b : c);
    else if (2 * a.n > 3 * b.n && 2 * a.n > 3 * c.n)
      in_two(at, a, b, c);
    else if (3 * b.n > 4 * c.n)
      in_three(at, a, b, c);
    else if (3 * c.n > 4 * b.n)
      in_three(at, a, c, b);
    else
      in_five(at, a, b, c);
  }
  void straight(Cell at, const Edge& along) {
    for (std::int32_t k = 0; k < along.n; ++k, at += along.step)
      order_.push_back(row_of(bricks_, at));
  }
  /// A long block.
  void in_two(const Cell& at, const Edge& a, const Edge& b, const Edge& c) {
    const Parts of_a(a);
    walk(at, of_a.first, b, c);
    walk(at + of_a.first.all(), of_a.rest, b, c);
  }
  /// A flat one: up along b, on along a, and down.
  void in_three(const Cell& at, const Edge& a, const Edge& b, const Edge& c) {
    const Parts of_a(a), of_b(b);
    walk(at, of_b.first, c, of_a.first);
    walk(at + of_b.first.all(), a, of_b.rest, c);
    walk(at + a.last() + of_b.first.last(), of_b.first.back(), c, of_a.rest.back());
  }
  /// Two of the eight parts at a time, but for the first and the last.
  void in_five(const Cell& at, const Edge& a, const Edge& b, const Edge& c) {
    const Parts of_a(a), of_b(b), of_c(c);
    walk(at, of_b.first, of_c.first, of_a.first);
    walk(at + of_b.first.all(), c, of_a.first, of_b.rest);
    walk(at + of_b.first.last() + c.last(), a, of_b.first.back(), of_c.rest.back());
    walk(at + a.last() + of_b.first.all() + c.last(), c.back(), of_a.rest.back(), of_b.rest);
    walk(at + a.last() + of_b.first.last(), of_b.first.back(), of_c.first, of_a.rest.back());
  }

  Cell bricks_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<std::uint32_t> brick_curve(const Vec3<std::int32_t>& bricks) {
  return Curve(bricks).order();
}

BrickOrder brick_order(const Vec3<std::int32_t>& bricks) {
  constexpr std::int64_t few = 8192;
  if (count_of(bricks) <= few) return {};
  return with_inverse(brick_curve(bricks));
}

BrickOrder brick_order(const Vec3<std::int32_t>& bricks, const Vec3<std::int32_t>& blocks) {
  std::vector<std::uint32_t> rows;
  rows.reserve(std::size_t(count_of(bricks)));
  Cell block{}, at{};
  const auto begin = [&](int axis) { return bricks[axis] * block[axis] / blocks[axis]; };
  const auto end = [&](int axis) { return bricks[axis] * (block[axis] + 1) / blocks[axis]; };
  for (block.z = 0; block.z < blocks.z; ++block.z)
    for (block.y = 0; block.y < blocks.y; ++block.y)
      for (block.x = 0; block.x < blocks.x; ++block.x)
        for (at.z = begin(2); at.z < end(2); ++at.z)
          for (at.y = begin(1); at.y < end(1); ++at.y)
            for (at.x = begin(0); at.x < end(0); ++at.x) rows.push_back(row_of(bricks, at));
  return with_inverse(std::move(rows));
}

}  // namespace perrin
