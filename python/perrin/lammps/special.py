"""special_bonds: which pairs along bonds are left out of pair forces, and pairs three bonds apart
that act with a weight, as special_pairs and special_coulomb of a job."""
import numpy as np

from perrin.importing.lines import NotUnderstood

CHARGES = ("coulomb", "coulomb_dsf", "debye_hueckel", "ewald")
FALLING = "S*4*epsilon*((sigma/r)^12 - (sigma/r)^6)"  # of perrin.lammps.charmm
EXCLUSIONS = {(1, 1, 1): [], (0, 1, 1): ["bonds"], (0, 0, 1): ["bonds", "angles"],
              (0, 0, 0): ["bonds", "angles", "dihedrals"]}


def of_charges(force):
    """Whether a force is one between charges, by its type or as a formula."""
    return force["type"] in CHARGES or "charge_1" in str(force.get("energy", ""))


def exclusions(script, job, line):
    """`neighbors.exclusions` of a job that has bonds, and what is added for pairs with weights."""
    pairs, charged = tuple(script.special), any(map(of_charges, job["forces"]))
    charges = tuple(script.special_charges) if charged else pairs
    job["neighbors"] = {"exclusions": EXCLUSIONS.get(pairs, EXCLUSIONS[0, 0, 0])}
    try:
        listed(script, pairs, charges)
        if pairs in EXCLUSIONS and charges == pairs:
            return
        if not three_apart(script):
            pairs, charges = (*pairs[:2], pairs[1]), (*charges[:2], charges[1])
            if pairs in EXCLUSIONS and charges == pairs:
                job["neighbors"] = {"exclusions": EXCLUSIONS[pairs]}
                return
        made = weighted(script, job["forces"], pairs, charges)
    except NotUnderstood as error:
        script.result.not_understood.append((line, str(error)))
        return
    job["neighbors"] = {"exclusions": EXCLUSIONS[0, 0, 0]}
    job["forces"] = job["forces"] + made


def listed(script, pairs, charges):
    """Weights of LAMMPS are along bonds: with `angle yes` of ends of angles alone, and those of no
    angle, or dihedral, act. A job leaves the ends of all angles and dihedrals out, too."""
    for k, (kind, wanted) in enumerate(script.special_listed.items(), 1):
        if wanted and (pairs[k] != 1 or charges[k] != 1):
            found = apart(script.start.lists["bond"][1])[k]
            if found - ends(script.start.lists.get(kind)):
                raise NotUnderstood(f"special_bonds {kind} yes, and pairs along {k + 1} bonds that "
                                    f"are no ends of {kind}s")
    made = script.atoms if script.atoms is not None else script.data_particles
    if made is None or not {"angle", "dihedral"} & set(made.lists):
        return
    known = set()
    for k, (kind, found) in enumerate(zip(("bond", "angle", "dihedral"),
                                          apart(made.lists["bond"][1]))):
        known |= found
        if not pairs[k] and ends(made.lists.get(kind)) - known:
            raise NotUnderstood(f"ends of {kind}s that no bonds join: they act on each other in "
                                "LAMMPS, and in a job do not")


def ends(entry):
    """Pairs of ids at the ends of bonds, angles or dihedrals."""
    return set() if entry is None else {(min(row[0], row[-1]), max(row[0], row[-1]))
                                        for row in entry[1].tolist()}


def apart(bonds):
    """[pairs of ids, the lower one first, that are one, two, three bonds apart]."""
    near, made = {}, []
    for a, b in bonds.tolist():
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    far = {a: {a} for a in near}  # ends of ways of so many bonds
    for _ in range(3):
        far = {a: set().union(*(near[b] for b in tips)) for a, tips in far.items()}
        made.append({(a, b) for a, tips in far.items() for b in tips if a < b})
    return made


def three_apart(script):
    """Whether there are pairs three bonds apart: a bond with another one at both ends."""
    _, members = script.start.lists["bond"]
    ends = script.start.index(members)
    count = np.bincount(ends.ravel(), minlength=len(script.start))
    return bool((count[ends] > 1).all(axis=1).any())


def weighted(script, forces, pairs, charges):
    if any(pairs[:2]) or any(charges[:2]):
        raise NotUnderstood(f"special_bonds with weights {pairs} of pairs and {charges} of "
                            "charges: expected 0 for pairs one and two bonds apart")
    made, acting = [], [f for f in forces if "pairs" in f]
    if pairs[2]:
        acting = [f for f in acting if not of_charges(f)]
        if any(f["type"] != "lennard_jones" and not f.get("energy", "").startswith(FALLING)
               for f in acting) or len(acting) > 1:
            raise NotUnderstood(f"special_bonds with the weight {pairs[2]} of pairs three bonds "
                                "apart, and other pair styles than Lennard-Jones")
        for force in acting:
            script.result.changed.append((script.pairs.lines[-1], "pairs three bonds apart have "
                                          "Lennard-Jones without shift and without end"))
            made.append({"type": "special_pairs", "scale": pairs[2], "pairs": [
                {k: e[k] for k in ("types", "epsilon", "sigma")} for e in force["pairs"]]})
    if charges[2]:
        found = [f for f in forces if of_charges(f)]
        if found and found[0]["type"] not in ("ewald", "coulomb"):
            raise NotUnderstood(f"special_bonds with the weight {charges[2]} of charges three "
                                f"bonds apart, and {found[0]['type']}")
        made += [{"type": "special_coulomb", "scale": charges[2],
                  **({"coulomb": f["coulomb"]} if "coulomb" in f else {})} for f in found]
    return made
