"""Input scripts of LAMMPS as jobs of Perrin: `perrin import lammps in.file`, docs/guide/import.md.

    result = perrin.lammps.convert("in.melt")
    print(result.text)          # the job, with comments that name the lines it comes from
    print(result.not_understood)
"""
from perrin.lammps.convert import Result, convert

__all__ = ["Result", "convert"]
