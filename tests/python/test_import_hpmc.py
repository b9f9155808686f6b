"""`perrin import hoomd` of Monte Carlo with potentials, walls and fields, of periodic fields and
directions that diffuse: against HOOMD-blue's formulas in numpy, and theory."""
import itertools

import numpy as np
import pytest
from test_import_hoomd import ACTIVE, GOES, NVE, START, imported, plain, simulated

from perrin.hoomd.gsd_file import Frame, type_names, write

EDGE = 7.2
BEGIN = """import hoomd
mc = hoomd.hpmc.integrate.Sphere(default_d=0.1, kT=1.5)
mc.shape["A"] = dict(diameter=%g)
mc.shape["B"] = dict(diameter=%g)
sim = hoomd.Simulation(device=hoomd.device.CPU(), seed=1)
sim.operations.integrator = mc
sim.create_state_from_gsd("state.gsd")
%s
sim.run(%d)
"""


def two_types(path, tilt=0.0):
    """216 particles of the types A and B in turns; the box leans by xy = tilt."""
    plain(path)
    data = dict(Frame(str(path)).data)
    data["particles/types"] = type_names(["A", "B"])
    data["particles/typeid"] = (np.arange(216) % 2).astype("u4")
    data["configuration/box"] = np.array([EDGE] * 3 + [tilt, 0, 0], "f4")
    r = data["particles/position"].copy()
    r[:, 0] += np.float32(tilt) * r[:, 1]
    data["particles/position"] = r
    write(str(path), data)
    return r.astype(float), np.arange(216) % 2


def pairs_of(r):
    i, j = np.triu_indices(len(r), 1)
    d = r[i] - r[j]
    return i, j, np.linalg.norm(d - EDGE * np.round(d / EDGE), axis=1)


def lennard_jones(d, epsilon, sigma, cut):
    return np.where(d < cut, 4 * epsilon * ((sigma / d) ** 12 - (sigma / d) ** 6), 0)


def steps(d):
    return np.where(d < 1.15, 2.0, np.where(d < 1.6, -0.7, np.where(d < 2.1, 0.3, 0.0)))


POTENTIALS = {
    "lennard-jones": ("""lj = hoomd.hpmc.pair.LennardJones(default_r_cut=2.0)
lj.params[("A", "A")] = dict(epsilon=1.0, sigma=1.0)
lj.params[("A", "B")] = dict(epsilon=0.5, sigma=0.9, r_cut=1.5)
lj.params[("B", "B")] = dict(epsilon=0.0, sigma=1.0, r_cut=0)
mc.pair_potentials = [lj]""", lambda d, pair: [
        lennard_jones(d, 1.0, 1.0, 2.0), lennard_jones(d, 0.5, 0.9, 1.5), 0 * d][pair]),
    "shifted": ("""lj = hoomd.hpmc.pair.LennardJones(2.2, mode="shift")
lj.params[(["A", "B"], ["A", "B"])] = dict(epsilon=1.0, sigma=1.0)
mc.pair_potentials.append(lj)""", lambda d, pair: lennard_jones(d, 1, 1, 2.2) - np.where(
        d < 2.2, lennard_jones(np.array(2.1999999), 1, 1, 2.2), 0)),
    "steps": ("""step = hoomd.hpmc.pair.Step()
step.params[("A", "A")] = dict(epsilon=[2.0, -0.7, 0.3], r=[1.15, 1.6, 2.1])
step.params[("A", "B")] = dict(epsilon=[-0.4], r=[1.7])
step.params[("B", "B")] = None
mc.pair_potentials = [step]""", lambda d, pair: [
        steps(d), np.where(d < 1.7, -0.4, 0), 0 * d][pair]),
}


@pytest.mark.parametrize("name", POTENTIALS)
def test_energies_of_pairs(tmp_path, name):
    """Single precision of the parts: 3e-6 of their magnitudes."""
    r, kind = two_types(tmp_path / "state.gsd")
    lines, energy = POTENTIALS[name]
    result = imported(tmp_path, BEGIN % (0, 0, lines, 5))
    assert not result.not_understood, result.not_understood
    assert result.job["stages"][0]["temperature"] == 1.5
    i, j, d = pairs_of(r)
    parts = [energy(d[kind[i] + kind[j] == pair], pair) for pair in range(3)]
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(
            sum(p.sum() for p in parts), abs=3e-6 * sum(np.abs(p).sum() for p in parts))
        sim.run()


def test_cores_beside_a_potential(tmp_path):
    """Spheres with a diameter do not overlap, whatever else acts; after 20 sweeps they have not."""
    two_types(tmp_path / "state.gsd")
    result = imported(tmp_path, BEGIN % (0.9, 0.5, POTENTIALS["lennard-jones"][0], 20))
    assert not result.not_understood, result.not_understood
    hard, lj = result.job["forces"]
    assert [p["barrier"] for p in hard["pairs"]] == [1.5e6] * 3
    assert [p["diameter"] for p in hard["pairs"]] == pytest.approx([0.9, 0.7, 0.5])
    assert lj["type"] == "lennard_jones"
    with simulated(tmp_path, result) as sim:
        kind, before = np.array(sim.types), sim.positions.copy()
        sim.run()
        i, j, d = pairs_of(sim.positions)
        assert (d > np.array([0.9, 0.5])[kind][np.array([i, j])].mean(axis=0) - 1e-6).all()
        assert np.abs(sim.positions - before).max() > 0.1


WALLS = {
    "hoomd.wall.Sphere(radius=5.0, origin=(0.1, 0, 0.2))":
        lambda r: 5.0 - np.linalg.norm(r - [0.1, 0, 0.2], axis=1),
    "hoomd.wall.Cylinder(radius=0.3, axis=(0, 0, 1), origin=(0.6, 0.6, 0), inside=False)":
        lambda r: np.linalg.norm((r - [0.6, 0.6, 0])[:, :2], axis=1) - 0.3,
    "hoomd.wall.Plane(origin=(0, 0, -1.2), normal=(0, 0, 2))": lambda r: r[:, 2] + 1.2,
}


@pytest.mark.parametrize("wall", WALLS)
def test_hard_walls(tmp_path, wall):
    """As many particles overlap with a wall as there are nearer to it than their radius."""
    r, kind = two_types(tmp_path / "state.gsd")
    line = f"mc.external_potential = hoomd.hpmc.external.WallPotential([{wall}])"
    result = imported(tmp_path, BEGIN % (0.6, 0.2, line, 0))
    assert not result.not_understood, result.not_understood
    over = (WALLS[wall](r) < np.array([0.3, 0.1])[kind]).sum()
    i, j, d = pairs_of(r)
    assert (d > 0.6).all() and 0 < over < 216
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(1.5e6 * over, rel=1e-6)


def test_a_linear_field(tmp_path):
    r, kind = two_types(tmp_path / "state.gsd")
    line = """field = hoomd.hpmc.external.Linear(0.5, plane_origin=(0, 0.3, 0), \
plane_normal=(0, 0.6, 0.8))
field.alpha["B"] = -2.0
mc.external_potentials = [field]"""
    result = imported(tmp_path, BEGIN % (0, 0, line, 3))
    assert not result.not_understood, result.not_understood
    parts = np.array([0.5, -2.0])[kind] * ((r - [0, 0.3, 0]) @ [0, 0.6, 0.8])
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(parts.sum(), abs=3e-6 * np.abs(parts).sum())
    long = imported(tmp_path, BEGIN % (0, 0, line.replace("0.6, 0.8", "6, 8"), 3))
    assert any("of the length 1" in why for _, why in long.not_understood)


@pytest.mark.parametrize("line, said", [
    ("mc.pair_potentials = [hoomd.hpmc.pair.Zetterling()]", "hpmc.pair.Zetterling"),
    ("mc.external_potentials = [hoomd.hpmc.external.Harmonic()]", "hpmc.external.Harmonic"),
    ("mc.pair_potentials = [potential]", "potential"),
    ("mc.d['A'] = 0.2", "types that move by different distances"),
    (POTENTIALS["steps"][0].replace("r=[1.7]", "r=[1.7, 2]"), "as many epsilon as r")])
def test_what_is_listed(tmp_path, line, said):
    two_types(tmp_path / "state.gsd")
    told = imported(tmp_path, BEGIN % (0.5, 0.5, line, 3)).not_understood
    assert any(said in why for _, why in told), [why for _, why in told]


PERIODIC = """field = hoomd.md.external.field.Periodic()
field.params["A"] = dict(A=1.5, i=%d, w=0.05, p=2)
field.params["B"] = dict(A=-0.5, i=0, w=0.3, p=1)
lj.params[(["A", "B"], ["A", "B"])] = {"epsilon": 0.0, "sigma": 1.0}
integrator.forces.append(field)
"""


@pytest.mark.parametrize("axis, tilt", [(1, 0.25), (2, 0.0)])
def test_a_periodic_field(tmp_path, axis, tilt):
    """A tanh(cos(p b r)/(2 pi p w)), b: 2 pi times the axes of the inverse of the box."""
    r, kind = two_types(tmp_path / "state.gsd", tilt)
    result = imported(tmp_path, START + GOES.format(NVE, PERIODIC % axis))
    assert not result.not_understood, result.not_understood
    shares = np.linalg.solve(np.array([[1, tilt, 0], [0, 1, 0], [0, 0, 1]]) * EDGE, r.T)
    parts = np.where(
        kind == 0,
        1.5 * np.tanh(np.cos(2 * 2 * np.pi * shares[axis]) / (2 * np.pi * 2 * 0.05)),
        -0.5 * np.tanh(np.cos(2 * np.pi * shares[0]) / (2 * np.pi * 0.3)))
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(parts.sum(), abs=3e-6 * np.abs(parts).sum())
        sim.run()
    pressed = NVE.replace("ConstantVolume(everything", "ConstantPressure(everything, S=1, tauS=1, "
                          "couple='xyz', thermostat=hoomd.md.methods.thermostats.Bussi(kT=1)")
    told = imported(tmp_path, START + GOES.format(pressed, PERIODIC % axis)).not_understood
    assert any("a box that changes" in why for _, why in told), told


def test_directions_in_three_dimensions(tmp_path):
    """A turn by an angle of the variance 2 D dt about one axis across the direction: <cos> is
    exp(-D t). That of a job, free rotation, has <cos^2> = (1 + 2 exp(-3 D t))/3: to five standard
    errors of 512 particles."""
    n, d, count, dt = 8, 1.5, 200, 0.002
    sites = np.array(list(itertools.product(range(n), repeat=3)))
    write(str(tmp_path / "state.gsd"), {
        "configuration/box": np.array([16.0, 16, 16, 0, 0, 0], "f4"),
        "particles/N": np.array([n ** 3], "u4"), "particles/types": type_names(["A"]),
        "particles/position": (2.0 * sites - 7).astype("f4")})
    text = ACTIVE.replace("ConstantVolume(", "Brownian(kT=0.7, ").replace("sim.run(0)", f"""
turn = hoomd.md.update.ActiveRotationalDiffusion(1, pair, rotational_diffusion={d})
sim.operations += turn
sim.run({count})""")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    with simulated(tmp_path, result) as sim:
        sim.run()
        w, x, y, z = sim.orientations.T
    cosine = 1 - 2 * (y ** 2 + z ** 2)
    mean = np.exp(-d * count * dt)
    error = np.sqrt(((1 + 2 * mean ** 3) / 3 - mean ** 2) / n ** 3)
    assert np.mean(cosine) == pytest.approx(mean, abs=5 * error) and error < 0.025


def test_a_box_that_changes_beside_trials(tmp_path):
    """The box is that of HOOMD-blue at the end of the ramp, also where that ends within a run; the
    spheres have been moved apart, and none overlaps."""
    two_types(tmp_path / "state.gsd")
    lines = f"""ramp = hoomd.variant.Ramp(A=0, B=1, t_start=0, t_ramp=50)
resize = hoomd.update.BoxResize(box1=hoomd.Box.cube({EDGE}), box2=hoomd.Box.cube({0.9 * EDGE}),
                                variant=ramp, trigger=hoomd.trigger.Periodic(%d))
sim.operations.updaters.append(resize)"""
    result = imported(tmp_path, BEGIN % (0.5, 0.5, lines % 10, 70))
    assert not result.not_understood, result.not_understood
    stages = result.job["stages"]
    assert sum(s.get("sweeps", 0) for s in stages) == 70
    edges = [s["deform"]["x"] for s in stages if s["type"] == "md"]
    assert edges == pytest.approx([EDGE * (1 - 0.1 * k / 5) for k in range(1, 6)])
    with simulated(tmp_path, result) as sim:
        sim.run()
        r, edge = sim.positions, 0.9 * EDGE
        assert sim.box.lengths == pytest.approx([edge] * 3, rel=1e-6)
        i, j = np.triu_indices(len(r), 1)
        d = r[i] - r[j]
        assert np.linalg.norm(d - edge * np.round(d / edge), axis=1).min() > 0.5 - 1e-5
    rare = imported(tmp_path, BEGIN % (0.5, 0.5, lines % 40, 70))
    assert [s["type"] for s in rare.job["stages"]] == ["md", "monte_carlo"]
    press = "hoomd.hpmc.update.QuickCompress(10, hoomd.Box.cube(6))"
    quick = imported(tmp_path, BEGIN % (0.5, 0.5, f"sim.operations.updaters.append({press})", 5))
    assert any("hpmc.update.QuickCompress" in why for _, why in quick.not_understood)
