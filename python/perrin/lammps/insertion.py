"""fix gcmc of atoms, and of molecules that are rigid bodies, as turns of the stages monte_carlo and
md."""
import math

from perrin.importing.lines import NotUnderstood
from perrin.lammps.fixes import options

ANGLE = 10  # degrees by which LAMMPS turns a molecule at most
OF_BODIES = {"mcmoves": 3, "pressure": 1, "fugacity_coeff": 1, "full_energy": 0, "max": 1,
             "tfac_insert": 1, "group": 1, "mol": 1, "rigid": 1, "maxangle": 1, "intra_energy": 1}
KEYS = {"mcmoves": 3, "pressure": 1, "fugacity_coeff": 1, "full_energy": 0, "overlap_cutoff": 1,
        "max": 1, "min": 1, "tfac_insert": 1, "group": 1, "charge": 1}
PLANCK, BOLTZMANN, DALTON = 6.62607015e-34, 1.380649e-23, 1.66053906660e-27
BOLTZMANN_OF = {"lj": 1.0, "real": 0.0019872042586, "metal": 8.617333262e-5}


def activity(script, mass, temperature, mu, said):
    """Of particles or bodies of a mass: the density of the ideal gas that has this chemical
    potential."""
    kt = BOLTZMANN_OF[script.units.style] * temperature
    if "pressure" in said:
        ratio = script.number(said.get("fugacity_coeff", ["1"])[0])
        return ratio * script.units.pressure(script.number(said["pressure"][0])) / kt
    wave = 1.0
    if script.units.style != "lj":
        wave = PLANCK / math.sqrt(2 * math.pi * mass * DALTON * BOLTZMANN * temperature) / 1e-10
    return math.exp(mu / kt) / wave ** 3


class Insertion:
    def __init__(self, script, fix):
        self.fix, words = fix, fix.words
        self.every, self.exchanges, self.moves, self.kind = (int(script.number(w))
                                                             for w in words[:4])
        if not self.kind or "mol" in words[8:]:
            self.bodies(script, words)
            return
        said = options(words[8:], KEYS)
        if "min" in said or "overlap_cutoff" in said or "charge" in said:
            raise NotUnderstood("fix gcmc with min, overlap_cutoff or charge", fix.line)
        if "group" in said or script.number(said.get("tfac_insert", ["1"])[0]) != 1:
            raise NotUnderstood("fix gcmc with group, or tfac_insert that is not 1", fix.line)
        if fix.group != "all" and str(self.kind) not in (script.groups.get(fix.group) or {}).get(
                "types", ()):
            raise NotUnderstood(f"fix gcmc of the group {fix.group}: a job exchanges all particles "
                                f"of a type; expected all, or a group by type that has "
                                f"{self.kind}", fix.line)
        if any(script.number(w) for w in said.get("mcmoves", ["1", "0", "0"])[1:]):
            raise NotUnderstood("fix gcmc with moves of molecules", fix.line)
        temperature, mu, displace = (script.number(w) for w in words[5:8])
        self.stage = {"type": "monte_carlo", "sweeps": 1, "temperature": temperature}
        count = script.count_of(self.kind)
        mass = 1.0 if script.units.style == "lj" else script.mass_by_type()[self.kind]
        z = float(f"{activity(script, mass, temperature, mu, said):.9g}")
        if self.moves and displace:
            each = max(round(self.moves / max(count, z * script.keyword("vol"), 1)), 1)
            self.stage["translation"] = {"displacement": displace, **(
                {"trials": each} if each > 1 else {})}
            script.result.changed.append((fix.line, "a sweep tries to move every particle of the "
                                          f"box {each} times; LAMMPS {self.moves} of the group"))
        if self.exchanges:
            self.stage["insertion"] = [{"type": str(self.kind), "activity": z,
                                        "trials": self.exchanges}]
        self.room = int(script.number(said["max"][0])) - count if "max" in said else \
            self.guess(script, count)

    def bodies(self, script, words):
        """Molecules that a fix rigid moves: bodies of one kind, and nothing else."""
        fix, said, made = self.fix, options(words[8:], OF_BODIES), script.bodies
        if made is None or not made.only() or len(made.settings) != 1 or "rigid" not in said or \
                self.kind or "mol" not in said:
            raise NotUnderstood("fix gcmc of molecules: a job exchanges particles, or rigid bodies "
                                "of one kind where there is nothing else", fix.line)
        script.template(said["mol"][0])
        if made.charges:
            raise NotUnderstood("fix gcmc of molecules with charges: a reservoir of a job has none",
                                fix.line)
        if fix.group != "all" and not script.members(fix.group).all():
            raise NotUnderstood(f"fix gcmc of the group {fix.group}: a job exchanges all bodies",
                                fix.line)
        temperature, mu, displace = (script.number(w) for w in words[5:8])
        (name, body), = made.settings.items()
        self.kind, count = int(name), len(made.start)
        z = float(f"{activity(script, body['mass'], temperature, mu, said):.9g}")
        turn = math.radians(script.number(said.get("maxangle", [str(ANGLE)])[0]))
        each = max(round(self.moves / max(count, 1)), 1)
        self.stage = {
            "type": "monte_carlo", "sweeps": 1, "temperature": temperature,
            "molecule": {"displacement": displace if self.moves else 0,
                         "rotation": turn if self.moves else 0,
                         **({"trials": each} if each > 1 else {})},
            "insertion": [{"type": name, "activity": z, "trials": self.exchanges}]}
        if not self.exchanges:
            raise NotUnderstood("fix gcmc of molecules without exchanges", fix.line)
        if "tfac_insert" in said or "intra_energy" in said:
            script.result.changed.append((fix.line, "bodies have no energy of their own, and come "
                                          "with velocities of the temperature"))
        self.room = int(script.number(said["max"][0])) - count if "max" in said else \
            self.guess(script, count)

    def guess(self, script, count):
        """Particles that the box has room for, at a density of 1.5 in units of its diameter."""
        volume = script.keyword("vol")
        sigma = 1.0
        for (_, i, j), words in script.pairs.coefficients.items():
            if i == j == self.kind and len(words) > 1:
                sigma = script.number(words[1]) or 1.0
        room = max(int(1.5 * volume / sigma ** 3) - count, 10)
        script.result.changed.append((self.fix.line, f"there is room for {room} more particles "
                                      "(\"reservoir\"); a run that needs more ends"))
        return room
