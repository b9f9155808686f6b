"""Units of LAMMPS, in those of a job: energies, lengths, masses and temperatures stay as they are;
times, pressures and frictions are in units that follow from them (perrin help units)."""
import math

from perrin.importing.lines import NoJob

# Length, energy and mass of the job; its unit of time in that of LAMMPS, and LAMMPS's pressure in
# energy per length^3 of the job. CODATA 2018: kcal/mol, g/mol and Å give 48.88821 fs; eV 10.18051.
ANGSTROM, CALORIE, EV, DALTON, AVOGADRO = 1e-10, 4184.0, 1.602176634e-19, 1.66053906660e-27, \
    6.02214076e23
BOLTZMANN = 1.380649e-23
CHARGE = EV ** 2 / (4 * math.pi * 8.8541878128e-12)
ENERGY = {"real": CALORIE / AVOGADRO, "metal": EV}
TIME = {"real": 1e-15, "metal": 1e-12}
PRESSURE = {"real": 101325.0, "metal": 1e5}
NAMES = {"real": {"length": "angstrom", "energy": "kcal/mol", "mass": "g/mol"},
         "metal": {"length": "angstrom", "energy": "eV", "mass": "g/mol"}}
TIMESTEPS = {"lj": 0.005, "real": 1.0, "metal": 0.001}


class Units:
    def __init__(self, style="lj"):
        if style != "lj" and style not in NAMES:
            raise NoJob(f"units {style}: lj, real and metal are translated")
        self.style, self.names = style, NAMES.get(style, "lj")
        self.timestep = TIMESTEPS[style]
        self.of_time = self.of_pressure = self.coulomb = self.field = 1.0
        self.thermal = 1.0  # velocity of LAMMPS of a mass 1 at the temperature 1
        if style != "lj":
            # Masses are in u: g/mol and u differ by 1e-9 and less.
            self.of_time = TIME[style] / (ANGSTROM * math.sqrt(DALTON / ENERGY[style]))
            self.coulomb = CHARGE / ANGSTROM / ENERGY[style]  # of elementary charges
            self.field = EV / ENERGY[style]  # of V/Å, on elementary charges
            self.thermal = math.sqrt(BOLTZMANN / ENERGY[style]) * self.of_time
            self.of_pressure = PRESSURE[style] * ANGSTROM ** 3 / ENERGY[style]

    def time(self, t):
        return t * self.of_time

    def pressure(self, p):
        return p * self.of_pressure

    def force_per_velocity(self, gamma):
        """Of LAMMPS, whose forces are energy/length; mass/time of the job."""
        return gamma * self.of_time

    def friction(self, gamma):
        """mass/time of LAMMPS."""
        return gamma / self.of_time
