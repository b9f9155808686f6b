"""Rigid bodies of HOOMD-blue as "bodies" of a job."""
import numpy as np

from perrin.hoomd.values import Unknown, vector
from perrin.importing.lines import NotUnderstood


def bodies_of(rigid, script):
    """{type of the centre: its sites, mass and moments of inertia}."""
    made, table = {}, rigid.table("body")
    if script.part > 1 or script.turned:
        raise NotUnderstood("rigid bodies after other forces, or beside ellipsoids")
    if not rigid.get("created", False) and not script.bodies:
        without_sites(script, set(table))
    frame = script.frame
    for kind, body in table.items():
        line = table.lines.get(kind, rigid.line)
        if body is None:
            continue
        if isinstance(body, Unknown) or not isinstance(body, dict):
            raise NotUnderstood(f"body of {kind}: {getattr(body, 'reason', 'expected a dict')}",
                                line)
        for name, value in body.items():
            if isinstance(value, Unknown):
                raise NotUnderstood(f"{name} of the body {kind}: {value.reason}", line)
        if any(np.ravel(body.get("charges", 0))):
            raise NotUnderstood(f"charges of the sites of the body {kind}", line)
        types, places = body["constituent_types"], body["positions"]
        if len(types) != len(places):
            raise NotUnderstood(f"the body {kind}: expected as many positions as types, got "
                                f"{len(places)} and {len(types)}", line)
        made[str(kind)] = {
            "sites": [{"type": str(t), "at": vector(p, "positions", line)}
                      for t, p in zip(types, places)],
            "mass": of_type(frame, kind, "mass", [1.0], line)[0],
            "moments_of_inertia": of_type(frame, kind, "moment_inertia", [0.0] * 3, line)}
    if not made:
        raise NotUnderstood("rigid bodies: no body is given")
    return made


def without_sites(script, types):
    """The start without the sites of bodies, which a job adds to the system."""
    frame = script.frame
    body = frame.get("particles/body") if frame is not None else None
    if body is None or not (np.asarray(body).astype("i4") >= 0).any():
        raise NotUnderstood("rigid bodies: the state has no sites, and there is no create_bodies()")
    data = dict(script.start_data if script.start_data is not None else frame.data)
    body = np.asarray(body).astype("i4")
    n = len(body)
    keep = (body < 0) | (body == np.arange(n))
    names = np.array(frame.names("particles"))
    kinds = np.asarray(data.get("particles/typeid", np.zeros(n))).astype(int)
    if set(names[kinds[keep & (body >= 0)]]) - types:
        raise NotUnderstood("rigid bodies of types that have no entry")
    new = np.cumsum(keep) - 1
    for what in ("bonds", "angles", "dihedrals", "impropers", "pairs", "constraints"):
        if f"{what}/group" in data:
            if not keep[np.asarray(data[f"{what}/group"]).astype(int)].all():
                raise NotUnderstood(f"{what} of sites of rigid bodies")
            data[f"{what}/group"] = new[data[f"{what}/group"].astype(int)].astype("u4")
    for name, values in list(data.items()):
        if name.startswith("particles/") and len(values) == n and name not in (
                "particles/N", "particles/types"):
            data[name] = values[keep]
    data["particles/N"] = np.array([int(keep.sum())], "u4")
    data.pop("particles/body")
    if any("ids" in group for group in script.groups.values() if group):
        raise NotUnderstood("rigid bodies whose sites are in the state, and groups by tags")
    script.start_data = data
    script.write_start()


def of_type(frame, kind, name, otherwise, line):
    """The value that all particles of a type have."""
    values = frame.get(f"particles/{name}") if frame is not None else None
    if values is None:
        return otherwise
    chosen = frame.get("particles/typeid", np.zeros(len(values), int)) == \
        frame.names("particles").index(kind)
    rows = np.atleast_2d(values.T).T[chosen]
    if not len(rows) or (rows != rows[0]).any():
        raise NotUnderstood(f"{name} of the bodies {kind}: expected the same for all", line)
    return [float(v) for v in rows[0]]


def moved(script, numbers):
    """Of numbers by type those of types that a particle of the start has: sites of bodies, which
    the job adds, move with their bodies."""
    if not script.bodies or script.frame is None:
        return numbers
    data = script.start_data if script.start_data is not None else script.frame.data
    kinds = np.unique(np.asarray(data.get("particles/typeid", np.zeros(1))).astype(int))
    names = script.frame.names("particles")
    sites = {site["type"] for body in script.bodies.values() for site in body["sites"]}
    there = {names[k] for k in kinds}
    return {t: number for t, number in numbers.items() if t in there or t not in sites}


def moves_all(filter, script):
    """Whether the filter Rigid stands for all particles of a job, whose sites follow by
    themselves."""
    flags = filter.get("flags", ("center", "free"))
    flags = {flags} if isinstance(flags, str) else set(flags)
    if flags == {"center", "free"}:
        return True
    if flags != {"center"} or script.frame is None:
        return False
    names = script.frame.names("particles")
    kinds = script.frame.get("particles/typeid", np.zeros(1, int))
    return {names[k] for k in np.unique(kinds)} <= set(script.bodies)
