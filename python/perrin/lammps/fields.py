"""Fixes that act on particles as a field, a wall or a spring."""
from perrin.lammps.script import NotUnderstood


def field(script, group, style, words):
    """Forces of a fix, or None where it is of another kind."""
    number, made = script.number, None
    if style == "addforce":
        if len(words) > 3:
            raise NotUnderstood(f"fix addforce with {words[3]}")
        made = [{"type": "constant_force", "force": [number(w) for w in words[:3]]}]
    elif style == "gravity" and words[1] == "vector":
        g = [number(words[0]) * number(w) for w in words[2:5]]
        norm = sum(number(w) ** 2 for w in words[2:5]) ** 0.5
        masses = {t: script.masses.get(t, 1.0) for t in range(1, script.types + 1)}
        made = [{"type": "constant_force", "force": [m * x / norm for x in g], "types": [str(t)]}
                for t, m in masses.items()]
        if len(set(masses.values())) == 1:
            made = [{k: v for k, v in made[0].items() if k != "types"}]
    elif style in ("wall/lj93", "wall/lj126"):
        made, words = [], list(words)
        while words:
            face = words.pop(0)
            if face in ("units", "fld", "pbc"):
                words.pop(0)
                continue
            place, epsilon, sigma, cutoff = words[:4]
            words = words[4:]
            axis = face[0]
            low, high = script.box[axis]
            where = {"EDGE": low if face.endswith("lo") else high}.get(place)
            if where is None:
                where = number(place)
            made.append({"type": "lj_wall", "axis": axis, "position": where,
                         "epsilon": number(epsilon), "sigma": number(sigma),
                         "cutoff": number(cutoff),
                         "form": "9-3" if style.endswith("93") else "12-6"})
    elif style == "wall/harmonic":
        made, words = [], list(words)
        while words:
            face = words.pop(0)
            if face in ("units", "fld", "pbc"):
                words.pop(0)
                continue
            place, k, _, cutoff = words[:4]
            words = words[4:]
            low, high = script.box[face[0]]
            where = low if place == "EDGE" and face.endswith("lo") else \
                high if place == "EDGE" else number(place)
            h = f"({face[0]} - p)" if face.endswith("lo") else f"(p - {face[0]})"
            values = {"k": number(k), "p": where, "rc": number(cutoff)}
            made.append({"type": "external_formula",
                         "energy": f"if({h} < rc, k*(rc - {h})^2, 0)",
                         "types": {str(t): values for t in range(1, script.types + 1)}})
    elif style == "spring/self" and len(words) == 1:
        made = [{"type": "tether", "stiffness": [number(words[0])] * 3}]
    if made is None:
        return None
    if group != "all":
        made = [{**force, "on": script.use(group)} for force in made]
    return made
