"""Scripts of HOOMD-blue as jobs of Perrin: `perrin import hoomd script.py`, docs/guide/import.md.

    result = perrin.hoomd.convert("lj.py")
    print(result.text)          # the job, with comments that name the lines it comes from
    print(result.not_understood)
"""
from perrin.hoomd.convert import convert
from perrin.importing.lines import Result

__all__ = ["Result", "convert"]
