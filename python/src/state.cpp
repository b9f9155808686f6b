#include "python/src/state.h"

#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <array>
#include <cmath>

#include "neighbor/neighbors.h"
#include "python/src/kept_force.h"

namespace perrin::python {
namespace {

/// A new numpy array with these values: [n] or [n, width].
template <class T>
nb::object numpy(std::vector<T> values, std::size_t width) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[2] = {kept->size() / width, width};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), width == 1 ? 1 : 2, shape, owner));
}

/// x, y and z of each word, sorted by id.
template <class T, class Word>
nb::object three(const std::vector<Word>& words, const std::vector<std::uint32_t>& ids) {
  std::vector<T> values(3 * words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    T* const to = &values[3 * std::size_t(ids[i])];
    to[0] = T(words[i].x), to[1] = T(words[i].y), to[2] = T(words[i].z);
  }
  return numpy(std::move(values), 3);
}

Vec3<double> row(const Rows& rows, std::size_t i) {
  const auto view = rows.view();
  return {view(i, 0), view(i, 1), view(i, 2)};
}

void check_rows(const Rows& rows, std::int64_t n, std::size_t width = 3) {
  if (rows.shape(0) == std::size_t(n) && rows.shape(1) == width) return;
  throw UserError(fmt::format("expected an array of shape ({}, {}), got ({}, {})", n, width,
                              rows.shape(0), rows.shape(1)));
}

/// T: what the number becomes.
template <class T = double>
void check_finite(const Vec3<double>& v, std::uint32_t id, const char* what) {
  if (std::isfinite(T(v.x)) && std::isfinite(T(v.y)) && std::isfinite(T(v.z))) return;
  throw UserError(fmt::format("the {} of particle {} must be finite, got ({}, {}, {})", what, id,
                              v.x, v.y, v.z));
}

void check_inside(const Box& box, const Vec3<double>& r, std::uint32_t id) {
  const Vec3<double> s = box.fraction(r);
  for (int axis = 0; axis < box.dimension; ++axis)
    if (!box.periodic[std::size_t(axis)] && !(s[axis] >= 0 && s[axis] <= 1))
      throw UserError(fmt::format(
          "particle {} is outside of the box along {}, which is not periodic", id, "xyz"[axis]));
  if (box.dimension == 2 && r.z != 0)
    throw UserError(fmt::format("particle {} must have z = 0 in two dimensions, got {}", id, r.z));
}

nb::list list_of(const Vec3<double>& v) {
  nb::list list;
  for (int axis = 0; axis < 3; ++axis) list.append(v[axis]);
  return list;
}

}  // namespace

int Use::this_process() { return getpid(); }

bool Use::of_this_process() const { return getpid() == process_; }

void Use::begin() {
  check();
  if (running_)
    throw RunError(
        "this simulation is running: what it calls back cannot run it or change its settings");
  running_ = true, runner_ = std::this_thread::get_id();
}

void Use::check() const {
  if (!of_this_process())
    throw RunError("this simulation belongs to the parent of this forked process");
  if (running_ && std::this_thread::get_id() != runner_)
    throw RunError("another thread runs this simulation");
}

int cuda_index(const Device& device) { return std::stoi(device.name().substr(5)); }

void select(const Device& device) {
#ifdef PERRIN_CUDA
  if (device.is_cuda()) check_cuda(cudaSetDevice(cuda_index(device)), "selecting the device");
#endif
  (void)device;
}

StepContext& State::context() const {
  if (use_) use_->check();
  if (!context_) throw RunError("this state is valid only within its call");
  select(context_->device());
  return *context_;
}

Simulation& State::at_rest(const char* what) const {
  if (within_call()) throw UserError(fmt::format("a PythonForce cannot {}", what));
  context();  // is it open, and for this thread?
  return *simulation_;
}

std::string State::neighbors() const {
  const StepContext& s = context();
  if (simulation_) return simulation_->neighbor_report();
  return s.neighbors() ? s.neighbors()->report() : "";
}

std::uint64_t State::step() const { return within_call() ? instant_ : context().step(); }

double State::time() const {
  const StepContext& s = context();
  return s.time() + double(step() - s.step()) * s.timestep();
}

nb::object State::positions(bool wrapped) const {
  const Particles& p = context().particles();
  const auto position = p.position().to_host();
  const auto image = p.image().to_host();
  const auto id = ids();
  std::vector<double> values(3 * position.size());
  for (std::size_t i = 0; i < position.size(); ++i) {
    Vec3<double> r = p.box().point(position[i]);
    if (!wrapped) {
      const auto edges = p.box().edges();
      for (int k = 0; k < 3; ++k) r += double(image[i][k]) * edges[std::size_t(k)];
    }
    for (int k = 0; k < 3; ++k) values[3 * std::size_t(id[i]) + std::size_t(k)] = r[k];
  }
  return numpy(std::move(values), 3);
}

nb::object State::velocities() const {
  return three<double>(context().particles().velocity().to_host(), ids());
}

nb::object State::forces() const {
  Simulation& s = at_rest("ask for the forces that it is a part of");
  s.ensure_forces();
  nb::object forces;
  s.with_whole_forces([&] { forces = three<double>(s.particles().force().to_host(), ids()); });
  return forces;
}

nb::object State::images() const {
  return three<std::int32_t>(context().particles().image().to_host(), ids());
}

nb::object State::types() const {
  const auto position = context().particles().by_id(context().particles().position());
  std::vector<std::uint32_t> types;
  for (const Position& p : position) types.push_back(p.type());
  return numpy(std::move(types), 1);
}

nb::object State::masses() const {
  const auto velocity = context().particles().by_id(context().particles().velocity());
  std::vector<double> masses;
  for (const Real4& v : velocity) masses.push_back(1 / double(v.w));
  return numpy(std::move(masses), 1);
}

std::vector<double> State::now(const std::string& name, const std::vector<double>& at_start) const {
  const auto names = present_->names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return at_start;
  return present_->values(context().particles(), time())[std::size_t(found - names.begin())];
}

nb::object State::charges() const {
  return numpy(now("charge", context().particles().properties().charge), 1);
}
nb::object State::diameters() const {
  return numpy(now("diameter", context().particles().properties().diameter), 1);
}

nb::object State::orientations() const {
  const Particles& p = context().particles();
  if (!p.orientations()) return numpy(std::vector<double>(), 4);
  std::vector<double> values;
  for (const Real4& q : p.by_id(p.orientations()->orientation()))
    for (const Real x : {q.w, q.x, q.y, q.z}) values.push_back(double(x));
  return numpy(std::move(values), 4);
}

nb::object State::angular_momenta() const {
  const Particles& p = context().particles();
  if (!p.orientations()) return numpy(std::vector<double>(), 3);
  return three<double>(p.orientations()->angular_momentum().to_host(), ids());
}

nb::object State::moments_of_inertia() const {
  const Particles& p = context().particles();
  if (!p.orientations()) return numpy(std::vector<double>(), 3);
  return three<double>(p.orientations()->moment().to_host(), ids());
}

nb::object State::torques() const {
  Simulation& s = at_rest("ask for the torques that it is a part of");
  if (!s.particles().orientations()) return numpy(std::vector<double>(), 3);
  s.ensure_forces();
  nb::object torques;
  s.with_whole_forces(
      [&] { torques = three<double>(s.particles().orientations()->torque().to_host(), ids()); });
  return torques;
}

nb::dict State::attributes() const {
  auto all = context().particles().properties().attributes;
  const auto names = present_->names();
  auto present = present_->values(context().particles(), time());
  for (std::size_t k = 0; k < names.size(); ++k)
    if (const auto one = all.find(names[k]); one != all.end()) one->second = std::move(present[k]);
  nb::dict by_name;
  for (auto& [name, values] : all) by_name[name.c_str()] = numpy(std::move(values), 1);
  return by_name;
}

nb::dict State::topology() const {
  const Topology& t = context().particles().properties().topology;
  nb::dict d;
  const auto list = [&](const char* name, const auto& entries,
                        const std::vector<std::string>& names, std::size_t width,
                        const auto& members) {
    std::vector<std::uint32_t> ids, types;
    for (const auto& entry : entries) {
      for (const std::uint32_t id : members(entry)) ids.push_back(id);
      types.push_back(entry.type);
    }
    d[name] = nb::make_tuple(numpy(std::move(ids), width), numpy(std::move(types), 1), names);
  };
  const auto four = [](const Topology::Dihedral& e) { return std::array{e.a, e.b, e.c, e.d}; };
  list("bonds", t.bonds, t.bond_types, 2, [](const Topology::Bond& e) {
    return std::array{e.a, e.b};
  });
  list("angles", t.angles, t.angle_types, 3, [](const Topology::Angle& e) {
    return std::array{e.a, e.b, e.c};
  });
  list("dihedrals", t.dihedrals, t.dihedral_types, 4, four);
  list("impropers", t.impropers, t.improper_types, 4, four);
  d["molecules"] = numpy(std::vector(t.molecule), 1);
  std::vector<std::int64_t> bodies;
  for (const std::uint32_t body : t.body)
    bodies.push_back(body == Topology::no_body ? -1 : std::int64_t(body));
  d["bodies"] = numpy(std::move(bodies), 1);
  std::vector<std::uint32_t> ids;
  std::vector<double> lengths;
  for (const Topology::Constraint& one : t.constraints)
    ids.push_back(one.a), ids.push_back(one.b), lengths.push_back(one.length);
  d["constraints"] = nb::make_tuple(numpy(std::move(ids), 2), numpy(std::move(lengths), 1));
  return d;
}

nb::dict State::box() const {
  const Box& box = context().particles().box();
  nb::dict d;
  d["lengths"] = list_of(box.length);
  d["tilts"] = list_of({box.xy, box.xz, box.yz});
  d["origin"] = list_of(box.origin);
  nb::list periodic;
  for (const bool p : box.periodic) periodic.append(p);
  d["periodic"] = periodic;
  d["dimension"] = box.dimension;
  d["padding"] = list_of(box.padding);
  return d;
}

nb::dict State::totals() const {
  Simulation& s = at_rest("ask for totals that it is a part of");
  const Totals& t = s.totals();
  nb::dict d;
  d["potential"] = t.potential;
  d["kinetic"] = t.kinetic;
  d["rotational"] = t.rotational;
  d["total"] = t.total_energy();
  d["temperature"] = s.now().temperature;
  d["pressure"] = s.now().pressure();
  d["pressure_tensor"] = s.now().pressure_tensor();
  d["virial"] = t.virial;
  d["kinetic_tensor"] = t.kinetic_tensor;
  d["momentum"] = list_of(t.momentum);
  d["heat"] = t.heat;
  d["work"] = t.work;
  return d;
}

State::Raw State::raw(const std::string& name) const {
  Particles& p = context().particles();
  constexpr bool single = sizeof(Real) == 4;
  const Raw word{nullptr, {std::size_t(p.size()), 4}, nb::dtype<std::uint32_t>(), "<u4"};
  const auto as = [&](auto& buffer, std::size_t width, Raw raw) {
    raw.data = buffer.data(), raw.shape.back() = width;
    if (width == 1) raw.shape.pop_back();
    return raw;
  };
  Raw real = word, whole = word;
  real.type = nb::dtype<Real>(), real.text = single ? "<f4" : "<f8";
  whole.type = nb::dtype<std::int32_t>(), whole.text = "<i4";
  if (name == "position") return as(p.position(), 4, word);
  if (name == "velocity") return as(p.velocity(), 4, real);
  if (name == "force") return as(p.force(), 4, real);
  if (name == "image") return as(p.image(), 3, whole);
  if (name == "id") return as(p.id(), 1, word);
  if (name == "index") return as(p.index(), 1, word);
  if (name == "orientation") return as(turning(p).orientation(), 4, real);
  if (name == "angular_momentum") return as(turning(p).angular_momentum(), 4, real);
  if (name == "moment_of_inertia") return as(turning(p).moment(), 4, real);
  if (name == "torque") return as(turning(p).torque(), 4, real);
  throw UserError(fmt::format("there is no array \"{}\"", name));
}

Orientations& State::turning(Particles& p) const {
  if (!p.orientations())
    throw UserError("the particles have no orientations: add \"orientations\" to the job");
  return *p.orientations();
}

nb::object State::array(const std::string& name) const {
  const Raw raw = this->raw(name);
  const Device& device = context().device();
  device.synchronize();
#ifdef PERRIN_CUDA
  if (device.is_cuda()) {
    return nb::cast(nb::ndarray<nb::array_api>(raw.data, raw.shape.size(), raw.shape.data(), owner_,
                                               nullptr, raw.type, nb::device::cuda::value,
                                               cuda_index(device)));
  }
#endif
  return nb::cast(nb::ndarray<nb::numpy>(raw.data, raw.shape.size(), raw.shape.data(), owner_,
                                         nullptr, raw.type, nb::device::cpu::value));
}

nb::tuple State::address(const std::string& name) const {
  const Raw raw = this->raw(name);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(raw.data), raw.shape, raw.text);
}

std::tuple<std::int64_t, std::int64_t, std::int64_t> State::order() const {
  const StepContext& s = context();
  if (!s.neighbors()) return {0, 0, 0};
  const std::int64_t step = s.neighbors()->has_lists() ? 0 : std::int64_t(s.step());
  return {s.neighbors()->builds(), s.neighbors()->version(), step};
}

std::uintptr_t State::stream() const {
#ifdef PERRIN_CUDA
  if (context().device().is_cuda())
    return reinterpret_cast<std::uintptr_t>(context().device().queue().stream());
#endif
  return 0;
}

void State::set_positions(const Rows& rows, bool by_id, bool unwrapped) const {
  Particles& p = at_rest("change particles").particles();
  check_rows(rows, p.size());
  auto position = p.position().to_host();
  auto image = p.image().to_host();
  const auto id = ids();
  for (std::size_t i = 0; i < position.size(); ++i) {
    const Vec3<double> r = row(rows, by_id ? id[i] : i);
    check_finite(r, id[i], "position");
    check_inside(p.box(), r, id[i]);
    if (unwrapped) image[i] = {};
    position[i] = p.box().fixed(r, position[i].type(), &image[i]);
  }
  p.position().assign(position);
  p.image().assign(image);
}

void State::set_velocities(const Rows& rows, bool by_id) const {
  Particles& p = at_rest("change particles").particles();
  check_rows(rows, p.size());
  auto velocity = p.velocity().to_host();
  const auto id = ids();
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const Vec3<double> v = row(rows, by_id ? id[i] : i);
    check_finite<Real>(v, id[i], "velocity");
    if (p.box().dimension == 2 && v.z != 0)
      throw UserError(fmt::format(
          "the velocity of particle {} must have no z component in two dimensions, got {}", id[i],
          v.z));
    velocity[i] = {Real(v.x), Real(v.y), Real(v.z), velocity[i].w};
  }
  p.velocity().assign(velocity);
}

void State::set_orientations(const Rows& rows, bool by_id) const {
  Particles& p = at_rest("change particles").particles();
  Orientations& turning = this->turning(p);
  check_rows(rows, p.size(), 4);
  const auto view = rows.view();
  const auto id = ids();
  std::vector<Real4> orientation(id.size());
  for (std::size_t i = 0; i < id.size(); ++i) {
    const std::size_t k = by_id ? id[i] : i;
    const Quaternion q{view(k, 1), view(k, 2), view(k, 3), view(k, 0)};
    const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!(square > 1e-12 && square < 1e12))
      throw UserError(fmt::format(
          "the orientation of particle {} must be a quaternion (w, x, y, z), got ({}, {}, {}, {})",
          id[i], q.w, q.x, q.y, q.z));
    if (p.box().dimension == 2 && q.x * q.x + q.y * q.y > 1e-8 * square)
      throw UserError(
          fmt::format("the orientation of particle {} must be a rotation about z in two "
                      "dimensions, got ({}, {}, {}, {})",
                      id[i], q.w, q.x, q.y, q.z));
    orientation[i] = to_real4(normalized(q));
  }
  turning.orientation().assign(orientation);
}

void State::set_angular_momenta(const Rows& rows, bool by_id) const {
  Particles& p = at_rest("change particles").particles();
  Orientations& turning = this->turning(p);
  check_rows(rows, p.size());
  const auto moment = turning.moment().to_host();
  const auto id = ids();
  std::vector<Real4> momentum(id.size());
  for (std::size_t i = 0; i < id.size(); ++i) {
    const Vec3<double> v = row(rows, by_id ? id[i] : i);
    check_finite<Real>(v, id[i], "angular momentum");
    const Vec3<double> about{double(moment[i].x), double(moment[i].y), double(moment[i].z)};
    for (int axis = 0; axis < 3; ++axis)
      if (!(about[axis] > 0) && v[axis] != 0)
        throw UserError(
            fmt::format("the angular momentum of particle {} about its {} axis must be "
                        "0, since its moment of inertia is, got {}",
                        id[i], "xyz"[axis], v[axis]));
    momentum[i] = {Real(v.x), Real(v.y), Real(v.z), Real(0)};
  }
  turning.angular_momentum().assign(momentum);
}

void State::changed() const {
  Simulation& s = at_rest("change particles");
  if (s.particles().box().dimension == 2) {  // what was written into sim.local
    const auto velocity = s.particles().velocity().to_host();
    const auto off = std::ranges::find_if(velocity, [](const Real4& v) { return v.z != 0; });
    if (off != velocity.end()) {
      const double z = double(off->z);
      auto flat = velocity;
      for (Real4& v : flat) v.z = 0;
      s.particles().velocity().assign(flat);
      throw UserError(
          fmt::format("the velocity of particle {} must have no z component in two "
                      "dimensions, got {}: they were set to 0",
                      ids()[std::size_t(off - velocity.begin())], z));
    }
  }
  s.invalidate();
  for (const auto& force : s.forces())
    if (auto* const python = dynamic_cast<KeptForce*>(force.get())) python->forget();
  if (s.bath()) s.bath()->begin(s);
}

void bind_state(nb::module_& m) {
  nb::class_<State>(m, "State", "A simulation between two steps, or in the call of a force.")
      .def_prop_ro("step", &State::step)
      .def_prop_ro("time", &State::time)
      .def_prop_ro("size", [](const State& s) { return s.context().particles().size(); })
      .def_prop_ro(
          "positions", [](const State& s) { return s.positions(true); },
          "by id, wrapped into the box (length), float64 [n, 3]; a copy")
      .def_prop_ro(
          "unwrapped", [](const State& s) { return s.positions(false); },
          "by id, without jumps at the faces of the box (length), float64 [n, 3]; a copy")
      .def_prop_ro("velocities", &State::velocities, "by id (length/time), float64 [n, 3]; a copy")
      .def_prop_ro("forces", &State::forces, "by id (energy/length), float64 [n, 3]; a copy")
      .def_prop_ro("images", &State::images, "by id, crossings of the box, int32 [n, 3]; a copy")
      .def_prop_ro("types", &State::types, "by id, index into type_names, uint32 [n]; a copy")
      .def_prop_ro("type_names",
                   [](const State& s) { return s.context().particles().properties().types; })
      .def_prop_ro("masses", &State::masses, "by id, float64 [n]; a copy")
      .def_prop_ro("charges", &State::charges, "by id, float64 [n], or [0] without; a copy")
      .def_prop_ro("diameters", &State::diameters, "by id (length), [0] without; a copy")
      .def_prop_ro("orientations", &State::orientations,
                   "by id, quaternions w, x, y, z, float64 [n, 4], [0, 4] without; a copy")
      .def_prop_ro("angular_momenta", &State::angular_momenta,
                   "by id, in each particle's frame, float64 [n, 3], [0, 3] without; a copy")
      .def_prop_ro("moments_of_inertia", &State::moments_of_inertia,
                   "by id, in each particle's frame, float64 [n, 3], [0, 3] without; a copy")
      .def_prop_ro("torques", &State::torques, "by id (energy), [0, 3] without; a copy")
      .def_prop_ro("attributes", &State::attributes, "by name, then by id, float64 [n]; copies")
      .def_prop_ro("topology", &State::topology, "bonds, angles, …, molecules, bodies; copies")
      .def_prop_ro("box", &State::box, "lengths, tilts (xy, xz, yz), origin, periodic, dimension")
      .def_prop_ro("totals", &State::totals, "energies, pressure, …; tensors xx yy zz xy xz yz")
      .def_prop_ro("device", [](const State& s) { return s.context().device().name(); })
      .def_prop_ro("stream", &State::stream, "the CUDA stream as a number; 0 on the CPU")
      .def_prop_ro("order", &State::order, "changes with the order of particles in memory")
      .def_prop_ro("deforms", [](const State& s) { return s.context().deformation() != nullptr; })
      .def_prop_ro("timings",
                   [](const State& s) {
                     const Timings& t = s.context().timings();
                     nb::dict d;
                     d["neighbors"] = t.neighbors, d["forces"] = t.forces;
                     d["integration"] = t.integration, d["output"] = t.output;
                     return d;
                   })
      .def_prop_ro("neighbors", [](const State& s) { return s.neighbors(); })
      .def_prop_ro("ids", [](const State& s) { return numpy(s.ids(), 1); })
      .def("address", &State::address, nb::arg("name"), "pointer, shape and type of an array")
      .def("array", &State::array, nb::arg("name"), "a view in memory order, without a copy")
      .def("set_positions", &State::set_positions, nb::arg("rows"), nb::arg("by_id"),
           nb::arg("unwrapped"))
      .def("set_velocities", &State::set_velocities, nb::arg("rows"), nb::arg("by_id"))
      .def("set_orientations", &State::set_orientations, nb::arg("rows"), nb::arg("by_id"))
      .def("set_angular_momenta", &State::set_angular_momenta, nb::arg("rows"), nb::arg("by_id"))
      .def("changed", &State::changed);
}

}  // namespace perrin::python
