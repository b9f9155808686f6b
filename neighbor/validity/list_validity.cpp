#include "neighbor/validity/list_validity.h"

#include "engine/device/parallel.h"
#include "engine/system/configuration_archive.h"
#include "neighbor/validity/move_limit.h"

namespace perrin {
namespace {

struct FindLimit {
  const Box *box, *built;
  double range, skin, reserve;
  Real* limit2;
  PERRIN_HD void operator()(std::int64_t) const {
    const Real limit = Real(move_limit(*built, *box, range, skin, reserve));
    *limit2 = limit < Real(0) ? Real(-1) : limit * limit;
  }
};

struct KeepBox {
  const Box* box;
  Box* built;
  double range, skin, reserve;
  Real* limit2;
  PERRIN_HD void operator()(std::int64_t) const {
    *built = *box;
    FindLimit{box, built, range, skin, reserve, limit2}(0);
  }
};

struct NobodyMayMove {
  Real* limit2;
  PERRIN_HD void operator()(std::int64_t) const { *limit2 = Real(-1); }
};

Real square_of_half(double skin) {
  const Real half = Real(skin / 2);
  return half * half;
}

}  // namespace

ListValidity::ListValidity(Particles& particles, double range, double skin)
    : particles_(particles),
      range_(range),
      reference_(particles.device(), particles.size()),
      built_(particles.device(), 1),
      limit2_(particles.device(), 1) {
  const Real limit2 = square_of_half(skin);
  set_built_box(particles.box());
  limit2_.assign(std::span<const Real>(&limit2, 1));
}

void ListValidity::follow_box(double skin) {
  for_each(particles_.device(), "limit of moves", 1,
           FindLimit{particles_.box_state().data(), built_.data(), range_, skin, reserve_,
                     limit2_.data()});
}

void ListValidity::begin_build(double skin) {
  if (!particles_.box_state().moves()) return;
  for_each(particles_.device(), "box of the list", 1,
           KeepBox{particles_.box_state().data(), built_.data(), range_, skin, reserve_,
                   limit2_.data()});
}

void ListValidity::require_build() {
  for_each(particles_.device(), "lists hold no more", 1, NobodyMayMove{limit2_.data()});
}

Current<Real> ListValidity::limit2(double skin) const {
  const bool gpu = particles_.device().is_cuda();
  return {gpu ? square_of_half(skin) : *limit2_.data(), limit2_.data(),
          particles_.box_state().moves()};
}

Box ListValidity::state(Archive& a) {
  // Of several domains each may know those of its own particles alone.
  if (a.is_saving()) particles_.domain().gather(reference_);
  Box built = built_box();
  if (a.has("built_box")) archive_box(a, "built_box", built);
  archive_by_id(a, "reference", particles_, reference_);
  return built;
}

}  // namespace perrin
