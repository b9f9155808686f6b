"""perrin import lammps in.file [data.file]: a script of LAMMPS as a job (docs/guide/import.md)."""
import argparse
import glob
import os
import re
import sys

from perrin.lammps import convert
from perrin.lammps.assemble import folder_of


def parser():
    made = argparse.ArgumentParser(
        prog="perrin import", description="Translates input of other programs into a job. What is "
        "not understood is listed line by line, here and at the top of the job.",
        epilog="Exit status: 0, everything that matters was understood; 1, a job was written and "
        "leaves lines out; 2, no job was written.")
    programs = made.add_subparsers(dest="program", required=True, metavar="lammps")
    lammps = programs.add_parser("lammps", help="an input script of LAMMPS")
    lammps.add_argument("script", help="the input script")
    lammps.add_argument("data", nargs="?", help="the data file, where the script's own name for it "
                        "leads to none")
    lammps.add_argument("-o", "--output", default="job.json", help="the job; a start that the "
                        "script makes is written beside it (default: job.json)")
    lammps.add_argument("--var", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="a variable, as `lmp -var NAME VALUE`")
    lammps.add_argument("--overwrite", action="store_true", help="replace files that exist")
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
        if re.fullmatch(re.escape(name) + r"(-\d+)?\.json|" + re.escape(name) + r"\.data",
                        os.path.basename(path)) and not asked.overwrite:
            print(f"perrin import: {os.path.relpath(path)} exists; --overwrite replaces it",
                  file=sys.stderr)
            return 2
    os.makedirs(folder, exist_ok=True)
    data = os.path.abspath(asked.data) if asked.data else None
    result = convert(asked.script, name, folder, dict(asked.var), data)
    written = []
    for part, text in enumerate(result.texts, 1):
        written.append(output if part == 1 else os.path.join(folder, f"{name}-{part}.json"))
        with open(written[-1], "w") as out:
            out.write(text)
    for line, reason in result.not_understood:
        print(f"{line}: not understood: {line.text}  [{reason}]", file=sys.stderr)
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
