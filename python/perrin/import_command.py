"""perrin import lammps in.file [data.file], perrin import hoomd script.py [state.gsd]: a script as
a job (docs/guide/import.md)."""
import argparse
import glob
import os
import re
import sys

from perrin import hoomd, lammps
from perrin.importing.parts import folder_of


def parser():
    made = argparse.ArgumentParser(
        prog="perrin import", description="Translates input of other programs into a job. What is "
        "not understood is listed line by line, here and at the top of the job.",
        epilog="Exit status: 0, everything that matters was understood; 1, a job was written and "
        "leaves lines out; 2, no job was written.")
    programs = made.add_subparsers(dest="program", required=True, metavar="PROGRAM")
    of_lammps = programs.add_parser("lammps", help="an input script of LAMMPS")
    of_lammps.add_argument("script", help="the input script")
    of_lammps.add_argument("data", nargs="?", help="the data file, where the script's own name for "
                           "it leads to none")
    of_hoomd = programs.add_parser("hoomd", help="a script of HOOMD-blue (3 to 5); it is read and "
                                                 "not executed")
    of_hoomd.add_argument("script", help="the Python script")
    of_hoomd.add_argument("data", nargs="?", metavar="state", help="a GSD file: the start, where "
                          "the script's own is not there, or is made by what is not understood")
    for program, variable in ((of_lammps, "a variable, as `lmp -var NAME VALUE`"), (of_hoomd, (
            "a value for a name of the script, or for an expression of it, in place of its own"))):
        program.add_argument("-o", "--output", default="job.json", help="the job; a start and "
                             "tables that the script makes are written beside it (default: "
                             "job.json)")
        program.add_argument("--var", nargs=2, action="append", default=[],
                             metavar=("NAME", "VALUE"), help=variable)
        program.add_argument("--overwrite", action="store_true", help="replace files that exist")
    return made


def main(arguments):
    asked = parser().parse_args(arguments)
    for path in filter(None, (asked.script, asked.data)):
        if not os.path.isfile(path):
            print(f"perrin import: {path} is no file", file=sys.stderr)
            return 2
    output = os.path.abspath(asked.output)
    folder, name = os.path.split(output)
    name = os.path.splitext(name)[0]
    for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + "*")):
        if re.fullmatch(re.escape(name) + r"((-\d+)?\.json|\.data|-zero\.table|-start\.gsd)",
                        os.path.basename(path)) and not asked.overwrite:
            print(f"perrin import: {os.path.relpath(path)} exists; --overwrite replaces it",
                  file=sys.stderr)
            return 2
    os.makedirs(folder, exist_ok=True)
    data = os.path.abspath(asked.data) if asked.data else None
    convert = {"lammps": lammps, "hoomd": hoomd}[asked.program].convert
    result = convert(asked.script, name, folder, dict(asked.var), data)
    written = []
    for part, text in enumerate(result.texts, 1):
        written.append(output if part == 1 else os.path.join(folder, f"{name}-{part}.json"))
        with open(written[-1], "w") as out:
            out.write(text)
    for line, reason in result.not_understood:
        print(f"{line}: not understood: {line.text}  [{reason}]", file=sys.stderr)
    if not written:
        return 2
    for line, reason in result.changed:
        print(f"{line}: near: {line.text}  [{reason}]", file=sys.stderr)
    for path in (*written, *result.data):
        print(f"wrote {os.path.relpath(path)}")
    if len(written) > 1:
        print("forces or velocities change after a run: run the parts in turn")
        for part, path in enumerate(written, 1):
            place = os.path.join(folder, folder_of(part))
            print(f"  perrin run {os.path.relpath(path)} --output-dir {os.path.relpath(place)}")
    left = len(result.not_understood)
    print(f"{left} line{'' if left == 1 else 's'} not understood: the job leaves "
          f"{'it' if left == 1 else 'them'} out" if left else "every line that matters is in the "
          "job", file=sys.stderr if left else sys.stdout)
    return 1 if left else 0
