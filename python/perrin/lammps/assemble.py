"""The parts that a script was read into, put together as a job."""
import os

import numpy as np

from perrin.importing.lines import Line, NotUnderstood
from perrin.importing.parts import continued, with_end
from perrin.importing.write import Commented
from perrin.lammps.aniso import turn_start
from perrin.lammps.charmm import ends_of_dihedrals
from perrin.lammps.constraints import constraints
from perrin.lammps.forces import STRENGTHS, without
from perrin.lammps.groups import ranges
from perrin.lammps.mixing import by_rule
from perrin.lammps.reactions import dynamic_bonds
from perrin.lammps.particles import own_mass
from perrin.lammps.special import exclusions, of_charges


def assemble(script, last=True):
    """The job of what was read since the beginning or the part before. last: nothing follows."""
    result, job = script.result, {}
    job["title"] = f"from {os.path.basename(script.path)}" + (
        "" if last and script.part == 1 else f", part {script.part}")
    if script.units.style != "lj":
        job["units"] = script.units.names
    if script.seed is not None:
        job["seed"] = script.seed
    job["system"] = None  # what it is depends on what acts
    held = constrained(script, job)
    made = interactions(script, held)
    script.longest_cutoff = max([force.get("cutoff", 0) for force in made if "pairs" in force],
                                default=0.0)
    watched = script.watched()
    if script.axis is not None:
        directions(script, job)
    job["system"] = system(script) if script.part == 1 else Commented(
        continued(script.part, script.velocity is None), None)
    if script.bodies is not None:
        of_bodies(script, job)
    elif script.charges:
        job["attributes"] = {"charge": {"types": {
            kind: q for kind, q in script.charges.items() if int(kind) in script.there},
            "default": 0}}
    if script.reservoir:
        job["reservoir"] = script.reservoir
    if script.velocity is not None:
        job["velocity"] = script.velocity
    if script.used_groups:
        job["groups"] = {name: places(script, name) for name in script.used_groups}
    job["forces"] = made + [force for _, force in script.fields]
    if script.start_lists().get("bond"):
        exclusions(script, job, line_of(script))
    for force in job["forces"]:
        by_rule(force)
    left = [f"{k}s" for k, count in script.start_lists().items() if count and not any(
        force["type"].startswith(f"{k}_") for force in made) and not held.get(k, set()) >= set(
            range(1, script.kinds(k) + 1))]
    style = (script.style or (script.data.style if script.data else None) or "").split()
    charges = any(map(of_charges, made))
    charged = {"charge", "full", "dipole", "wavepacket"} & set(style)
    if charged and script.data and not charges:
        left.append("charges")
    if left:
        job["ignore"] = left
    if "bonds" in left and 0 in script.special:
        result.not_understood.append((line_of(script), "LAMMPS excludes pairs along bonds that "
                                      "have no force; the job does not"))
    if script.reactions:
        try:
            job["dynamic_bonds"] = dynamic_bonds(script)
        except NotUnderstood as error:
            result.not_understood.append((error.line or script.reactions[0][0].line, str(error)))
    job["observers"] = observers(script, watched)
    job["stages"] = script.stages
    if script.part > 1 and any("box" in group for group in script.used_groups.values()):
        result.not_understood.append((Line(script.path, 0, ""), "a group by a region goes on in "
                                      "another job, whose first frame gives it other members"))
    if not last:
        with_end(job)
    if not script.stages:
        result.not_understood.append((Line(script.path, 0, ""), "there is no run"))
    return job


def places(script, name):
    """The definition of a group in the job, which numbers particles in the order of their ids: by
    these numbers, where the start leaves ids out."""
    made = script.used_groups[name]
    if "types" in made and len(script.there) < script.types:
        there = {str(kind) for kind in script.there}
        kinds = [kind for kind in made["types"] if kind in there]
        return {**made, "types": kinds} if kinds else {"ids": []}
    if "ids" not in made or script.bodies is not None:
        return made
    try:
        ids = script.start.numbers()
    except NotUnderstood:  # of a style whose rows are not read
        return made
    if not len(ids) or ids[-1] == len(ids):
        return made
    return {**made, "ids": ranges(np.flatnonzero(script.members_of(made)))}


def system(script):
    result = script.result
    periodic = [b in ("p", "pp") for b in script.boundary]
    if script.bodies is not None:
        start = script.bodies.start
        if script.reservoir:  # bodies that come and go: a file of centres alone
            start.extra.clear()
            result.changed.append((script.system_line, "bodies that are there at the start all "
                                   "look the same way"))
        made = own_start(script, start, periodic)
    elif script.data is not None and (script.rewritten or len(script.there) < script.types):
        made = own_start(script, script.start, periodic)
    elif script.data is not None:
        made = {"type": "file", "path": os.path.relpath(script.data_path, script.folder),
                "format": "lammps"}
        if script.data.labels:
            made["types"] = {label: kind for kind, label in script.data.labels.items()}
        style = script.style or script.data.style
        if style:
            made["atom_style"] = style
        if script.units.style != "lj":
            made["units"] = script.units.style
        own = {int(k) for k in script.data.masses if k.isdigit()}
        changed = {str(k): m for k, m in sorted(script.masses.items())
                   if k not in own or script.data.masses[str(k)] != m}
        if changed and own_mass(style) is None:  # else each particle has its own in the file
            made["masses"] = {script.data.labels.get(k, k): m for k, m in changed.items()}
        if script.velocity is not None:
            made["velocities"] = False
    elif script.atoms is not None:
        a = script.atoms
        if not len(a.r) and script.reservoir:
            a.add(int(next(iter(script.reservoir))), (a.low + a.high)[None] / 2)
            result.changed.append((script.system_line, "there is one particle at the start, in the "
                                   "middle of the box: a job begins with some"))
        if not len(a.r):
            raise_no_particles(script)
        made = whole_lattice(script, a)
        if made is not None and all(periodic):
            return Commented(made, script.system_line)
        made = own_start(script, a, periodic)
    else:
        result.not_understood.append((Line(script.path, 0, ""), "there is no system: no read_data "
                                      "and no create_box that is understood"))
        return Commented({"type": "file", "path": ""}, None)
    if script.dimension == 2:
        made["dimension"] = 2
        periodic[2] = False
    if not all(periodic):
        made["periodic"] = periodic
    return Commented(made, script.system_line)


def directions(script, job):
    """Particles that look somewhere; whether they turn is what the fixes say."""
    line = script.pairs.lines[0] if script.pairs.lines else line_of(script)
    try:
        job["orientations"] = turn_start(script, line) if script.part == 1 else {}
    except NotUnderstood as error:
        script.result.not_understood.append((error.line or line, str(error)))
        return
    try:
        still = [t for t, turns in turning(script).items() if not turns]
    except NotUnderstood as error:
        script.result.not_understood.append((error.line or line, str(error)))
        return
    if still:
        job["orientations"].setdefault("moments_of_inertia", {}).update(
            {str(t): [0, 0, 0] for t in still})


def turning(script):
    """{type: whether a fix turns its particles}."""
    made = {t: False for t in range(1, script.types + 1)}
    if not any(turns for _, turns, _ in script.turning):
        return made
    of = {turns: np.zeros(len(script.start), bool) for turns in (False, True)}
    for group, turns, _ in script.turning:
        of[turns] |= script.members(group)
    for t in made:
        mine = script.start.type == t
        made[t] = bool((of[True] & mine).any())
        if made[t] and (of[False] & mine).any():
            raise NotUnderstood(f"particles of the type {t} that one fix turns and another does "
                                "not: in a job all of a type turn, or none",
                                next(line for _, turns, line in script.turning if not turns))
    return made


def of_bodies(script, job):
    """Bodies, and what is different with them: groups by id, charges, fields."""
    bodies = script.bodies
    job["orientations"], job["bodies"] = {}, bodies.settings
    if bodies.charges:
        job["attributes"] = {"charge": {"types": bodies.charges, "default": 0}}
    for name, made in script.used_groups.items():
        if made and {"ids", "molecules", "box"} & set(made) and \
                name not in script.rigid_groups.values():
            script.used_groups[name] = bodies.group(script.members_of(made))
    if any("on" not in force for _, force in script.fields):
        atoms = script.free_name("atoms")
        script.used_groups[atoms] = {"not": [script.use(script.centers)]}
        for _, force in script.fields:
            force.setdefault("on", atoms)
    if not script.apart:
        script.result.changed.append((next(iter(script.rigid.values())).line, "pairs within a body "
                                      "have no energy; LAMMPS adds a constant unless neigh_modify "
                                      "excludes them"))


def own_start(script, particles, periodic):
    """The start as a file beside the job."""
    name, masses, kinds = f"{script.name}.data", script.masses, None
    path = os.path.join(script.folder, name)
    if len(script.there) < script.types:
        kinds = np.array(script.there)
        particles, masses = particles.renumbered(kinds, masses)
    title = f"start of {os.path.basename(script.path)}, made by perrin import"
    particles.write(path, masses, title, periodic,
                    {kind: script.kinds(kind) for kind in script.bonded})
    script.result.data.append(path)
    made = {"type": "file", "path": name, "format": "lammps"}
    if kinds is not None:
        made["types"] = {str(k): str(kind) for k, kind in enumerate(kinds, 1)}
    if script.velocity is not None:
        made["velocities"] = False
    if script.units.style != "lj":
        made["units"] = script.units.style
    return made


def whole_lattice(script, atoms):
    """The system `lattice` where the box is whole cells of one, all particles are of the one type,
    and nobody asks where an id is."""
    lattice = script.lattice
    if not script.whole or script.types > 1 or script.dimension == 2 or not lattice.simple or \
            lattice.style not in ("sc", "bcc", "fcc") or \
            any("ids" in g or "box" in g for g in script.used_groups.values()):
        return None
    cells = (atoms.high - atoms.low) / lattice.scale
    if abs(cells - cells.round()).max() > 1e-6:
        return None
    made = {"type": "lattice", "structure": lattice.style, "lattice_constant": lattice.scale,
            "cells": [int(c) for c in cells.round()], "types": {str(script.whole): 1}}
    mass = script.mass_by_type()[script.whole]
    if mass != 1:
        made["masses"] = {str(script.whole): mass}
    return made


def raise_no_particles(script):
    script.result.not_understood.append((script.system_line, "the box has no particles: none of "
                                         "the commands that would make them is understood"))


def line_of(script):
    """Where special_bonds is, or the system; a part after the first has none of its own."""
    return script.special_line or script.system_line or Line(script.path, 0, "")


def constrained(script, job):
    """Types of bonds and angles that need no force, since constraints hold them."""
    if not script.constrained:
        return {}
    try:
        job["constraints"], held = constraints(script)
        return held
    except NotUnderstood as error:
        script.result.not_understood.append((error.line or script.shake.line, str(error)))
        return {}


def interactions(script, held):
    result, made = script.result, []
    pairs, failed = script.pairs.forces(script)
    line = script.pairs.lines[-1] if script.pairs.lines else line_of(script)
    made += [Commented(force, line) for force, _ in pairs]
    for silent in script.silent:
        leave_out(script, made, *silent)
    result.changed += [(line, note) for _, note in pairs if note]
    result.not_understood += [(line, why) for why in failed]
    for kind, part in script.bonded.items():
        if not script.start_lists()[kind] and not script.reactions:
            continue  # a force of bonds that there are none of
        try:
            forces = part.forces(script, held.get(kind, ()))
            made += [Commented(force, part.lines[0]) for force, _ in forces]
            result.changed += [(part.lines[0], note) for _, note in forces if note]
            result.not_understood += part.terms_left(script, held.get(kind, ()))
            if part.left:
                result.not_understood.append((part.lines[0], "the springs between the ends of "
                                              f"angles of types {' '.join(map(str, part.left))}"))
        except NotUnderstood as error:
            result.not_understood.append((part.lines[0], str(error)))
    try:
        line = (script.bonded["dihedral"].lines or [None])[0]
        made += [Commented(force, line) for force in ends_of_dihedrals(script, made)]
    except NotUnderstood as error:
        result.not_understood.append((line, str(error)))
    return made


def leave_out(script, made, line, pairs):
    """Pairs of types that do not act on each other (neigh_modify exclude)."""
    def silent(entry):
        return tuple(sorted(map(int, entry["types"]))) in pairs

    for force in made:
        if of_charges(force) or force.get("tail") or any(
                silent(e) and not set(e) & set(STRENGTHS) for e in force["pairs"]):
            script.result.not_understood.append((line, "pairs of types that have no energy, beside "
                                                 f"the force {force['type']} of all types"))
            return
    for force in made:
        force["pairs"] = [without(e) if silent(e) else e for e in force["pairs"]]


def observers(script, watched):
    made = [*watched, *script.observers.values()]
    total = sum(stage.get("steps", stage.get("sweeps")) for stage in script.stages)
    thermo = script.thermo or {"type": "thermo", "stride": max(total, 1),
                               "console_stride": max(total, 1)}
    made.insert(0, thermo)
    if not any(o["type"] in ("trajectory", "xtc", "gsd") for o in made):
        made.append({"type": "trajectory", "stride": max(total // 10, 1)})
    return made
