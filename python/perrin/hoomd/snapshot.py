"""Snapshots that a script fills, and the GSD file that they become."""
import numpy as np

from perrin.hoomd import gsd_file
from perrin.hoomd.values import Bag, Thing, Unknown
from perrin.importing.lines import NotUnderstood

MEMBERS = {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4, "pairs": 2}
# Columns, kind of number and first value of what particles have.
PARTICLES = {"position": (3, "f8", 0), "typeid": (1, "u4", 0), "mass": (1, "f4", 1),
             "charge": (1, "f4", 0), "diameter": (1, "f4", 1), "velocity": (3, "f4", 0),
             "image": (3, "i4", 0), "orientation": (4, "f4", None), "angmom": (4, "f4", 0),
             "moment_inertia": (3, "f4", 0), "body": (1, "i4", -1)}


def snapshot(allocates):
    """An empty one. allocates: a number of particles makes the arrays, as in hoomd.Snapshot."""
    made = Bag("snapshot", configuration=Bag("snapshot", box=None, dimensions=None, step=0),
               particles=Bag("snapshot", N=0, types=[], allocates=allocates and "particles"),
               communicator=Bag("communicator", rank=0, num_ranks=1))
    for name in (*MEMBERS, "constraints"):
        setattr(made, name, Bag("snapshot", N=0, types=[], allocates=allocates and name))
    return made


def of_frame(frame):
    """What a GSD file has."""
    made = snapshot(False)
    made.configuration.box, made.configuration.step = list(frame.box), frame.step
    made.configuration.dimensions = frame.dimensions
    for what in ("particles", *MEMBERS):
        part = getattr(made, what)
        part.N, part.types = frame.count(what), frame.names(what)
        names = [*PARTICLES] if what == "particles" else ["group", "typeid"]
        for name in names:
            values = frame.get(f"{what}/{name}")
            if values is not None:
                setattr(part, name, values.copy())
    for name in ("group", "value"):
        values = frame.get(f"constraints/{name}")
        if values is not None:
            setattr(made.constraints, name, values.copy())
    made.constraints.N = frame.count("constraints")
    if not hasattr(made.particles, "typeid"):
        made.particles.typeid = np.zeros(made.particles.N, "u4")
    return made


def allocate(bag):
    """Arrays of so many particles or bonds, as far as there are none."""
    n = int(bag.N)
    if n > 10 ** 8:
        raise NotUnderstood(f"N: {n} particles")
    if bag.allocates == "particles":
        for name, (columns, kind, first) in PARTICLES.items():
            values = np.zeros((n, columns) if columns > 1 else n, kind)
            if first is None:
                values[:, 0] = 1
            elif first:
                values += first
            setattr(bag, name, values)
    elif bag.allocates == "constraints":
        bag.group, bag.value = np.zeros((n, 2), "u4"), np.zeros(n, "f4")
    elif bag.allocates in MEMBERS:
        bag.group, bag.typeid = np.zeros((n, MEMBERS[bag.allocates]), "u4"), np.zeros(n, "u4")


def numbers_of_box(box):
    """Lx, Ly, Lz, xy, xz, yz."""
    if isinstance(box, Thing) and box.path == "hoomd.Box":
        return [box.number(k, 0.0) for k in ("Lx", "Ly", "Lz", "xy", "xz", "yz")]
    if isinstance(box, Unknown):
        raise NotUnderstood(f"box: {box.reason}")
    values = [float(v) for v in np.ravel(np.array(box, float))]
    return (values + [0.0] * 6)[:6]


def data_of(snap):
    """{name of a chunk: array} of a snapshot whose values are known."""
    made, p = {}, snap.particles
    if snap.configuration.box is None:
        raise NotUnderstood("the snapshot has no box")
    box = numbers_of_box(snap.configuration.box)
    made["configuration/box"] = np.array(box, "f4")
    flat = snap.configuration.dimensions == 2 or box[2] == 0
    made["configuration/dimensions"] = np.array([2 if flat else 3], "u1")
    made["configuration/step"] = np.array([0], "u8")
    values = known(p, "position")
    n = len(values)
    made["particles/N"] = np.array([n], "u4")
    types = known(p, "types")
    made["particles/types"] = gsd_file.type_names([str(t) for t in (["A"] if types is None or
                                                                    len(types) == 0 else types)])
    for name, (columns, kind, _) in PARTICLES.items():
        values = known(p, name)
        if values is None or name in ("diameter", "body"):
            continue
        array = np.array(values, "f4" if kind == "f8" else kind)
        if columns > 1 and array.ndim == 1 and array.size == n * columns:
            array = array.reshape(n, columns)
        if array.shape != ((n, columns) if columns > 1 else (n,)):
            raise NotUnderstood(f"particles.{name}: expected {n} rows of {columns}, got "
                                f"{array.shape}")
        made[f"particles/{name}"] = array
    for name, members in MEMBERS.items():
        part = getattr(snap, name)
        group = known(part, "group")
        if group is None or len(group) == 0:
            continue
        array = np.array(group, "u4").reshape(-1, members)
        kinds = known(part, "typeid")
        made[f"{name}/N"] = np.array([len(array)], "u4")
        made[f"{name}/types"] = gsd_file.type_names([str(t) for t in known(part, "types")])
        made[f"{name}/group"] = array
        made[f"{name}/typeid"] = np.array(np.zeros(len(array)) if kinds is None else kinds, "u4")
    group, value = (known(snap.constraints, k) for k in ("group", "value"))
    if group is not None and len(group):
        made["constraints/group"] = np.array(group, "u4").reshape(-1, 2)
        made["constraints/N"] = np.array([len(made["constraints/group"])], "u4")
        made["constraints/value"] = np.ravel(np.array(value, "f4"))
    return made


def known(bag, name):
    value = getattr(bag, name, None)
    if isinstance(value, Unknown):
        raise NotUnderstood(f"{name}: {value.reason}")
    return value


def replicated(data, counts):
    """A start repeated so often along x, y and z."""
    if any(f"{name}/N" in data for name in (*MEMBERS, "constraints")):
        raise NotUnderstood("replicate of a start that has bonds")
    box, n = data["configuration/box"].astype(float), int(data["particles/N"][0])
    lx, ly, lz, xy, xz, yz = box
    vectors = np.array([[lx, 0, 0], [xy * ly, ly, 0], [xz * lz, yz * lz, lz]])
    cells = np.array([(i, j, k) for i in range(counts[0]) for j in range(counts[1])
                      for k in range(counts[2])])
    shift = (cells - (np.array(counts) - 1) / 2) @ vectors
    made = {**data, "configuration/box": (box * [*counts, 1, 1, 1]).astype("f4"),
            "particles/N": np.array([n * len(cells)], "u4")}
    for name in data:
        if name.startswith("particles/") and name not in ("particles/N", "particles/types"):
            made[name] = np.concatenate([data[name]] * len(cells))
    made["particles/position"] = np.concatenate(
        [data["particles/position"] + s for s in shift]).astype("f4")
    return made
