"""Fixes of LAMMPS that move particles or hold them: the integrator of a stage, and its fields."""
import math

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps.aniso import oriented, rotational_frictions

# Fixes that measure, print or balance: what a run does is the same without them.
MEASURES = {"print", "ave/time", "ave/chunk", "ave/histo", "ave/correlate", "ave/atom", "vector",
            "balance", "store/state", "property/atom", "halt", "ave/correlate/long", "ave/grid",
            "store/force", "python/invoke", "ave/histo/weight", "recenter", "momentum",
            "enforce2d", "numdiff"}
# Of these, what does more than to measure.
STEERING = {"halt": ": a run of a job has all its steps",
            "python/invoke": ": what it calls is not known"}
SAID = {"momentum": "the momentum is 0 from the start, as far as velocities are drawn, and is not "
                    "set to 0 on the way",
        "recenter": "particles are not shifted on the way"}
BATHS = ("langevin", "temp/csvr", "temp/berendsen", "temp/rescale", "press/berendsen", "viscous")

RIGID = ("rigid", "rigid/small", "rigid/nve", "rigid/nve/small", "rigid/nvt", "rigid/nvt/small",
         "rigid/npt", "rigid/npt/small", "rigid/nph", "rigid/nph/small")
MOVING = tuple(k + of for of in ("", "/sphere", "/asphere")
               for k in ("nve", "nvt", "npt", "nph", "brownian")) + ("nvt/sllod", "nve/limit")


TILTS = ("xy", "xz", "yz")


class Fix:
    def __init__(self, line, group, style, words):
        self.line, self.group, self.style, self.words = line, group, style, words


def has_barostat(fix):
    return fix.style == "press/berendsen" or "npt" in fix.style or "nph" in fix.style


def options(words, counts):
    """{keyword: values} of a list of keywords with so many values each."""
    found, words = {}, list(words)
    while words:
        word = words.pop(0)
        if word not in counts:
            raise NotUnderstood(f"the keyword {word}")
        found[word], words = words[:counts[word]], words[counts[word]:]
    return found


def ramp(first, last, steps):
    if first == last:
        return {"temperature": first}
    return {"temperature": first, "final_temperature": last, "ramp_steps": max(steps, 1)}


class Motion:
    """Integrators of a stage from the fixes that are there when it runs.

    script: number(word), mass_by_type(), units (perrin.lammps.units), types, timestep,
    friction (whether a force of pairs has friction).
    """

    def __init__(self, script, fixes, steps):
        self.script, self.fixes, self.steps = script, fixes, steps
        self.notes = []

    def number(self, word):
        return self.script.number(word)

    def temperatures(self, word, last):
        """(first, last) temperature of a run; a variable has both."""
        if not word.startswith("v_"):
            return self.number(word), self.number(last)
        return self.script.variables.course(word, self.steps)

    def note(self, fix, text):
        self.notes.append((fix.line, text))

    def integrators(self):
        """[(group, integrator, line)]; what is moved by nothing is not in it."""
        made = []
        baths = [f for f in self.fixes if f.style in BATHS]
        used = set()
        for fix in map(self.plain, self.fixes):
            if fix.style == "nve":
                mine = [b for b in baths if b.group in (fix.group, "all")]
                used.update(id(b) for b in mine)
                made.append((fix.group, self.nve(fix, mine), fix.line))
                # Baths of a part: this part has an integrator of its own.
                for group in dict.fromkeys(b.group for b in baths if fix.group == "all" and
                                           b.group != "all"):
                    part = [b for b in baths if b.group == group]
                    used.update(id(b) for b in part)
                    made.append((group, self.nve(fix, part), part[0].line))
            elif fix.style == "nph" and any(b.group in (fix.group, "all") for b in baths):
                mine = [b for b in baths if b.group in (fix.group, "all")]
                used.update(id(b) for b in mine)
                made.append((fix.group, self.enthalpy_and_bath(fix, mine), fix.line))
            elif fix.style in ("nvt", "npt", "nph", "nvt/sllod"):
                made.append((fix.group, self.nose_hoover(fix), fix.line))
            elif fix.style in RIGID:
                mine = [b for b in baths if b.group in (fix.group, "all")]
                used.update(id(b) for b in mine)
                script = self.script
                alone = script.bodies.only() and len(script.rigid) == 1
                made.append(("all" if alone else script.rigid_groups[id(fix)],
                             self.rigid(fix, mine), fix.line))
            elif fix.style.startswith("brownian"):
                made.append((fix.group, self.brownian(fix), fix.line))
        for bath in baths:
            if id(bath) not in used:
                raise NotUnderstood(f"fix {bath.style} of the group {bath.group}, which no fix nve "
                                    "of this group moves")
        return made

    def plain(self, fix):
        """nve/sphere, nvt/asphere, … as nve, nvt, …; whether they turn particles."""
        kind, _, of = fix.style.partition("/")
        if kind not in ("nve", "nvt", "npt", "nph", "brownian"):
            return fix
        if of not in ("sphere", "asphere") or kind == "brownian":
            self.script.turning.append((fix.group, kind == "brownian" and bool(of) and
                                        bool({"gamma_r", "gamma_r_eigen"} & set(fix.words)),
                                        fix.line))
            return fix
        words, turns = list(fix.words), of == "asphere"
        if "update" in words:
            at = words.index("update")
            turns |= words[at + 1] in ("dipole", "dipole/dlm")
            del words[at:at + 2]
        if "disc" in words:
            words.remove("disc")
            self.script.disc = True
        self.script.turning.append((fix.group, turns, fix.line))
        return Fix(fix.line, fix.group, kind, words)

    def nve(self, fix, baths):
        styles = sorted(b.style for b in baths)
        if not baths:
            kind = "groot_warren" if self.script.friction else "velocity_verlet"
            return {"type": kind, **({"lambda": 0.5} if self.script.friction else {})}
        if len([s for s in styles if s != "press/berendsen"]) > 1:
            raise NotUnderstood("several thermostats of one group")
        made = None
        for bath in baths:
            if bath.style == "langevin":
                made = self.langevin(bath)
            elif bath.style == "viscous":
                made = self.viscous(bath)
            elif bath.style.startswith("temp/"):
                made = self.rescaling(bath)
        for bath in baths:
            if bath.style == "press/berendsen":
                if made is None or made["type"] == "langevin":
                    raise NotUnderstood("press/berendsen without a thermostat beside fix nve")
                made["barostat"] = self.barostat(bath, bath.words)
                self.note(bath, "press/berendsen became stochastic cell rescaling, which has right "
                                "fluctuations")
        return made

    def viscous(self, fix):
        """Its friction is force/velocity."""
        units, words = self.script.units, fix.words
        one, scale = units.force_per_velocity(self.number(words[0])), {}
        for key, kind, ratio in zip(words[1::3], words[2::3], words[3::3]):
            if key != "scale":
                raise NotUnderstood(f"fix viscous with {key}", fix.line)
            scale[kind] = self.number(ratio)
        if not scale:
            return {"type": "langevin", "temperature": 0, "friction": one}
        return {"type": "langevin", "temperature": 0, "frictions": self.moved({
            str(t): one * scale.get(str(t), 1.0) for t in self.script.there})}

    def moved(self, numbers):
        return numbers if self.script.bodies is None else self.script.bodies.moved(numbers)

    def langevin(self, fix):
        first, last = self.temperatures(*fix.words[:2])
        damp = self.script.units.time(self.number(fix.words[2]))
        rest, scale = fix.words[4:], {}
        while rest:
            if rest[0] == "scale":
                scale[int(rest[1])] = self.number(rest[2])
                rest = rest[3:]
            elif rest[0] in ("tally", "zero", "gjf", "omega", "angmom"):
                if rest[0] == "zero" and rest[1] == "yes":
                    self.note(fix, "the sum of the random forces is not 0, so that all particles "
                                   "together diffuse")
                rest = rest[2:]
            else:
                raise NotUnderstood(f"fix langevin {rest[0]}")
        frictions = self.moved({str(t): mass / (damp * scale.get(t, 1.0))
                                for t, mass in self.script.mass_by_type().items()})
        made = {"type": "langevin", **ramp(first, last, self.steps)}
        if len(set(frictions.values())) == 1:
            made["friction"] = next(iter(frictions.values()))
        elif frictions:
            made["frictions"] = frictions
            if self.script.bodies is not None:  # centres of bodies, which others move
                made["friction"] = next(iter(frictions.values()))
        if oriented(self.script):
            turning = rotational_frictions(self.script, fix.words[4:], damp)
            made["rotational_frictions"] = {t: friction / scale.get(int(t), 1.0)
                                            for t, friction in turning.items()}
        return made

    def rigid(self, fix, baths):
        """The integrator of rigid bodies."""
        from perrin.lammps.bodies import membership
        words = membership(self.script, fix)[1]
        counts = {"langevin": 4, "reinit": 1, "temp": 3, "iso": 3, "aniso": 3, "x": 3, "y": 3,
                  "z": 3, "couple": 1, "tparam": 3, "pchain": 1, "dilate": 1, "mol": 1}
        if "mol" in words:  # of molecules that other fixes add
            self.script.template(words[words.index("mol") + 1])
        said = options(words, counts)
        if "langevin" in said or any(b.style == "langevin" for b in baths):
            if "langevin" in said and baths:
                raise NotUnderstood("several thermostats of one group")
            words = said["langevin"] if "langevin" in said else baths[0].words
            first, last = self.temperatures(*words[:2])
            damp = self.script.units.time(self.number(words[2]))
            by_type = self.script.bodies.by_type
            turning = {"rotational_frictions": by_type(lambda _, i: i[2] / damp)} \
                if self.script.dimension == 2 else \
                {"rotational_frictions_of_axes": by_type(lambda _, i: [v / damp for v in i])}
            return {"type": "langevin", **ramp(first, last, self.steps),
                    "frictions": by_type(lambda m, _: m / damp), **turning, "friction": 1.0}
        if "nvt" in fix.style or "npt" in fix.style or "nph" in fix.style:
            nose = [w for k in said for w in (
                (k, *said[k]) if k in ("temp", "iso", "aniso", "x", "y", "z", "couple", "dilate")
                else ("tchain", said[k][0]) if k == "tparam" else ())]
            return self.nose_hoover(Fix(fix.line, fix.group, fix.style, nose))
        return self.nve(fix, baths)

    def rescaling(self, fix):
        words = fix.words
        if fix.style == "temp/rescale":
            words = words[1:3] + ["0"]
        first, last = self.temperatures(*words[:2])
        made = {"type": "bussi", **ramp(first, last, self.steps),
                "tau": self.script.units.time(self.number(words[2]))}
        if fix.style != "temp/csvr":
            self.note(fix, f"{fix.style} became velocity rescaling by Bussi, which samples the "
                           "canonical ensemble")
        return made

    def enthalpy_and_bath(self, fix, baths):
        """fix nph beside a thermostat: together they keep pressure and temperature."""
        made, barostat = self.nve(fix, baths), self.nose_hoover_of(fix)[1]
        if barostat is None or "barostat" in made or made.get("temperature") in (0, None):
            raise NotUnderstood("fix nph beside a thermostat: expected one at a temperature above "
                                "0, and one barostat", fix.line)
        self.note(fix, "nph beside a thermostat became stochastic cell rescaling, of the same "
                       "ensemble")
        return {**made, "barostat": barostat}

    def nose_hoover(self, fix):
        made, barostat = self.nose_hoover_of(fix)
        if barostat is None:
            return made
        if made["type"] == "velocity_verlet":
            raise NotUnderstood("fix nph: a barostat of constant enthalpy has no temperature")
        return {**made, "barostat": barostat}

    def nose_hoover_of(self, fix):
        """(the integrator, its barostat or None)."""
        keys = {"temp": 3, "iso": 3, "aniso": 3, "tri": 3, "x": 3, "y": 3, "z": 3, "xy": 3,
                "xz": 3, "yz": 3, "couple": 1, "drag": 1, "tchain": 1, "pchain": 1, "mtk": 1,
                "tloop": 1, "ploop": 1, "nreset": 1, "dilate": 1, "scalexy": 1, "scaleyz": 1,
                "scalexz": 1, "flip": 1, "fixedpoint": 3, "ptemp": 1}
        said = options(fix.words, keys)
        for key, why in (("drag", "there is no drag on the barostat and the thermostat"),
                         ("mtk", "the barostat has the correction of Martyna, Tobias and Klein"),
                         ("dilate", "the barostat moves all particles along")):
            word = said.get(key, [None])[0]
            if word is not None and (self.number(word) if key == "drag" else
                                     word != {"mtk": "yes", "dilate": "all"}[key]):
                self.note(fix, why)
        pressed = {k: said[k] for k in ("iso", "aniso", "tri", "x", "y", "z", "xy", "xz", "yz")
                   if k in said}
        made = {"type": "velocity_verlet"}
        if "temp" in said:
            first, last, tau = (self.number(w) for w in said["temp"])
            made = {"type": "nose_hoover", **ramp(first, last, self.steps),
                    "tau": self.script.units.time(tau)}
            if "tchain" in said or fix.style == "nvt/sllod":  # whose chain is 1
                made["chain"] = int(said.get("tchain", ["1"])[0])
        return made, self.pressure(fix, pressed, said) if pressed else None

    def pressure(self, fix, pressed, said):
        """The barostat of pressures along axes."""
        if {"tri", "xy", "xz", "yz"} & set(pressed):
            raise NotUnderstood("a pressure of tilts")
        values = [tuple(v) for v in pressed.values()]
        couple = said.get("couple", ["none"])[0]
        if len(set(values)) > 1:
            raise NotUnderstood("different pressures along the axes")
        axes = "all"
        if "iso" not in pressed:
            axes = {"none": "x,y,z", "xyz": "all", "xy": "xy,z", "xz": "xz,y",
                    "yz": "yz,x"}[couple]
            if "aniso" not in pressed:
                if couple == "none":
                    axes = ",".join(k for k in "xyz" if k in pressed)
                elif len(pressed) < 3:  # the others keep their lengths
                    axes = "".join(k for k in "xyz" if k in pressed)
                    if couple not in (axes, "xyz") or len(axes) < 2:
                        raise NotUnderstood("a pressure along some axes, and couple of others")
        if self.script.dimension == 2:
            axes = {"all": "all", "x,y,z": "x,y"}.get(axes, axes)
        barostat = self.barostat(fix, values[0])
        if axes != "all":
            barostat["axes"] = axes
        return barostat

    def barostat(self, fix, words):
        words = [w for w in words if w not in ("iso", "aniso")]
        first, last, tau = (self.number(w) for w in words[:3])
        pressure = self.script.units.pressure
        made = {"pressure": pressure(first), "tau": self.script.units.time(tau)}
        if first != last:
            made.update(final_pressure=pressure(last), ramp_steps=max(self.steps, 1))
        return made

    def brownian(self, fix):
        said = options(fix.words[2:], {"gamma_t": 1, "rng": 1, "gamma_r": 1,
                                       "planar_rotation": 0, "dipole": 3, "gamma_t_eigen": 3,
                                       "gamma_r_eigen": 3})
        if "planar_rotation" in said or "dipole" in said:
            raise NotUnderstood(f"fix {fix.style} with planar_rotation or dipole")
        quiet = said.get("rng") == ["none"]  # no random numbers
        made = {"type": "brownian", "temperature": 0 if quiet else self.number(fix.words[0])}
        if fix.style == "brownian/asphere":
            return {**made, **self.along_axes(fix, said)}
        made["friction"] = self.script.units.friction(self.number(said["gamma_t"][0]))
        if fix.style != "brownian" and "gamma_r" in said:
            made["rotational_friction"] = self.script.units.friction(
                self.number(said["gamma_r"][0]))
        return made

    def along_axes(self, fix, said):
        """Frictions of ellipsoids along the axes of their frames, and about them."""
        script, flat = self.script, self.script.dimension == 2
        script.axis, script.framed = script.axis or "frame", f"fix {fix.style}"

        def frictions(words):
            return [script.units.friction(self.number(w)) for w in words if w != "inf"]

        def each(values):
            return {str(t): values for t in script.there}

        along, about = frictions(said["gamma_t_eigen"]), frictions(said["gamma_r_eigen"])
        return {"frictions_of_axes": each(along), **(
            {"rotational_friction": about[0]} if flat else
            {"rotational_frictions_of_axes": each(about)})}


def shear(script, fix, moved):
    """`shear` of a stage, where fix deform tilts the box at a constant rate and velocities follow;
    else None. Thermostats of a job act on velocities relative to the flow, as those of nvt/sllod
    do."""
    words = fix.words[1:]
    if words[0] not in TILTS:
        return None
    said = options(words[3:], {"remap": 1, "units": 1, "flip": 1})
    if words[1] != "erate" or said.get("remap") != ["v"]:
        raise NotUnderstood(f"fix deform {words[0]}: expected erate and remap v", fix.line)
    if any(f.style not in ("nve", "nvt/sllod") for f in moved):
        raise NotUnderstood("fix deform of a tilt: expected fix nvt/sllod, or nve without a "
                            "thermostat: others act on velocities with the flow", fix.line)
    rate, ramp = script.number(words[2]) / script.units.of_time, script.ramp
    if ramp is not None and (ramp[0] != words[0] or abs(ramp[1] / script.units.of_time - rate) >
                             1e-6 * abs(rate)):
        raise NotUnderstood("velocity ramp: expected the flow of fix deform", ramp[2])
    made = {"rate": rate, **({} if words[0] == "xy" else {
        "flow": words[0][0], "gradient": words[0][1]})}
    if ramp is None and made != script.flow:
        script.result.changed.append((fix.line, "velocities of a job are relative to the flow, "
                                      "which is there from the start of the run"))
    script.ramp, script.flow = None, made
    return Commented(made, fix.line)


def at_rest(script, moved, line):
    """What belongs to a flow is refused where the box is at rest."""
    if script.flow is not None:
        script.flow = None
        script.result.not_understood.append((line, "a run after shear: particles keep the velocity "
                                             "of the flow in LAMMPS, and have none of it in the "
                                             "job"))
    for fix in moved:
        if fix.style == "nvt/sllod":
            raise NotUnderstood("fix nvt/sllod without fix deform of a tilt", fix.line)
    if script.ramp is not None:
        line, script.ramp = script.ramp[2], None
        script.result.not_understood.append((line, "velocity ramp without fix deform of a tilt"))


def deformation(script, fix, timestep, steps):
    """`deform` of a stage from fix deform, and the box at its end; None where the box before is
    not known."""
    words, made, after, kept = list(fix.words[1:]), {}, {}, []
    scale = dict.fromkeys("xyz", 1.0) if script.lattice is None or ["units", "box"] in [
        words[k:k + 2] for k in range(len(words))] else dict(zip("xyz", script.lattice.spacing))
    forms = set()

    def length(axis):
        return script.number(words.pop(0)) * scale[axis]

    while words:
        axis = words.pop(0)
        if axis in ("remap", "units", "flip"):
            value = words.pop(0)
            if axis == "remap" and value in ("v", "x"):
                made["remap_velocities"] = value == "v"
            elif value not in ("box", "lattice", "yes", "no"):
                raise NotUnderstood(f"fix deform {axis} {value}")
            continue
        if axis not in ("x", "y", "z"):
            raise NotUnderstood(f"fix deform {axis}")
        how, time = words.pop(0), steps * timestep
        if how == "volume":
            kept.append(axis)
            continue
        forms.add("exponential" if how == "trate" else "linear")
        low, high = (0.0, 0.0) if how == "final" else script.box[axis]
        if how in ("final", "delta"):
            low, high = low + length(axis), high + length(axis)
        elif how in ("scale", "vel", "erate", "trate"):
            long = high - low
            long = long * script.number(words.pop(0)) if how == "scale" else \
                long + length(axis) * time if how == "vel" else \
                long * math.exp(script.number(words.pop(0)) * time) if how == "trate" else \
                long * (1 + script.number(words.pop(0)) * time)
            low, high = (low + high - long) / 2, (low + high + long) / 2
        else:
            raise NotUnderstood(f"fix deform {axis} {how}")
        after[axis] = low, high
        if after[axis][1] <= after[axis][0]:
            raise NotUnderstood("fix deform to a box without volume")
    if len(forms) > 1:
        raise NotUnderstood("fix deform of an axis by trate beside others: a stage has one form")
    if kept:
        after.update(at_same_volume(script, fix, after, kept, "linear" in forms))
    made.update({axis: high - low for axis, (low, high) in sorted(after.items())})
    if forms == {"exponential"}:
        made["form"] = "exponential"
    made.setdefault("remap_velocities", False)
    return made, {**script.box, **after} if script.open_box is None else None


def at_same_volume(script, fix, after, kept, linear):
    """Edges of `volume`, about their middle, at the end of a run; others than one share the change.
    On the way the job's edges go linearly, those of LAMMPS as the volume says."""
    def long(edges):
        return edges[1] - edges[0]

    if not after:
        raise NotUnderstood("fix deform volume without an axis that changes")
    stretch = math.prod(long(edges) / long(script.box[axis]) for axis, edges in after.items())
    one, made = stretch ** (-1 / len(kept)), {}
    for axis in kept:
        low, high = script.box[axis]
        middle, half = (low + high) / 2, (high - low) / 2 * one
        made[axis] = middle - half, middle + half
    off = max(abs(math.prod(1 + (long(edges) / long(script.box[axis]) - 1) * k / 50
                            for axis, edges in {**after, **made}.items()) - 1) for k in range(51))
    if linear and off > 1e-6:
        script.result.changed.append((fix.line, "edges change linearly in time: the volume is that "
                                      "of LAMMPS at both ends of a run, and differs on the way by "
                                      f"up to {100 * off:.2g} %"))
    return made
