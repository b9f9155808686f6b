"""Texts and pictures of simulations and frames: what a notebook shows of them."""
from __future__ import annotations

import html
import json

import numpy as np

LARGEST = 5000  # circles of a picture
# Colours of types, which differ in lightness, too (Okabe and Ito).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#666666")


def number(value):
    return f"{value:.6g}"


def counts(types, names):
    """"800 A, 200 B"."""
    found = np.bincount(types, minlength=len(names))
    return ", ".join(f"{n} {names[k] if k < len(names) else k}" for k, n in enumerate(found) if n)


def box_text(box):
    lengths = " × ".join(number(x) for x in box.lengths[:box.dimension])
    tilts = "" if not np.any(box.tilts) else \
        f", tilts {', '.join(number(x) for x in box.tilts)}"
    wanted = range(box.dimension)
    axes = "".join("xyz"[k] for k in wanted if box.periodic[k])
    periodic = "" if len(axes) == box.dimension else f", periodic along {axes or 'no axis'}"
    return lengths + tilts + periodic


def picture(positions, types, names, box, width=420):
    """An SVG of particles in their box, seen from obliquely above; in two dimensions from above."""
    r = np.asarray(positions, float) - box.origin
    n = len(r)
    step = max(1, -(-n // LARGEST))
    r, kinds = r[::step], np.asarray(types)[::step]
    edges = box.edges
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1)
                        for k in ((0, 1) if box.dimension == 3 else (0,))]) @ edges
    turn = np.eye(3)
    if box.dimension == 3:
        a, b = np.radians(-28), np.radians(18)
        about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        # x to the right, z upwards, y away from the eye.
        look = np.array([[1, 0, 0], [0, np.sin(b), np.cos(b)], [0, np.cos(b), -np.sin(b)]])
        turn = look @ about_z
    seen, frame = r @ turn.T, corners @ turn.T
    low, high = frame[:, :2].min(axis=0), frame[:, :2].max(axis=0)
    scale = width / max(*(high - low), 1e-300)
    size = (high - low) * scale

    def place(p):
        return (p[:, 0] - low[0]) * scale, size[1] - (p[:, 1] - low[1]) * scale

    # Half of the mean distance, thinned out as the particles are.
    area = box.volume / max(n, 1) * step
    radius = 0.45 * area ** (1 / box.dimension) * scale
    x, y = place(seen)
    order = np.argsort(-seen[:, 2]) if box.dimension == 3 else np.arange(len(r))
    depth = seen[:, 2]
    nearness = (depth.max() - depth) / max(np.ptp(depth), 1e-300) if len(r) else depth
    u, v = place(frame)
    pairs = [(i, j) for i in range(len(corners)) for j in range(i)
             if bin(i ^ j).count("1") == 1]
    lines = "".join(f"M{u[i]:.1f} {v[i]:.1f}L{u[j]:.1f} {v[j]:.1f}" for i, j in pairs)
    strength = 0.25 + 0.75 * nearness if box.dimension == 3 else np.ones(len(r))
    circles = "".join(
        f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{radius:.1f}" '
        f'fill="{COLOURS[kinds[i] % len(COLOURS)]}" fill-opacity="{strength[i]:.2f}"/>'
        for i in order)
    edge = radius + 2
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{size[0] + 2 * edge:.0f}" '
            f'height="{size[1] + 2 * edge:.0f}" viewBox="{-edge:.1f} {-edge:.1f} '
            f'{size[0] + 2 * edge:.1f} {size[1] + 2 * edge:.1f}">'
            f'<path d="{lines}" stroke="#888" fill="none"/>'
            f'<g stroke="#fff" stroke-width="0.4">{circles}</g></svg>')


def table(rows):
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
                    f"<td style='text-align:left'>{html.escape(str(v))}</td></tr>" for k, v in rows)
    return f"<table>{cells}</table>"


def page(title, rows, svg="", shown=""):
    note = f"<div><small>{html.escape(shown)}</small></div>" if shown else ""
    return f"<div><b>{html.escape(title)}</b>{table(rows)}{svg}{note}</div>"


def thinned(n):
    step = max(1, -(-n // LARGEST))
    return "" if step == 1 else f"one of {step} particles is drawn ({n} in all)"


def short(value, most=60):
    """JSON of a setting, or so much of it as fits."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    if isinstance(value, list) and len(text) > most and all(isinstance(v, dict) for v in value):
        return f"{len(value)} of {', '.join(value[0])}" if value else "none"
    return text if len(text) <= most else text[:most - 1] + "…"


def settings(component):
    """"lennard_jones: cutoff 2.5, pairs [1 …]" of a part of a job."""
    if not isinstance(component, dict):
        return short(component)
    said = ", ".join(f"{k} {short(v)}" for k, v in component.items() if k != "type")
    return ": ".join(word for word in (component.get("type", ""), said) if word)


def of_job(job, title):
    """What a notebook shows of a job, or of a part: a row for each setting, and of lists of parts
    one for each; the whole as JSON, folded."""
    rows = []
    for key, value in job.items():
        parts = value if isinstance(value, list) and value and all(
            isinstance(v, dict) for v in value) else [value]
        rows += [(key if k == 0 else "", settings(part)) for k, part in enumerate(parts)]
    whole = html.escape(json.dumps(job, indent=2, ensure_ascii=False, default=repr))
    return (f"<div><b>{html.escape(title)}</b>{table(rows)}"
            f"<details><summary>JSON</summary><pre>{whole}</pre></details></div>")
