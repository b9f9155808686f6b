"""Methods of integration as the integrators of a stage."""
from perrin.hoomd.bodies import moved
from perrin.hoomd.constraints import allowed
from perrin.hoomd.output import period
from perrin.hoomd.values import Thing, Unknown, number, vector
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

METHODS = "hoomd.md.methods"
# What is known of each method.
KNOWN = {"ConstantVolume": "thermostat", "NVE": "limit", "NVT": "kT tau",
         "NPT": "kT tau S tauS couple box_dof rescale_all gamma",
         "ConstantPressure": "S tauS couple thermostat box_dof rescale_all gamma",
         "Langevin": "kT tally_reservoir_energy default_gamma default_gamma_r gamma gamma_r",
         "Brownian": "kT default_gamma default_gamma_r gamma gamma_r",
         "OverdampedViscous": "default_gamma default_gamma_r gamma gamma_r",
         "DisplacementCapped": "maximum_displacement"}
COUPLED = {"xyz": "all", "none": "x,y,z", "xy": "xy,z", "xz": "xz,y", "yz": "yz,x"}


def moving(script, integrator, start, steps):
    """"integrator" or "integrators" of a stage that begins at this step."""
    step = script.constant(integrator, "dt")
    made = []
    for method in integrator.list("methods"):
        if isinstance(method, Unknown) or not isinstance(method, Thing):
            raise NotUnderstood(f"methods: {getattr(method, 'reason', 'expected methods')}",
                                getattr(method, "line", None))
        try:
            settings = Method(script, method, start, steps).integrator()
            if script.constraints is not None:
                settings = allowed(settings, script, method.line)
            made.append((script.group(method.get("filter")), settings, method.line))
        except NotUnderstood as error:
            script.list_line(str(error), error.line or method.line)
    if integrator.path == "hoomd.md.minimize.FIRE":
        return minimiser(script, integrator, step, made)
    if script.constraints is not None and len(made) > 1:
        raise NotUnderstood("several methods beside constraints", integrator.line)
    if len(made) == 1 and made[0][0] == "all":
        _, settings, line = made[0]
        return {"integrator": Commented(with_step(settings, step), line)}
    if not made:
        return {"integrator": {"type": "frozen", "timestep": step}}
    integrators = [Commented({**with_step(settings, step), "group": group}, line)
                   for group, settings, line in made]
    named = [group for group, _, _ in made if group != "all"]
    if len(named) < len(made):
        raise NotUnderstood("several methods, one of them of all particles", integrator.line)
    covered = {t for g in named for t in script.groups[g].get("types", [])}
    if not (script.types and covered >= set(script.types)) and not complementary(script, named):
        script.groups.setdefault("still", {"not": named})
        script.groups["still"] = script.used_groups["still"] = {"not": named}
        integrators.append({"type": "frozen", "timestep": step, "group": "still"})
    return {"integrators": integrators}


def complementary(script, names):
    return any(set(script.groups[n].get("not", [])) & set(names) and "and" not in script.groups[n]
               for n in names)


def with_step(settings, step):
    return {"type": settings["type"], "timestep": step, **settings}


def minimiser(script, integrator, step, made):
    settings = {"type": "fire", "force_tolerance": max(integrator.number("force_tol"), 1e-3),
                "timestep": step, "maximum_timestep": max(step, 0.05)}
    if integrator.number("force_tol") < 1e-3:
        script.near(integrator.line, "force_tol became 0.001, the least that mixed precision "
                                     "reaches; energy_tol and angmom_tol have no counterpart")
    groups = [group for group, _, _ in made]
    if groups and groups != ["all"]:
        raise NotUnderstood("a minimisation of a part of the particles", integrator.line)
    return {"integrator": Commented(settings, integrator.line)}


class Method:
    def __init__(self, script, thing, start, steps):
        self.script, self.thing, self.start, self.steps = script, thing, start, steps

    def integrator(self):
        thing, kind = self.thing, self.thing.kind
        handler = getattr(self, f"of_{kind.lower()}", None)
        if thing.family != METHODS or handler is None:
            raise NotUnderstood(f"the method {thing.path.replace('hoomd.md.', '')}")
        thing.only("filter", *KNOWN[kind].split())
        return handler()

    def ramp(self, thing, name, key="temperature"):
        first, last, over = self.script.course(thing, name, self.start, self.steps)
        if first == last:
            return {key: first}
        return {key: first, f"final_{key}": last, "ramp_steps": over}

    def bath(self):
        thermostat = self.thing.get("thermostat")
        if thermostat in (None, False):
            return None
        if not isinstance(thermostat, Thing):
            raise NotUnderstood("thermostat: expected a thermostat", self.thing.line)
        thermostat.only("kT", "tau")
        made = {"temperature": 0, **self.ramp(thermostat, "kT")}
        kind = thermostat.kind
        if kind == "MTTK":
            return {"type": "nose_hoover", **made, "tau": self.script.constant(thermostat, "tau"),
                    "chain": 1}
        if kind in ("Bussi", "Berendsen"):
            if kind == "Berendsen":
                self.script.near(thermostat.line, "Berendsen's thermostat became velocity "
                                 "rescaling by Bussi, which samples the canonical ensemble")
            tau = self.script.constant(thermostat, "tau") if thermostat.has("tau") else 0
            return {"type": "bussi", **made, "tau": tau}
        raise NotUnderstood(f"the thermostat {kind}", thermostat.line)

    def of_constantvolume(self):
        return self.bath() or self.constant_energy()

    def constant_energy(self):
        if self.script.friction:  # forces of the predicted velocities, as HOOMD-blue has them
            return {"type": "groot_warren", "lambda": 0.5}
        return {"type": "velocity_verlet"}

    def of_nve(self):
        if self.thing.get("limit") is not None:
            raise NotUnderstood("NVE with a limit")
        return self.constant_energy()

    def of_nvt(self):
        return {"type": "nose_hoover", **self.ramp(self.thing, "kT"),
                "tau": self.script.constant(self.thing, "tau"), "chain": 1}

    def of_npt(self):
        return {**self.of_nvt(), "barostat": self.barostat()}

    def of_constantpressure(self):
        made = self.bath()
        if made is None:
            raise NotUnderstood("ConstantPressure without thermostat: constant enthalpy")
        if made["type"] == "bussi":
            self.script.near(self.thing.line, "the barostat became stochastic cell rescaling, "
                                              "which samples the same ensemble")
        return {**made, "barostat": self.barostat()}

    def barostat(self):
        thing = self.thing
        if thing.has("gamma") and thing.number("gamma"):
            raise NotUnderstood("gamma of the barostat", thing.line_of("gamma"))
        pressure = thing.get("S")
        if isinstance(pressure, (list, tuple)):
            values = list(pressure)
            same = {id(v) if isinstance(v, Thing) else v for v in values[:3]}
            if len(same) > 1 or any(number(v, "S") for v in values[3:]):
                raise NotUnderstood("S: different pressures along the axes", thing.line_of("S"))
            pressure = values[0]
        made = {}
        first, last, over = self.script.course_of(pressure, "S", self.start, self.steps,
                                                  thing.line_of("S"))
        made["pressure"] = first
        if first != last:
            made.update(final_pressure=last, ramp_steps=over)
        made["tau"] = self.script.constant(thing, "tauS")
        axes = self.axes()
        return made if axes == "all" else {**made, "axes": axes}

    def axes(self):
        couple = self.thing.get("couple") or "none"
        free = [bool(v) for v in self.thing.get("box_dof", [True] * 3 + [False] * 3)]
        flat = self.script.dimensions == 2
        if couple not in COUPLED:
            raise NotUnderstood(f"couple: {couple!r}", self.thing.line_of("couple"))
        if any(free[3:]):
            raise NotUnderstood("box_dof: tilts that change", self.thing.line_of("box_dof"))
        open_axes = [a for a, f in zip("xy" if flat else "xyz", free) if f]
        if flat:
            return "all" if couple in ("xy", "xyz") and len(open_axes) == 2 else ",".join(open_axes)
        if len(open_axes) == 3:
            return COUPLED[couple]
        inside = [a for a in open_axes if a in couple]
        if couple != "none" and len(inside) > 1:
            return ",".join(["".join(inside), *(a for a in open_axes if a not in couple)])
        return ",".join(open_axes)

    def frictions(self):
        thing, script = self.thing, self.script
        default = number(thing.get("default_gamma", 1.0), "default_gamma")
        own = moved(script, {k: number(v, "gamma") for k, v in thing.table("gamma").items()})
        made = {"friction": default}
        different = {k: v for k, v in own.items() if v != default}
        if different and script.types and set(own) >= set(script.types):
            values = set(own.values())
            return {"friction": values.pop()} if len(values) == 1 else {"frictions": own}
        return {**made, "frictions": different} if different else made

    def rotations(self):
        """Frictions of the rotation, gamma_r, where particles turn: about axes without a moment of
        inertia they do not."""
        thing, script = self.thing, self.script
        if not script.orientations and not script.bodies:
            return {}
        default, own = thing.get("default_gamma_r", (1.0, 1.0, 1.0)), thing.table("gamma_r")
        made, moments = {}, script.moments() if script.rotation is not None else {
            name: [0.0] * 3 for name in script.types}
        if moments is None:
            script.list_line("frictions of the rotation: moments of inertia of the state are not "
                             "known", thing.line)
            return {}
        for name, inertia in moved(script, moments).items():
            line = own.lines.get(name, thing.line)
            frictions = vector(own.get(name, default), "gamma_r", line)
            made[name] = [float(g) if i else 0.0 for g, i in zip(frictions, inertia)]
        if script.dimensions == 2:
            turning = {name: g[2] for name, g in made.items()}
        else:
            turning = {name: g[0] for name, g in made.items() if len(set(g)) == 1}
        if len(turning) == len(made):
            return {"rotational_frictions": turning}
        if script.turned:
            raise NotUnderstood("gamma_r that differs from axis to axis, of particles whose frames "
                                "are turned", thing.line_of("gamma_r"))
        return {"rotational_frictions_of_axes": made}

    def of_langevin(self):
        return {"type": "langevin", **self.ramp(self.thing, "kT"), **self.frictions(),
                **self.rotations()}

    def of_brownian(self):
        return {"type": "brownian", **self.ramp(self.thing, "kT"), **self.frictions(),
                **self.rotations()}

    def of_overdampedviscous(self):
        return {"type": "brownian", "temperature": 0, **self.frictions(), **self.rotations()}

    def of_displacementcapped(self):
        self.script.near(self.thing.line, "DisplacementCapped became minimisation by FIRE with "
                         "this largest displacement")
        return {"type": "fire", "force_tolerance": 1e-3, "maximum_move": self.script.constant(
            self.thing, "maximum_displacement"), "maximum_timestep": 0.05}


def diffusion(script, updater, stage):
    """ActiveRotationalDiffusion: a friction of the rotation that has this diffusion coefficient. In
    three dimensions HOOMD-blue turns by one angle about a random axis across the force, so that
    directions forget themselves as exp(-D t), as in two; those of a job do as exp(-2 k_B T/friction
    t)."""
    updater.only("trigger", "active_force", "rotational_diffusion")
    force = updater.get("active_force")
    # HOOMD-blue turns by sqrt(2 D dt) at each call, dt the time step.
    coefficient = script.constant(updater, "rotational_diffusion") / period(
        updater.get("trigger"), script, updater)
    integrator = stage.get("integrator", {})
    if integrator.get("type") != "brownian" or "ramp_steps" in integrator or \
            not integrator["temperature"]:
        raise NotUnderstood("ActiveRotationalDiffusion: expected the method Brownian of all "
                            "particles, at a constant kT above 0", updater.line)
    if any(integrator.get("rotational_frictions", {}).values()):
        raise NotUnderstood("ActiveRotationalDiffusion beside rotation by gamma_r", updater.line)
    if not isinstance(force, Thing) or any(
            any(vector(t, "active_torque")) for t in force.table("active_torque").values()):
        raise NotUnderstood("ActiveRotationalDiffusion beside active torques", updater.line)
    if coefficient:
        integrator["rotational_frictions"] = {
            name: (script.dimensions - 1) * integrator["temperature"] / coefficient
            if name in force.table("active_force") else 0.0 for name in script.types}
