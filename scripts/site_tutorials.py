"""Pages of the tutorials, for scripts/site: their notebooks, run by scripts/notebook, as
Markdown."""
import base64
import html
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = "docs/tutorials"
PACKAGES = ["numpy", "h5py", "pandas", "matplotlib"]
ITEM = re.compile(r"^\d\. \[(.*?)\]\(([\w-]+)\.py\): (.*\n(?:   .*\n)*)", re.M)
STYLE = """\
.output { border-left: .15rem solid var(--md-default-fg-color--lightest); padding-left: .8rem;
  margin: -.4em 0 1.4em; overflow-x: auto; }
.output pre { margin: 0; }
.output pre > code { background: none; padding: .2rem 0; white-space: pre-wrap; }
.output .md-clipboard, .output .md-code__nav { display: none; }
.md-typeset .output table:not([class]) :is(td, th) { padding: .3rem .6rem; }
.output img { padding: .3rem; }
.output svg { height: auto; max-width: 100%; }
.md-typeset .gallery .tutorial img { height: 10rem; }
"""


def module_folder(build):
    """The folder that PYTHONPATH must name for the module of a build, or None."""
    for folder in [pathlib.Path(build)] if build else [ROOT / "build", ROOT / "build-all"]:
        if (folder / "python/perrin/py.typed").exists():
            return folder.resolve() / "python"
    return None


def sources():
    return sorted((ROOT / FOLDER).glob("*.py"))


def make(folder, python, build):
    """Runs the tutorials and writes their notebooks into `folder`; without a module they have no
    output."""
    module = module_folder(build)
    command = [python, ROOT / "scripts/notebook", *([] if module else ["--no-run"]), folder]
    if not module:
        print("site: no build with the Python module was found (-DPERRIN_PYTHON_MODULE=ON, "
              "--build FOLDER): the tutorials have no output", file=sys.stderr)
    # Formulas as tables: compiling them for a GPU takes a minute.
    environment = {**os.environ, "PYTHONPATH": str(module or ""), "PERRIN_COMPILER": "none"}
    done = subprocess.run([*command, *sources()], env=environment, stdout=sys.stderr)
    if done.returncode:
        sys.exit("site: a tutorial fails")


def shown(output, name, place):
    """An output of a cell as Markdown; pictures are written into the folder `place`."""
    if output["output_type"] == "stream":
        return f"```text\n{output['text'].rstrip()}\n```"
    data = output["data"]
    if "image/png" in data:
        number = len(list(place.glob(f"{name}-*.png"))) + 1
        (place / f"{name}-{number}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![What the cell draws]({name}-{number}.png)"
    if "text/html" in data:
        plain = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.S)
        plain = re.sub(r'<table [^>]*>', "<table>", plain)
        return re.sub(r"\s*\n\s*", " ", plain).strip()
    return f"```text\n{data['text/plain']}\n```"


def page(notebook, name, place):
    """A notebook as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
            continue
        parts.append(f"```python\n{cell['source'].rstrip(';')}\n```")
        outputs = [shown(output, name, place) for output in cell["outputs"]]
        if outputs:
            parts.append('<div class="output" markdown="1">\n\n' + "\n\n".join(outputs) +
                         "\n\n</div>")
    download = f'<a class="md-button" href="{name}.ipynb" download>Download the notebook</a>'
    parts.append(download)
    return "\n\n".join(parts) + "\n"


def write(pages, notebooks):
    """The pages of all tutorials, and their list as a gallery; returns their names in order."""
    place = pages.folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    names = []
    for source in sources():
        name = source.stem
        text = (notebooks / f"{name}.ipynb").read_text()
        (place / f"{name}.ipynb").write_text(text)
        pages.write(f"{FOLDER}/{name}.md", page(json.loads(text), name, place))
        names.append(f"{FOLDER}/{name}.md")

    def card(match):
        title, name, sentence = match[1], match[2], " ".join(match[3].split())
        sentence = sentence[0].upper() + sentence[1:]
        picture = place / f"{name}-1.png"
        image = (f'<img src="{picture.name}" alt="" loading="lazy">' if picture.exists() else
                 f'<div class="formula">{name[0]}</div>')
        return (f'<a class="tutorial" href="{name}.html">{image}<b>{name[0]} {title}</b>'
                f"<span>{html.escape(sentence)}</span></a>\n")

    text = ITEM.sub(card, (ROOT / FOLDER / "README.md").read_text())
    text = re.sub(r"((?:<a class=\"tutorial\".*\n)+)", r'<div class="gallery">\n\1</div>\n', text)
    pages.write(f"{FOLDER}/README.md", text)
    return [f"{FOLDER}/README.md", *names]
