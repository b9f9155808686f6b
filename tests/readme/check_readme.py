"""The README's code, as it stands: its job runs and prints what the README shows, the lines with
h5py read its files, its forces are valid, its numbers are those of the tree.

Usage: check_readme.py PERRIN WORKFOLDER SOURCE [python]. With the word python: the block that needs
the Python module, in the files of the run; status 77 where that is not built."""
import json
import os
import re
import shutil
import subprocess
import sys

perrin, folder, source = sys.argv[1:4]
with open(os.path.join(source, "README.md")) as file:
    TEXT = file.read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.M | re.S)


def run(*command, status=0):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, (command, done.stdout, done.stderr)
    return done.stdout


def with_comments(text):
    """The values of JSON with comments."""
    return json.loads(run(perrin, "show", text))


def rows(text):
    return [[float(word) for word in line.split()] for line in text.splitlines()
            if re.match(r" *\d+( +[-\d.e]+){4}$", line)]


def check_job():
    """The job runs, and its rows are those shown: the start exactly, later ones as one state of a
    thermostatted liquid is like another (other processors round otherwise)."""
    with open(os.path.join(folder, "job.json"), "w") as file:
        file.write(blocks("json")[0])
    run(perrin, "validate", "job.json")
    printed = run(perrin, "run", "job.json", "--device", "cpu")
    shown, seen = rows(blocks("text")[0]), rows(printed)
    heading = blocks("text")[0].splitlines()[0]
    assert heading in printed.splitlines(), (heading, printed)
    assert [r[:2] for r in shown] == [r[:2] for r in seen] and len(shown) == 5, (shown, seen)
    for mine, its in zip(shown, seen):
        for value, other, near in zip(mine[2:], its[2:], (0.1, 120, 0.6)):
            assert abs(value - other) < (1e-5 * abs(value) if mine[0] == 0 else near), (mine, its)
    for name in re.findall(r"`(\w+\.h5)`", TEXT):
        assert os.path.exists(os.path.join(folder, name)), name
    run(perrin, "report", ".")
    run(perrin, "resume", "checkpoint.h5", "--steps", "10", "--device", "cpu")


def check_forces():
    job = with_comments("job.json")
    found = [json.loads(text) for text in blocks("json")[1:]]
    assert found
    for force in found:
        with open(os.path.join(folder, "force.json"), "w") as file:
            json.dump({**job, "forces": [force]}, file)
        run(perrin, "validate", "force.json", "--output-dir", "force")


def check_numbers():
    lines = re.search(r"takes (\d+)\s+lines of C\+\+", TEXT)
    with open(os.path.join(source, "templates/pair/plugin_name.cpp")) as file:
        assert int(lines[1]) == len(file.readlines()), lines[1]
    run(perrin, "new-plugin", "pair", "my_force")
    examples = [name for name in os.listdir(os.path.join(source, "examples"))
                if re.match(r"\d\d-", name)]
    count = re.search(r"(\d+) numbered jobs", TEXT)
    assert int(count[1]) == len(examples), count[1]
    version = run(perrin, "--version").split()[0]
    for name, says in (("README.md", f"The version is {version}:"),
                       ("CHANGELOG.md", f"\n## {version} ("),
                       ("CITATION.cff", f"\nversion: {version}\n"),
                       ("pyproject.toml", f'\nversion = "{version}"\n'),
                       ("tests/fuzz/CMakeLists.txt", f"VERSION {version} ")):
        with open(os.path.join(source, name)) as file:
            assert says in file.read(), f"{name} does not say {says.strip()}"


def main():
    h5py, python = blocks("python")
    if sys.argv[4:] == ["python"]:
        if subprocess.run([sys.executable, "-c", "import perrin"], capture_output=True).returncode:
            print("skipped: the Python module is not built")
            sys.exit(77)
        assert "1000 " in run(sys.executable, "-c", python)
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    check_job()
    print(run(sys.executable, "-c", h5py))
    check_forces()
    check_numbers()


main()
