"""Objects of HOOMD-blue: what a script makes, asks of them and tells them."""
import os

from perrin.hoomd import gsd_file, snapshot
from perrin.hoomd.evaluate import MEASURES, Function
from perrin.hoomd.values import Bag, Path, Thing, Unknown, number
from perrin.importing.lines import NotUnderstood

# Calls that change nothing of what a run does.
QUIET = {"flush", "close", "notice", "warning", "error", "enable_profiling", "reset",
         "thermalize_thermostat_dof", "thermalize_thermostat_and_barostat_dof", "dump", "disable",
         "validate", "tune_kernel_parameters"}
LISTS_OF = {"hoomd.write": "writers", "hoomd.update": "updaters", "hoomd.tune": "tuners",
            "hoomd.md.compute": "computes", "hoomd.md.tune": "tuners", "hoomd.md.update":
            "updaters", "hoomd.hpmc.update": "updaters", "hoomd.hpmc.tune": "tuners",
            "hoomd.hpmc.compute": "computes"}


class Objects:
    """A part of perrin.hoomd.convert.Script, whose members it uses."""

    def made(self, name, positional, named):
        short = name.rpartition(".")[2]
        if name == "hoomd.Simulation":
            return self.simulation(positional, named)
        if name.startswith("hoomd.Box.") or name == "hoomd.box.Box":
            return self.box_of(short, positional, named)
        if name in ("hoomd.Snapshot", "hoomd.snapshot.Snapshot"):
            return snapshot.snapshot(True)
        if name in ("gsd.hoomd.Frame", "gsd.hoomd.Snapshot"):
            return snapshot.snapshot(False)
        if name in ("hoomd.Snapshot.from_gsd_frame", "hoomd.Snapshot.from_gsd_snapshot"):
            return positional[0]
        if name == "hoomd.md.long_range.pppm.make_pppm_coulomb_forces":
            order = ["nlist", "resolution", "order", "r_cut", "alpha"]
            values = {**dict(zip(order, positional)), **named}
            return tuple(Thing(f"hoomd.md.long_range.pppm.{kind}", [], values, self.line)
                         for kind in ("real", "reciprocal"))
        if name == "hoomd.write.GSD.write":
            return None
        if short == "update" and name.startswith("hoomd.update."):
            raise NotUnderstood(f"{name[6:]} at once")
        made = Thing(name, positional, named, self.line)
        if name == "gsd.hoomd.open":
            made.values.setdefault("name", positional[0] if positional else None)
        return made

    def frame_of(self, opened, number_):
        """A frame of a GSD file that the script reads, or that it has written."""
        name = str(opened.get("name"))
        if name in self.written:
            return self.written[name]
        if not os.path.isfile(self.file(name)):
            return Unknown(f"the file {name} is not there", self.line)
        try:
            return snapshot.of_frame(gsd_file.Frame(self.file(name), number_))
        except (ValueError, OSError) as error:
            return Unknown(str(error), self.line)

    def simulation(self, positional, named):
        if self.ran:
            raise NotUnderstood("another simulation: a job of its own, of a script of its own")
        sim = Thing("hoomd.Simulation", positional, named, self.line)
        sim.values["operations"] = Thing("hoomd.Operations", [], {}, self.line)
        sim.values["state"] = None
        self.sim, self.zero = sim, None
        return sim

    def box_of(self, how, positional, named):
        if how == "from_box":
            values = snapshot.numbers_of_box(positional[0] if positional else named["box"])
        elif how in ("cube", "square"):
            edge = number(positional[0] if positional else named["L"], "L")
            values = [edge, edge, edge if how == "cube" else 0, 0, 0, 0]
        else:
            raise NotUnderstood(f"hoomd.Box.{how}")
        return Thing("hoomd.Box", values, {}, self.line)

    def attribute(self, thing, name):
        if thing.path == "hoomd.Simulation":
            if name == "timestep":
                return self.first_step + self.steps
            if name == "state" and thing.values["state"] is None:
                return Unknown("the simulation has no state that is known", self.line, True)
        if thing.path == "hoomd.State":
            return self.state_attribute(name)
        if thing.path == "hoomd.Operations" and name == "is_tuning_complete":
            return True
        if thing.path == "hoomd.Box":
            return self.box_attribute(thing, name)
        if thing.path.startswith("hoomd.device.") and name == "communicator":
            return Bag("communicator", rank=0, num_ranks=1, partition=0, num_partitions=1)
        if name == "exclusions" and not thing.has(name):
            thing.values[name] = ["bond"]
        value = thing.raw(name)
        if value is None and not thing.has(name):
            return Unknown(f"{name} of {thing.path} is not known", self.line,
                           not thing.path.startswith(MEASURES))
        return value

    def state_attribute(self, name):
        if name == "box" and self.box is not None:
            return Thing("hoomd.Box", self.box, {}, self.line)
        if name == "N_particles" and self.particles:
            return self.particles
        if name.endswith("_types") and self.types:
            return list(self.topology_types(name[:-6] + "s"))
        return Unknown(f"{name} of the state is not known", self.line, True)

    def box_attribute(self, box, name):
        lx, ly, lz = (box.number(k, 0.0) for k in ("Lx", "Ly", "Lz"))
        known = {"Lx": lx, "Ly": ly, "Lz": lz, "L": [lx, ly, lz], "is2D": lz == 0,
                 "dimensions": 2 if lz == 0 else 3, "volume": lx * ly * (lz or 1)}
        if name in known:
            return known[name]
        if name in ("xy", "xz", "yz"):
            return box.number(name, 0.0)
        return Unknown(f"{name} of a box", self.line, True)

    def set_attribute(self, thing, name, value):
        if thing.path == "hoomd.Simulation" and name == "timestep" and not self.ran:
            self.first_step = self.given_step = int(number(value, name))
            return
        if thing.path == "hoomd.State" or thing.path == "hoomd.Simulation" and \
                name in ("state", "timestep"):
            raise NotUnderstood(f"{name} of the {thing.kind.lower()} is set")
        if thing.path == "hoomd.Box" and name in ("volume", "L"):
            edges = [thing.number(k, 0.0) for k in ("Lx", "Ly", "Lz")]
            if name == "volume":
                flat = edges[2] == 0
                factor = (number(value, name) / self.box_attribute(thing, name)) ** (
                    1 / 2 if flat else 1 / 3)
                edges = [e * factor for e in edges]
            else:
                edges = [number(v, "L") for v in value]
            thing.values.update(zip(("Lx", "Ly", "Lz"), edges))
            return
        thing.set(name, value, self.line)

    def bag_set(self, bag, name, value):
        setattr(bag, name, value)
        if name == "N" and getattr(bag, "allocates", None) and not isinstance(value, Unknown):
            snapshot.allocate(bag)

    def bag_method(self, node, bag, positional, named):
        name = node.func.attr
        if bag.kind == "snapshot" and name == "replicate":
            return self.unknown(node, "replicate of a snapshot", True)
        if bag.kind == "snapshot" and name in ("validate", "wrap"):
            return None
        value = getattr(bag, name, None)
        if isinstance(value, Function):
            return self.called(value, positional, named)
        if isinstance(value, Path):
            return self.path_call(node, value.name, positional, named)
        return self.unknown(node, "a call that is not evaluated", bag.kind == "snapshot") \
            if value is None else value

    def method(self, thing, name, positional, named):
        handler = getattr(self, f"{thing.kind.lower()}_{name}", None) \
            if thing.path in ("hoomd.Simulation", "hoomd.State", "hoomd.Operations") else None
        if handler is not None:
            return handler(*positional, **named)
        if thing.path == "gsd.hoomd.open" and name in ("append", "extend"):
            for frame in positional if name == "append" else positional[0]:
                self.written.setdefault(str(thing.get("name")), frame)
            return None
        if thing.path == "hoomd.md.constrain.Rigid" and name == "create_bodies":
            thing.values["created"] = True
            return None
        if thing.path == "argparse.ArgumentParser" or thing.family == "argparse":
            return self.parser(thing, name, positional, named)
        if name in QUIET or thing.path.startswith(MEASURES):
            return Unknown(f"{thing.path}.{name}(…) is not evaluated", self.line)
        raise NotUnderstood(f"{thing.path}.{name}(…)")

    def parser(self, thing, name, positional, named):
        """Arguments of the command line have their defaults; --var gives others."""
        if name == "add_argument":
            option = next((p for p in positional if p.startswith("--")), positional[0])
            key = named.get("dest") or option.lstrip("-").replace("-", "_")
            default = False if named.get("action") == "store_true" else True \
                if named.get("action") == "store_false" else named.get("default")
            if default is None:
                default = Unknown(f"the argument {key} has no default; --var {key} … gives it a "
                                  "value", self.line)
            thing.values.setdefault("known", {})[key] = self.given.get(key, default)
            return None
        if name in ("parse_args", "parse_known_args"):
            made = Bag("arguments", **thing.values.get("known", {}))
            return made if name == "parse_args" else (made, [])
        if name == "add_argument_group":
            return thing
        return None

    def operations_add(self, operation):
        self.add_operation(operation)

    def operations_remove(self, operation):
        self.drop_operation(operation)

    def add_operation(self, operation):
        operations = self.sim.values["operations"]
        if isinstance(operation, Unknown) or not isinstance(operation, Thing):
            raise NotUnderstood(getattr(operation, "reason", "expected an operation"))
        if operation.kind in ("Integrator", "FIRE") or ".integrate." in operation.path:
            operations.set("integrator", operation, self.line)
            return
        for family, where in LISTS_OF.items():
            if operation.path.startswith(family + "."):
                operations.raw(where).append(operation)
                return
        raise NotUnderstood(f"the operation {operation.path}")

    def drop_operation(self, operation):
        operations = self.sim.values["operations"]
        for where in ("writers", "updaters", "tuners", "computes"):
            held = operations.raw(where)
            if any(o is operation for o in held):
                held[:] = [o for o in held if o is not operation]
                return
        raise NotUnderstood("remove of what was not added")
