// One pass of an integrator over all particles: what is behind integrators/particle_steps.h.
#pragma once

#include <type_traits>

#include "engine/components/box_mover.h"
#include "engine/components/step_context.h"
#include "engine/device/loaded_loop.h"
#include "integrators/drift.h"

namespace perrin {

/// A particle in the hands of an integrator. What a functor does not look at is not read.
struct MovingParticle {
  std::int64_t i;      // its place in memory
  std::uint64_t step;  // the number of the running step, from 0
  std::uint32_t id;
  Position position;
  Real4 velocity;  // length/time; w: 1/mass
  Real4 force;     // energy/length

  PERRIN_HD std::uint32_t type() const { return position.type(); }
  /// v += dt f/m, each component rounded once where the device can.
  PERRIN_HD void kick(Real dt) { velocity = multiply_add(dt * velocity.w, force, velocity); }
};

namespace detail {

/// On a GPU: with what the engine reads for itself.
struct PrefetchedParticle : MovingParticle {
  Position reference;  // MoveCheck::reference_of(), if the body reads it early
};

/// A functor that takes its particle as const leaves the velocity alone: it is not written.
template <class F>
constexpr bool changes_velocity =
    !std::is_invocable_v<const F&, const MovingParticle&> &&
    !std::is_invocable_v<const F&, const MovingParticle&, const Real4&>;

/// As if it had been written to memory and read again: what follows is not fused into what was.
PERRIN_HD void settle(Real4& v) {
#if defined(__CUDA_ARCH__) && defined(PERRIN_DOUBLE)
  asm("" : "+d"(v.x), "+d"(v.y), "+d"(v.z));
#elif defined(__CUDA_ARCH__)
  asm("" : "+f"(v.x), "+f"(v.y), "+f"(v.z));
#elif defined(PERRIN_DOUBLE)
  asm("" : "+m"(v));
#else
  auto word = std::bit_cast<FourReals>(v);
  asm("" : "+x"(word));
  v = std::bit_cast<Real4>(word);
#endif
}

/// A functor that is called with random numbers of its own draw().
template <class F>
constexpr bool draws = requires(const F& f, MovingParticle& p) {
  f(p, Real4{});
};

/// A functor whose numbers follow from the arguments of draw() and what the stage has fixed.
template <class F>
constexpr bool draws_ahead = requires {
  requires F::draws_ahead;
};

/// What a functor that does not always need the force says of this loop.
template <class F>
PERRIN_HD bool reads_force(const F& f) {
  if constexpr (requires { f.reads_force(); })
    return f.reads_force();
  else
    return true;
}

template <class F>
PERRIN_HD Real4 drawn_by(const F& f, std::uint64_t step, std::uint32_t id) {
  if constexpr (draws<F>)
    return f.draw(step, id);
  else
    return {};
}
template <class F>
PERRIN_HD auto call(const F& f, MovingParticle& p, const Real4& drawn) {
  if constexpr (draws<F>)
    return f(p, drawn);
  else
    return f(p);
}

/// `joins`: a part of most steps, for two integrators at once if they are alike.
template <class Before>
struct MoveParticle {
  static constexpr bool light = !changes_velocity<Before>, draws_any = draws<Before>,
                        ahead = draws_ahead<Before>, prefetches = !light, joins = false;
  ParticleView particles;
  Current<Metric> metric;
  FaultSink faults;
  MoveCheck check;
  Real limit;
  const Flow* flow;  // nullptr: there is none
  Before before;

  PERRIN_HD const std::uint64_t* first_step() const { return faults.step; }
  PERRIN_HD bool needs_force() const { return reads_force(before); }
  PERRIN_HD Position reference_of(std::int64_t i) const { return check.reference_of(i); }
  PERRIN_HD void pass_over(std::int64_t i) const { check.pass_over(i); }
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return drawn_by(before, step, id);
  }
  template <class P>
  PERRIN_HD void operator()(P& p, const Real4& drawn) const {
    if constexpr (changes_velocity<Before>)
      if (flow) flow[p.step & 1].turn_velocity(p.i, p.velocity);
    Real4 displacement = call(before, p, drawn);
    // It is one in the box in the middle of the step, and what moves takes that of its beginning.
    if (flow) displacement = flow[p.step & 1].applied(displacement);
    if constexpr (changes_velocity<Before>) particles.velocity[p.i] = p.velocity;
    if constexpr (std::is_same_v<P, PrefetchedParticle>) {
      const Position* const early = prefetches ? &p.reference : nullptr;
      // An argument of the launch takes neither registers nor a load: worth being here twice.
      if (metric.moves)
        drift(particles, *metric, faults, p.i, p.position, displacement, limit, check, early);
      else
        drift(particles, metric.now, faults, p.i, p.position, displacement, limit, check, early);
    } else {  // on the CPU a copy of a position would be handled number by number
      drift(particles, *metric, faults, p.i, particles.position[p.i], displacement, limit, check);
    }
  }
};

template <class After>
struct UpdateParticle {
  static constexpr bool light = false, draws_any = draws<After>, ahead = draws_ahead<After>,
                        prefetches = false, joins = true;
  ParticleView particles;
  FaultSink faults;
  const Flow* flow;
  After after;

  PERRIN_HD const std::uint64_t* first_step() const { return faults.step; }
  PERRIN_HD bool needs_force() const { return reads_force(after); }
  PERRIN_HD void pass_over(std::int64_t) const {}
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return drawn_by(after, step, id);
  }
  PERRIN_HD void operator()(MovingParticle& p, const Real4& drawn) const {
    update(p, drawn);
    if constexpr (changes_velocity<After>) particles.velocity[p.i] = p.velocity;
  }
  PERRIN_HD void update(MovingParticle& p, const Real4& drawn) const {
    call(after, p, drawn);
    if constexpr (changes_velocity<After>) {
      if (flow) flow[p.step & 1].turn_velocity(p.i, p.velocity);
      const Real sum = p.velocity.x + p.velocity.y + p.velocity.z;
      if (!(sum - sum == Real(0)))  // NaN or infinite
        faults.report(FaultKind::not_finite, particles.id[p.i], double(sum), 0);
    }
  }
};

/// What the two functors of a pass draw for one particle, if they both do.
struct Both {
  Real4 after, before;
};

/// UpdateParticle of one step and MoveParticle of the next in one pass, with the same roundings.
template <class After, class Before>
struct UpdateAndMoveParticle {
  static constexpr bool light = false, draws_any = draws<After> || draws<Before>, joins = true;
  static constexpr bool ahead =
      draws_any && draws<After> == draws_ahead<After> && draws<Before> == draws_ahead<Before>;
  static constexpr bool prefetches = MoveParticle<Before>::prefetches;
  UpdateParticle<After> end;
  MoveParticle<Before> begin;

  PERRIN_HD const std::uint64_t* first_step() const { return end.faults.step; }
  PERRIN_HD bool needs_force() const { return end.needs_force() || begin.needs_force(); }
  PERRIN_HD Position reference_of(std::int64_t i) const { return begin.reference_of(i); }
  PERRIN_HD void pass_over(std::int64_t i) const { begin.pass_over(i); }
  PERRIN_HD auto draw(std::uint64_t step, std::uint32_t id) const {
    if constexpr (draws<After> && draws<Before>)
      return Both{end.draw(step, id), begin.draw(*begin.faults.step, id)};
    else if constexpr (draws<After>)
      return end.draw(step, id);
    else
      return begin.draw(*begin.faults.step, id);
  }
  template <class P>
  PERRIN_HD void operator()(P& p, const Both& drawn) const {
    (*this)(p, drawn.after, drawn.before);
  }
  template <class P>
  PERRIN_HD void operator()(P& p, const Real4& drawn) const {
    (*this)(p, drawn, drawn);  // one of the functors does not ask
  }

 private:
  template <class P>
  PERRIN_HD void operator()(P& p, const Real4& after, const Real4& before) const {
    end.update(p, after);
    if constexpr (changes_velocity<After> && !changes_velocity<Before>)
      begin.particles.velocity[p.i] = p.velocity;
    if constexpr (changes_velocity<After>) settle(p.velocity);
    p.step = *begin.faults.step;
    begin(p, before);
  }
};

/// The body of one integrator, for the particles of its group.
template <class B>
struct OfOneGroup {
  using Body = B;
  Body body;
  GroupMask group;

  PERRIN_HD const Body& any() const { return body; }
  PERRIN_HD const Body& of(std::uint32_t) const { return body; }
  PERRIN_HD bool needs_force() const { return body.needs_force(); }
  PERRIN_HD bool has(std::uint32_t id) const { return group.has(id); }
  /// To be asked before a particle is read.
  PERRIN_HD bool leaves_out(const std::uint32_t* id) const { return group && !group.has(*id); }
};

/// The bodies of two integrators, each for the particles of its own.
template <class B>
struct OfTwoGroups {
  using Body = B;
  Body body[2];
  GroupMask group[2];

  PERRIN_HD const Body& any() const { return body[0]; }
  PERRIN_HD const Body& of(std::uint32_t id) const { return body[group[1].has(id) ? 1 : 0]; }
  PERRIN_HD bool needs_force() const { return body[0].needs_force() || body[1].needs_force(); }
  PERRIN_HD bool has(std::uint32_t id) const { return group[0].has(id) || group[1].has(id); }
  PERRIN_HD bool leaves_out(const std::uint32_t*) const { return false; }  // most are of these
};

/// A pass over particles, one by one. Bodies: OfOneGroup or OfTwoGroups.
template <class Bodies>
struct EachParticle {
  using Early = PrefetchedParticle;
  using Body = typename Bodies::Body;
  static constexpr bool light = Body::light;
  ParticleView view;
  Bodies bodies;
  std::int64_t begin;  // particles from here on

  PERRIN_HD MovingParticle load(std::int64_t k) const {
    const std::int64_t i = begin + k;
    MovingParticle p{i, *bodies.any().first_step(), view.id[i], view.position[i], view.velocity[i],
                     {}};
    if (bodies.needs_force()) p.force = view.force[i];
    return p;
  }
  /// Of one that is passed over nothing is read but its id.
  PERRIN_HD PrefetchedParticle prefetch(std::int64_t k) const {
    const std::int64_t i = begin + k;
    if (bodies.leaves_out(view.id + i)) return {{i, 0, view.id[i], {}, {}, {}}, {}};
    PrefetchedParticle p{
        {i, *bodies.any().first_step(), view.id[i], view.position[i], view.velocity[i], {}}, {}};
    if (bodies.needs_force()) p.force = view.force[i];
    if constexpr (Body::prefetches) p.reference = bodies.any().reference_of(i);
    return p;
  }
  template <class P>
  PERRIN_HD void operator()(P& p, std::int64_t) const {
    if (!bodies.has(p.id)) return bodies.any().pass_over(p.i);
    const Body& body = bodies.of(p.id);
    body(p, body.draw(p.step, p.id));
  }
  /// With numbers that have been drawn.
  template <class P, class Drawn>
  PERRIN_HD void move(P& p, const Drawn& drawn) const {
    if (!bodies.has(p.id)) return bodies.any().pass_over(p.i);
    bodies.of(p.id)(p, drawn);
  }

  using Prepared = decltype(std::declval<const Body&>().draw(0, 0));
  PERRIN_HD Prepared prepare(std::int64_t k) const {
    const std::uint32_t id = view.id[begin + k];
    if (bodies.leaves_out(&id)) return {};
    return bodies.of(id).draw(*bodies.any().first_step(), id);
  }
  PERRIN_HD void operator()(PrefetchedParticle& p, const Prepared& drawn) const { move(p, drawn); }
};

/// On the CPU: the random numbers of a block of particles at once, in vectors.
template <class Body>
struct BlockOfParticles {
  static constexpr int width = 16;
  EachParticle<OfOneGroup<Body>> each;
  std::int64_t all;

  PERRIN_HD void operator()(std::int64_t block) const {
    const std::int64_t first = block * width, left = all - first;
    const std::uint32_t* id = each.view.id + each.begin + first;
    const int count = left < width ? int(left) : width;
    const Body& body = each.bodies.body;
    const std::uint64_t step = *body.first_step();
    decltype(body.draw(0, 0)) drawn[width];
    if (count == width) {
#pragma omp simd
      for (int k = 0; k < width; ++k) drawn[k] = body.draw(step, id[k]);
    } else {
      for (int k = 0; k < count; ++k) drawn[k] = body.draw(step, id[k]);
    }
    for (int k = 0; k < count; ++k) {
      MovingParticle p = each.load(first + k);
      each.move(p, drawn[k]);
    }
  }
};

/// One launch for two integrators; false: they go one after the other.
template <class Body>
bool launch_two(const Device& device, const char* name, bool early, std::int64_t n,
                const EachParticle<OfTwoGroups<Body>>& each) {
  if constexpr (!Body::ahead)
    return launch_loaded(device, name, n, each);
  else  // one kernel to compile: nearly all passes are early
    return early && launch_prepared(device, name, n, each, n);
}

template <class Body>
void run_passes(StepContext& s, const GroupPass& one, const GroupPass* other) {
  const Share share = s.particles().share();
  const std::int64_t n = share.size();
  const Device& device = s.device();
  if (n <= 0 || device.halt().skipping()) return;
  const auto body = [](const GroupPass& pass) -> const Body& {
    return *static_cast<const Body*>(pass.body);
  };
  if constexpr (Body::joins) {
    if (other) {
      using Two = OfTwoGroups<Body>;
      const Two two{{body(one), body(*other)}, {one.group, other->group}};
      if (launch_two(device, one.name, one.early && other->early, n,
                     EachParticle<Two>{s.particles().view(), two, share.begin}))
        return;
      run_passes<Body>(s, *other, nullptr);
    }
  }
  using One = OfOneGroup<Body>;
  const EachParticle<One> each{s.particles().view(), One{body(one), one.group}, share.begin};
  if constexpr (Body::ahead)
    if (one.early && launch_prepared(device, one.name, n, each)) return;
  if (launch_loaded(device, one.name, n, each)) return;
  if constexpr (Body::draws_any) {
    constexpr int width = BlockOfParticles<Body>::width;
    for_each_on_cpu(device, (n + width - 1) / width, BlockOfParticles<Body>{each, n}, 16);
  } else {
    for_each_on_cpu(device, n, LoadAndDo<EachParticle<One>>{each});
  }
}

template <class Body>
void run_pass(StepContext& s, const char* name, const Body& body, bool between_steps = false) {
  const GroupPass pass{&body, s.group(), name, between_steps && s.order_stands(), run_passes<Body>};
  if constexpr (Body::joins)
    s.run(pass);
  else
    run_passes<Body>(s, pass, nullptr);
}

template <class Before>
MoveParticle<Before> beginning(StepContext& s, const Before& before) {
  return {s.particles().view(),
          s.particles().metric(),
          s.fault_sink(),
          s.check_moves(),
          Real(s.max_displacement()),
          s.flow(),
          before};
}
template <class After>
UpdateParticle<After> ending(StepContext& s, const After& after, bool flow) {
  return {s.particles().view(), s.fault_sink(), flow ? s.flow() : nullptr, after};
}

}  // namespace detail

}  // namespace perrin
