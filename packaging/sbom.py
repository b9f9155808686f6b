#!/usr/bin/env python3
"""Writes what a wheel is made of, as CycloneDX 1.6 (JSON), from the headers and packages it was
made with:

    sbom.py VERSION FILE [NANOBIND]     NANOBIND: the folder of the one that is compiled in, where
                                        it is not that of the Python that runs this

Libraries that auditwheel adds are in a list of its own.
"""
import json
import pathlib
import re
import subprocess
import sys
from importlib import metadata


def header(folder, file, *names):
    """The numbers that a header defines as these names, joined by points."""
    for root in (*folder, "/usr/include", "/usr/local/include"):
        path = pathlib.Path(root) / file
        if path.exists():
            text = path.read_text(errors="replace")
            found = [re.search(rf"#\s*define\s+{name}\s+\"?([0-9.]+)", text) for name in names]
            if all(found):
                return ".".join(match[1] for match in found)
    sys.exit(f"sbom: no {file} with {', '.join(names)}")


def component(name, version, license, what, kind="library", purl=None, scope=None):
    entry = {"type": kind, "bom-ref": f"{name}-{version}", "name": name, "version": version,
             "description": what}
    if " " in license:
        entry["licenses"] = [{"expression": license.replace(" with ", " WITH ")}]
    else:
        entry["licenses"] = [{"license": {"id": license}}]
    if purl:
        entry["purl"] = f"pkg:{purl}"
    if scope:
        entry["scope"] = scope
    return entry


def main():
    version, file, *folder = sys.argv[1:]
    nanobind = metadata.version("nanobind")
    if folder:
        names = [f"NB_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH")]
        nanobind = header(folder, "include/nanobind/nanobind.h", *names)
    hdf5 = header(("/usr/include/hdf5/serial",), "H5public.h", "H5_VERS_MAJOR", "H5_VERS_MINOR",
                  "H5_VERS_RELEASE")
    number = int(header((), "fmt/core.h", "FMT_VERSION"))
    fmt = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    names = [f"NLOHMANN_JSON_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH")]
    for place in ("nlohmann/detail/abi_macros.hpp", "nlohmann/detail/macro_scope.hpp",
                  "nlohmann/json.hpp"):
        if (pathlib.Path("/usr/include") / place).exists():
            nlohmann = header((), place, *names)
            break
    cli11 = header((), "CLI/Version.hpp", "CLI11_VERSION_MAJOR", "CLI11_VERSION_MINOR",
                   "CLI11_VERSION_PATCH")
    gcc = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True,
                         check=True).stdout.strip()
    parts = [
        component("hdf5", hdf5, "BSD-3-Clause", "files; linked into libperrin",
                  purl=f"github/HDFGroup/hdf5@{hdf5}"),
        component("fmt", fmt, "MIT", "text; linked into libperrin, headers for plug-ins",
                  purl=f"github/fmtlib/fmt@{fmt}"),
        component("nlohmann-json", nlohmann, "MIT", "jobs; compiled in, headers for plug-ins",
                  purl=f"github/nlohmann/json@v{nlohmann}"),
        component("cli11", cli11, "BSD-3-Clause", "the command line; compiled in",
                  purl=f"github/CLIUtils/CLI11@v{cli11}"),
        component("nanobind", nanobind, "BSD-3-Clause", "the Python module; compiled in",
                  purl=f"pypi/nanobind@{nanobind}"),
        component("libstdc++", gcc, "GPL-3.0-or-later with GCC-exception-3.1",
                  "parts of the C++ library that older systems lack"),
        component("numpy", ">=1.23", "BSD-3-Clause", "installed with it", purl="pypi/numpy",
                  scope="required"),
    ]
    perrin = component("perrin", version, "BSD-3-Clause", "particle engine for soft matter",
                       kind="application", purl=f"pypi/perrin@{version}")
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
           "metadata": {"component": perrin}, "components": parts,
           "dependencies": [{"ref": perrin["bom-ref"],
                             "dependsOn": [part["bom-ref"] for part in parts]}]}
    pathlib.Path(file).write_text(json.dumps(bom, indent=1) + "\n")


main()
