"""What expressions of a script are: Python's own values, names of modules, objects of HOOMD-blue
that are written down instead of made, and what is not known."""
from perrin.importing.lines import NotUnderstood

# Arguments by place, of classes that scripts call so. A name in front of "." is that of a family.
ORDER = {
    "hoomd.Simulation": ["device", "seed"],
    "hoomd.Box": ["Lx", "Ly", "Lz", "xy", "xz", "yz"],
    "hoomd.md.Integrator": ["dt", "integrate_rotational_dof", "forces", "constraints", "methods",
                            "rigid", "half_step_hook"],
    "hoomd.md.minimize.FIRE": ["dt", "force_tol", "angmom_tol", "energy_tol",
                               "integrate_rotational_dof", "forces", "constraints", "methods"],
    "hoomd.md.pair.Table": ["nlist", "default_r_cut"],
    "hoomd.md.pair.DPD": ["nlist", "kT", "default_r_cut"],
    "hoomd.md.pair.DPDLJ": ["nlist", "kT", "default_r_cut", "mode"],
    "hoomd.md.pair.DPDConservative": ["nlist", "default_r_cut"],
    "hoomd.md.pair": ["nlist", "default_r_cut", "default_r_on", "mode", "tail_correction"],
    "hoomd.md.pair.aniso": ["nlist", "default_r_cut", "mode"],
    "hoomd.md.constrain.Distance": ["tolerance"],
    "hoomd.md.nlist.Stencil": ["cell_width", "buffer", "exclusions"],
    "hoomd.md.nlist": ["buffer", "exclusions"],
    "hoomd.md.methods.ConstantVolume": ["filter", "thermostat"],
    "hoomd.md.methods.ConstantPressure": ["filter", "S", "tauS", "couple", "thermostat", "box_dof",
                                          "rescale_all", "gamma"],
    "hoomd.md.methods.Langevin": ["filter", "kT", "tally_reservoir_energy", "default_gamma",
                                  "default_gamma_r"],
    "hoomd.md.methods.Brownian": ["filter", "kT", "default_gamma", "default_gamma_r"],
    "hoomd.md.methods.OverdampedViscous": ["filter", "default_gamma", "default_gamma_r"],
    "hoomd.md.methods.DisplacementCapped": ["filter", "maximum_displacement"],
    "hoomd.md.methods.NVE": ["filter", "limit"],
    "hoomd.md.methods.NVT": ["filter", "kT", "tau"],
    "hoomd.md.methods.NPT": ["filter", "kT", "tau", "S", "tauS", "couple", "box_dof",
                             "rescale_all", "gamma"],
    "hoomd.md.methods.thermostats": ["kT", "tau"],
    "hoomd.md.force.Constant": ["filter"],
    "hoomd.md.force.Active": ["filter"],
    "hoomd.md.external.wall": ["walls"],
    "hoomd.wall.Plane": ["origin", "normal", "open"],
    "hoomd.wall.Sphere": ["radius", "origin", "inside", "open"],
    "hoomd.wall.Cylinder": ["radius", "axis", "origin", "inside", "open"],
    "hoomd.hpmc.integrate.Sphere": ["default_d", "default_a", "translation_move_probability",
                                    "nselect"],
    "hoomd.hpmc.pair": ["default_r_cut", "default_r_on", "mode"],
    "hoomd.hpmc.external.Linear": ["default_alpha", "plane_origin", "plane_normal"],
    "hoomd.hpmc.external.WallPotential": ["walls"],
    "hoomd.hpmc.external.wall.WallPotential": ["walls"],
    "hoomd.trigger.Periodic": ["period", "phase"],
    "hoomd.trigger.On": ["timestep"],
    "hoomd.variant.Constant": ["value"],
    "hoomd.variant.Ramp": ["A", "B", "t_start", "t_ramp"],
    "hoomd.variant.box.Constant": ["box"],
    "hoomd.variant.box.Interpolate": ["initial_box", "final_box", "variant"],
    "hoomd.variant.box.InverseVolumeRamp": ["initial_box", "final_volume", "t_start", "t_ramp"],
    "hoomd.filter.Rigid": ["flags"],
    "hoomd.filter.Type": ["types"],
    "hoomd.filter.Tags": ["tags"],
    "hoomd.filter": ["f", "g"],
    "hoomd.write.GSD": ["trigger", "filename", "filter", "mode", "truncate", "dynamic", "logger"],
    "hoomd.write.DCD": ["trigger", "filename", "filter"],
    "hoomd.write.HDF5Log": ["trigger", "filename", "logger", "mode"],
    "hoomd.write.Table": ["trigger", "logger", "output"],
    "hoomd.write.Burst": ["trigger", "filename", "filter", "mode", "dynamic", "logger",
                          "max_burst_size"],
    "hoomd.md.update.ActiveRotationalDiffusion": ["trigger", "active_force",
                                                  "rotational_diffusion"],
    "hoomd.update.BoxResize": ["trigger", "box1", "box2", "variant", "filter"],
}
LISTS = ("forces", "methods", "constraints", "writers", "updaters", "tuners", "computes", "walls",
         "pair_potentials", "external_potentials")
TABLES = ("params", "r_cut", "r_on", "gamma", "gamma_r", "shape", "d", "a", "constant_force",
          "constant_torque", "active_force", "active_torque", "nlist_params", "body", "E",
          "mu", "directors", "alpha")


class Unknown:
    """A value that is not known, and why. touches: the simulation is among what it is made of;
    harmless: it is of a module that draws or stores, whatever it is given."""

    def __init__(self, reason, line, touches=False, harmless=False):
        self.reason, self.line, self.touches, self.harmless = reason, line, touches, harmless


class Path:
    """A module of another program, or a name in it."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, Path) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __bool__(self):
        raise NotUnderstood(f"whether {self.name} is true")


class Bag:
    """Names with values: a snapshot and its parts, arguments of the command line."""

    def __init__(self, kind, **values):
        self.kind = kind
        self.__dict__.update(values)


class Table(dict):
    """Parameters by types: a key of several types is all of them, as HOOMD-blue has it. lines: of
    the statement that set each."""

    def __init__(self):
        super().__init__()
        self.lines = {}

    def put(self, key, value, line):
        for one in keys(key):
            self[one] = value
            self.lines[one] = line

    def take(self, key):
        """The value of a key, which may then be changed in place, as in params['A']['k'] = 2."""
        made = [self.get(one) for one in keys(key)]
        return made[0] if made else None


def keys(key):
    """'A', ('A', 'B'), ['A', 'B'], ('A', ['A', 'B']) or a list of pairs, as keys in one order."""
    if isinstance(key, str):
        return [key]
    if isinstance(key, list) and all(isinstance(k, str) for k in key):
        return list(key)
    if isinstance(key, list):
        return [one for part in key for one in keys(part)]
    if isinstance(key, tuple) and len(key) == 2:
        first, second = ([k] if isinstance(k, str) else list(k) for k in key)
        if all(isinstance(k, str) for k in first + second):
            return list(dict.fromkeys(tuple(sorted((a, b))) for a in first for b in second))
    if isinstance(key, tuple) and all(isinstance(k, str) for k in key):
        return list(key)
    raise NotUnderstood(f"the types {key!r}")


class Thing:
    """An object of HOOMD-blue: its class, what it was called with and what was set afterwards."""

    def __init__(self, path, positional, named, line):
        self.path, self.line, self.values, self.set_lines = path, line, {}, {}
        order = ORDER.get(path) or ORDER.get(path.rpartition(".")[0]) or []
        for name, value in zip(order, positional):
            self.set(name, value, line)
        for k, value in enumerate(positional[len(order):]):
            self.set(f"argument {len(order) + k + 1}", value, line)
        for name, value in named.items():
            self.set(name, value, line)

    @property
    def kind(self):
        return self.path.rpartition(".")[2]

    @property
    def family(self):
        return self.path.rpartition(".")[0]

    def set(self, name, value, line):
        if name in LISTS and isinstance(value, (list, tuple)):
            value = list(value)
        if name in TABLES and isinstance(value, dict) and not isinstance(value, Table):
            table = Table()
            for key, entry in value.items():
                table.put(key, entry, line)
            value = table
        self.values[name], self.set_lines[name] = value, line

    def has(self, name):
        return name in self.values

    def raw(self, name):
        """As the script reads it: lists and tables come into being when it asks for them."""
        if name not in self.values:
            if name in LISTS:
                self.values[name] = []
            elif name in TABLES:
                self.values[name] = Table()
        return self.values.get(name)

    def get(self, name, default=None):
        """A value that must be known."""
        value = self.values.get(name, default)
        if isinstance(value, Unknown):
            raise NotUnderstood(f"{name}: {value.reason}", self.line_of(name))
        return value

    def number(self, name, default=None):
        value = self.get(name, default)
        if isinstance(value, Thing) and value.path == "hoomd.variant.Constant":
            value = value.get("value")
        return number(value, name, self.line_of(name))

    def line_of(self, name):
        return self.set_lines.get(name, self.line)

    def list(self, name):
        value = self.values.get(name)
        if isinstance(value, Unknown):
            raise NotUnderstood(f"{name}: {value.reason}", self.line_of(name))
        return [] if value is None else list(value)

    def table(self, name):
        value = self.values.get(name)
        if value is None:
            return Table()
        if not isinstance(value, Table):
            raise NotUnderstood(f"{name} of {self.path}: "
                                f"{getattr(value, 'reason', 'expected parameters by types')}",
                                self.line_of(name))
        return value

    def only(self, *names):
        """Refuses what was set beside these names."""
        for name in self.values:
            if name not in names:
                raise NotUnderstood(f"{name} of {self.path}", self.line_of(name))


def number(value, name, line=None):
    """A number as Python has it."""
    if isinstance(value, Unknown):
        raise NotUnderstood(f"{name}: {value.reason}", line)
    try:
        if not isinstance(value, (str, bool)):
            made = float(value)
            return int(made) if made.is_integer() and isinstance(value, int) else made
    except (TypeError, ValueError):
        pass
    text = "nothing" if value is None else value.path if isinstance(value, Thing) else repr(value)
    raise NotUnderstood(f"{name}: expected a number, got {text}", line)


def vector(value, name, line=None):
    missing = unknown_in(value)
    if missing is not None:
        raise NotUnderstood(f"{name}: {missing.reason}", line)
    try:
        return [float(v) for v in value]
    except (TypeError, ValueError):
        raise NotUnderstood(f"{name}: expected three numbers, got {value!r}", line) from None


def unknown_in(value):
    """The first value that is not known of a value, of a tuple or list, of a slice."""
    if isinstance(value, Unknown):
        return value
    parts = value if isinstance(value, (tuple, list)) else \
        (value.start, value.stop, value.step) if isinstance(value, slice) else ()
    return next(filter(None, map(unknown_in, parts)), None)


def touches(value, depth=0):
    """Whether a value is of the simulation, or has such a value in it."""
    if isinstance(value, (Thing, Table)):
        return isinstance(value, Table) or not value.path.startswith("gsd.")
    if isinstance(value, Bag):
        return value.kind == "snapshot"
    if isinstance(value, Unknown):
        return value.touches
    if isinstance(value, (list, tuple)) and depth < 3:
        return any(touches(v, depth + 1) for v in value[:100])
    if isinstance(value, dict) and depth < 3:
        return any(touches(v, depth + 1) for v in value.values())
    return isinstance(value, Path) and value.name.split(".")[0] == "hoomd"
