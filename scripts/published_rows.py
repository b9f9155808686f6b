"""Rows of scripts/published-table. Each takes a runner and whether the runs are to be short, and
yields dictionaries: what was measured, its value and error, what is published, and where."""
import concurrent.futures
import math
import statistics

import numpy


def mean_and_error(values, blocks=10):
    """With the standard error of the means of blocks."""
    parts = numpy.array([p.mean(axis=0) for p in numpy.array_split(numpy.asarray(values), blocks)])
    return parts.mean(axis=0), parts.std(axis=0, ddof=1) / math.sqrt(blocks)


def row(what, found, published, source, digits=4, **more):
    """found: a value, or a value with its error."""
    mean, error = found if isinstance(found, tuple) else (found, None)
    return {"what": what, "measured": round(float(mean), digits),
            "error": None if error is None else round(float(error), digits + 1),
            "published": published, "source": source, **more}


def xyz(edges, positions, **numbers):
    """An extended XYZ file of particles of one type, with a number each by name."""
    a, b, c = edges
    columns = "".join(f":{name}:R:1" for name in numbers)
    lines = [str(len(positions)),
             f'Lattice="{a} 0 0 0 {b} 0 0 0 {c}" Properties=species:S:1:pos:R:3{columns}']
    table = numpy.column_stack([positions, *numbers.values()])
    return "\n".join(lines + ["A " + " ".join(f"{x:.7f}" for x in of) for of in table]) + "\n"


def evenly(number, seed):
    """Numbers between 0 and 1, as even as can be, in random order: the same sizes in all systems,
    of which a distribution drawn anew would have others."""
    return numpy.random.default_rng(seed).permutation((numpy.arange(number) + 0.5) / number)


def grid(numbers, steps):
    """Sites in the middle of cells."""
    sites = numpy.array(list(numpy.ndindex(*numbers)), float) + 0.5
    return sites * numpy.array(steps)


def fcc(numbers, edge):
    basis = numpy.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2 + 0.25
    cells = numpy.array(list(numpy.ndindex(*numbers)), float)
    return (cells[:, None] + basis[None]).reshape(-1, 3) * edge


def slab_densities(frames, edges, axis, width, blocks=5):
    """Densities of the two phases of a slab, the less and the more dense one, with errors from
    blocks of frames, and the mean profile in bins that are about `width` wide: of each frame the
    slab is put into the middle (by the phase of the longest wave), and particles are counted within
    an eighth of the box around its middle, and around its border. At both ends weights fall to 0
    over `width`: where that is a multiple of a crystal's layers their places do not matter."""
    length = float(edges[axis])
    bins = int(length / width)
    area = float(numpy.prod(edges)) / length
    half = length / 16 + width / 2
    profiles, densities = [], []
    for x in frames:
        at = x[:, axis] / length
        middle = numpy.angle(numpy.exp(2j * math.pi * at).mean()) / (2 * math.pi)
        places = (at - middle + 0.5) % 1
        profiles.append(numpy.histogram(places, bins, (0, 1))[0] / (area * length / bins))
        away = length * abs(places - 0.5)
        densities.append([numpy.clip((half - d) / width + 0.5, 0, 1).sum() / (area * 2 * half)
                          for d in (length / 2 - away, away)])
    (low, high), errors = mean_and_error(densities, blocks)
    return (low, errors[0]), (high, errors[1]), numpy.array(profiles).mean(axis=0)


# -- hard spheres: a crystal beside its melt -------------------------------------------------------

HARD = {"type": "pair_formula", "energy": "if(r < 1, 1e6, 0)", "cutoff": 1.05,
        "pairs": [{"types": ["A", "A"]}]}


def carnahan_starling(packing):
    """P σ³/kT. N. F. Carnahan, K. E. Starling, J. Chem. Phys. 51, 635 (1969)."""
    z = (1 + packing + packing ** 2 - packing ** 3) / (1 - packing) ** 3
    return 6 / math.pi * packing * z


def hard_spheres(run, short):
    """A slab of the crystal beside the fluid, which melts or freezes until both are in equilibrium.
    The crystal fits into the box with the lattice constant of the published density, across the
    slab; along it the box gives the mean density. Errors are those of runs that begin alike: the
    density of the fluid wanders too slowly for blocks of one run."""
    across, layers, fluid, runs = (4, 10, 10, 3) if short else (6, 22, 23, 4)
    sweeps, trials = (16000, 4) if short else (40000, 8)
    edge = (4 * math.pi / 6 / 0.545) ** (1 / 3)
    width = across * edge
    crystal = fcc((across, across, layers), edge)
    # The fluid begins as a bcc crystal, which melts at once. Spheres on both sides of a gap are a
    # diameter apart, and with the gaps the packing is nearly that of the equilibrium.
    sites = round(width / 1.26)
    cell = numpy.array([width / sites, width / sites, 0])
    cell[2] = 2 * math.pi / 6 / (0.51 * cell[0] ** 2)
    gap = max(0, 1 - (edge + cell[2]) / 4) + 0.01
    liquid = grid((sites, sites, fluid), cell)
    liquid = numpy.concatenate([liquid - cell / 4, liquid + cell / 4])
    liquid[:, 2] += layers * edge + gap
    length = layers * edge + fluid * cell[2] + 2 * gap
    start = xyz((width, width, length), numpy.concatenate([crystal, liquid]))
    stage = {"type": "monte_carlo", "temperature": 1,
             "translation": {"displacement": 0.07, "trials": trials}}
    found = []
    for seed in range(3, 3 + runs):
        done = run(f"slab-{seed}", {
            "seed": seed, "system": {"type": "file", "path": "start.xyz"}, "forces": [HARD],
            "observers": [{"type": "trajectory", "stride": sweeps // 200, "stages": ["slab"]}],
            "stages": [{**stage, "name": "start", "sweeps": sweeps // 2},
                       {**stage, "name": "slab", "sweeps": sweeps}]}, {"start.xyz": start})
        low, high, profile = slab_densities(done.frames("position"), done.edges(), 2, edge)
        found.append([math.pi / 6 * low[0], math.pi / 6 * high[0], *(math.pi / 6 * profile)])
    mean, error = mean_and_error(found, runs)
    yield row("packing fraction of the fluid", (mean[0], error[0]), 0.492,
              "Odriozola, Berthier, arXiv 1010.5607, introduction", profile=[
                  round(x, 3) for x in mean[2:]])
    yield row("packing fraction of the crystal", (mean[1], error[1]), 0.545, "the same")
    slope = (carnahan_starling(mean[0] + 1e-4) - carnahan_starling(mean[0] - 1e-4)) / 2e-4
    yield row("pressure of coexistence, P σ³/kT: of the fluid by Carnahan and Starling",
              (carnahan_starling(mean[0]), slope * error[0]), "11.5727(10)",
              "Fernández, Martín-Mayor, Seoane, Verrocchio, arXiv 1103.2599, abstract", 2)


# -- Stockmayer's fluid ----------------------------------------------------------------------------

# Temperature, density, squared moment; energy of a particle and pressure by the equation of state
# of M. Mecke, A. Müller, J. Winkelmann, J. Vrabec, J. Fischer, R. Span, W. Wagner, Int. J.
# Thermophys. 17, 391 (1996) with the dipoles of B. Saager, J. Fischer, M. Neumann, Mol. Simul. 6,
# 27 (1991) in the form of C. Kriebel, J. Winkelmann, J. Chem. Phys. 105, 9316 (1996), as
# implemented by teqp 0.23.2 (2CLJF-Dipole, 2CLJF_Mecke, L = 0, and 4 times the squared moment).
STOCKMAYER = ((1.35, 0.8, 1, -6.085, 2.186), (1.35, 0.8, 2, -7.558, 1.491),
              (1.15, 0.822, 3, -9.818, 0.107), (2.0, 0.6, 2, -5.357, 1.218))


def stockmayer(run, short):
    """Energies and pressures of liquids of dipoles, with all their copies in a conductor."""
    cells, start, steps = (3, 4000, 12000) if short else (5, 15000, 100000)
    cutoff = 2.5 if short else 3.9
    for temperature, density, squared, energy, pressure in STOCKMAYER[:2 if short else None]:
        bath = {"type": "langevin", "timestep": 0.002, "temperature": temperature, "friction": 0.5,
                "rotational_friction": 0.05}
        done = run(f"{temperature}-{density}-{squared}", {
            "seed": 4, "system": {"type": "lattice", "structure": "fcc", "density": density,
                                  "cells": [cells] * 3},
            "orientations": {"start": "random", "moments_of_inertia": {"A": [0.1] * 3}},
            "velocity": {"temperature": temperature},
            "forces": [
                {"type": "lennard_jones", "cutoff": cutoff, "tail": True,
                 "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                {"type": "dipole_ewald", "cutoff": cutoff, "moments": {"A": math.sqrt(squared)},
                 "accuracy": 3e-3}],
            "observers": [{"type": "thermo", "stride": 10, "stages": ["liquid"]}],
            "stages": [{"type": "md", "name": name, "steps": n, "integrator": bath}
                       for name, n in (("start", start), ("liquid", steps))]})
        at = f"T* = {temperature}, density {density}, squared moment {squared}"
        source = "equation of Mecke et al. with the dipoles of Saager et al., by teqp"
        u = done.column("potential_energy") / (4 * cells ** 3)
        yield row("energy: " + at, mean_and_error(u), energy, source, 3)
        yield row("pressure: " + at, mean_and_error(done.column("pressure")), pressure, source, 3)


# -- Gay-Berne ellipsoids --------------------------------------------------------------------------

GAY_BERNE = {"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
             "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
# of mass 1, 3 long and 1 wide; they do not turn about their long axes
ELLIPSOIDS = {"moments_of_inertia": {"A": [0, 0.5, 0.5]}}


def ellipsoid_bath(temperature, timestep=0.002):
    return {"type": "langevin", "timestep": timestep, "temperature": temperature, "friction": 0.5,
            "rotational_friction": 0.25}


def nematic(run, short):
    """Order of GB(3, 5, 2, 1) at T* = 1.25 by the density: where it passes 0.4."""
    numbers, start, steps = ((3, 9, 9), 8000, 8000) if short else ((5, 14, 14), 100000, 200000)
    densities = [0.28, 0.36] if short else [0.30, 0.31, 0.315, 0.32, 0.325, 0.33, 0.34]

    def aligned(density):
        spacing = numpy.array([3.05, (3.05 * density) ** -0.5, (3.05 * density) ** -0.5])
        return xyz(numbers * spacing, grid(numbers, spacing))
    done = run("order", {
        "seed": 28, "ensemble": {"vary": {"system.path": [
            f"start-{density}.xyz" for density in densities]}},
        "system": {"type": "file", "path": "start.xyz"},
        "orientations": {"start": "aligned", **ELLIPSOIDS}, "velocity": {"temperature": 1.25},
        "forces": [GAY_BERNE],
        "observers": [{"type": "orientational_order", "stride": 200, "stages": ["measured"]},
                      {"type": "thermo", "stride": 100, "stages": ["measured"]}],
        "stages": [{"type": "md", "name": name, "steps": n, "integrator": ellipsoid_bath(1.25)}
                   for name, n in (("start", start), ("measured", steps))]},
        {f"start-{density}.xyz": aligned(density) for density in densities})
    order = [mean_and_error(done.column("nematic_order", "orientational_order.h5", system), 5)
             for system in done.systems()]
    found = [mean for mean, _ in order]
    passed = numpy.interp(0.4, found, densities) if found == sorted(found) else next(
        (d for d, p in zip(densities, found) if p > 0.4), float("nan"))
    yield row("density at which the nematic order of GB(3, 5, 2, 1) passes 0.4, T* = 1.25",
              passed, "about 0.32",
              "de Miguel, Rull, Chalam, Gubbins, Mol. Phys. 74, 405: from memory, not read", 3,
              order={str(d): [round(float(x), 3) for x in p] for d, p in zip(densities, order)})


def critical(temperatures, low, high, exponent=0.325):
    """Critical temperature and density from those of two phases, by the scaling law of their
    difference and the law of rectilinear diameters."""
    t, low, high = (numpy.asarray(x, float) for x in (temperatures, low, high))
    slope, offset = numpy.polyfit(t, (high - low) ** (1 / exponent), 1)
    tc = -offset / slope
    return tc, numpy.polyval(numpy.polyfit(t, (high + low) / 2, 1), tc)


def ellipsoids_boil(run, short):
    """Liquid and vapour of GB(3, 5, 2, 1), as a slab, and the critical point by scaling."""
    temperatures = [0.42, 0.44] if short else [0.42, 0.43, 0.44, 0.45, 0.46]
    numbers, along, start, steps = ((3, 8, 8), 34, 6000, 10000) if short else (
        (5, 13, 8), 56, 150000, 350000)
    spacing = (3.3, 1.26, 1.26)
    # Ellipsoids along x in a slab across z.
    edges = (numbers[0] * spacing[0], numbers[1] * spacing[1], along)
    layers = round(0.097 * numpy.prod(edges) / (numbers[0] * numbers[1]))
    positions = grid((numbers[0], numbers[1], layers), spacing)
    positions[:, 2] += (along - layers * spacing[2]) / 2
    done = run("slab", {
        "seed": 6, "ensemble": {"vary": {
            f"stages[{k}].integrator.temperature": temperatures for k in (0, 1)}},
        "system": {"type": "file", "path": "start.xyz"},
        "orientations": {"start": "aligned", **ELLIPSOIDS}, "velocity": {"temperature": 0.45},
        "forces": [GAY_BERNE],
        "observers": [{"type": "trajectory", "stride": steps // 250, "stages": ["slab"]},
                      {"type": "orientational_order", "stride": 1000}],
        "stages": [{"type": "md", "name": name, "steps": n, "integrator": ellipsoid_bath(0.45)}
                   for name, n in (("start", start), ("slab", steps))]},
        {"start.xyz": xyz(edges, positions)})
    phases = []
    for t, system in zip(temperatures, done.systems()):
        low, high, _ = slab_densities(done.frames("position", system=system),
                                      done.edges(system=system), 2, 1.4)
        order = done.column("nematic_order", "orientational_order.h5", system)[-10:].mean()
        phases.append([low, high])
        yield row(f"densities of liquid and vapour of GB(3, 5, 2, 1), T* = {t}", high, None, "",
                  vapour=[round(float(x), 5) for x in low], order=round(float(order), 3))
    phases = numpy.array(phases)  # [temperature, phase, value or error]
    tc, density = critical(temperatures, phases[:, 0, 0], phases[:, 1, 0])
    rng = numpy.random.default_rng(1)
    drawn = numpy.array([critical(temperatures, *(
        phases[:, k, 0] + phases[:, k, 1] * rng.standard_normal(len(phases)) for k in (0, 1)))
        for _ in range(200)])
    source = ("Liquid-vapour coexistence of the Gay-Berne fluid by Gibbs-ensemble simulation, "
              "abstract")
    yield row("critical temperature of GB(3, 5, 2, 1)", (tc, drawn[:, 0].std()), "0.489(5)", source)
    yield row("critical density", (density, drawn[:, 1].std()), "0.096(4)", source)


# -- active Brownian discs -------------------------------------------------------------------------


def barker_henderson(epsilon):
    """Diameter of discs of the potential of Weeks, Chandler and Andersen, kT = 1."""
    r = numpy.linspace(0.5, 2 ** (1 / 6), 20001)
    u = epsilon * (4 * (r ** -12 - r ** -6) + 1)
    f = 1 - numpy.exp(-u)
    return 0.5 + float(((f[1:] + f[:-1]) / 2 * numpy.diff(r)).sum())


def active_discs(run, short):
    """Discs that swim, in a long box: their two phases at several Péclet numbers 3 v/(d D_r), and
    the critical point by scaling. kT = friction = 1, v = 24/d, d the diameter, ε = 100: which has
    the published diameter 1.10688 (all this from memory of the paper)."""
    epsilon, exponent = 100, 0.45
    d = barker_henderson(epsilon)
    numbers = [100] if short else [60, 70, 80, 100, 120]
    steps, timestep = (150000, 4e-5) if short else (2000000, 3e-5)
    across, along = (16, 48) if short else (36, 108)
    disc, speed = math.pi * d * d / 4, 24 / d
    # A hexagonal crystal of the packing fraction 0.85 in the middle of a dilute square one.
    total, spacing = round(0.6 * across * along / disc), d * math.sqrt(math.pi / 12 ** 0.5 / 0.85)
    columns = int(across / spacing)
    dense = grid((int(0.55 * along / spacing / 0.75 ** 0.5), columns, 1),
                 (spacing * 0.75 ** 0.5, across / columns, 0))
    dense[:, 1] += across / columns / 2 * (numpy.arange(len(dense)) // columns % 2)
    dense[:, 0] += (along - dense[:, 0].max()) / 2
    half, rest = along - numpy.ptp(dense[:, 0]) - 3, total - len(dense)
    across_of = round(math.sqrt(rest * across / half))
    along_of = -(-rest // across_of)
    dilute = grid((along_of, across_of, 1), (half / along_of, across / across_of, 0))[:rest]
    dilute[:, 0] = (dilute[:, 0] + dense[:, 0].max() + 1.5) % along
    positions = numpy.concatenate([dense, dilute])
    done = run("discs", {
        "seed": 27, "ensemble": {"vary": {"stages[0].integrator.rotational_diffusion": [
            3 * speed / (d * number) for number in numbers]}},
        "system": {"type": "file", "path": "start.xyz", "dimension": 2},
        "orientations": {"start": "random"},
        "forces": [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": epsilon,
                                              "sigma": 1}]}],
        "observers": [{"type": "trajectory", "stride": steps // 400}],
        "stages": [{"type": "md", "steps": steps, "integrator": {
            "type": "active_brownian", "timestep": timestep, "friction": 1, "temperature": 1,
            "speed": speed, "rotational_diffusion": 1}}]},
        {"start.xyz": xyz((along, across, 1), positions)})
    phases = []
    for number, system in zip(numbers, done.systems()):
        frames = done.frames("position", system=system)[150:]
        low, high, _ = slab_densities(frames, (along, across, 1), 0, 2)
        phases.append([[disc * x for x in low], [disc * x for x in high]])
        yield row(f"packing fraction of the gas, Péclet number {number}", tuple(phases[-1][0]),
                  None, "", dense=[round(float(x), 4) for x in phases[-1][1]])
    if len(numbers) < 3:
        return
    phases, inverse = numpy.array(phases), 1 / numpy.array(numbers, float)

    def fitted(values):
        x, density = critical(inverse, values[:, 0], values[:, 1], exponent)
        return 1 / x, density
    rng = numpy.random.default_rng(1)
    drawn = numpy.array([fitted(phases[:, :, 0] + phases[:, :, 1] * rng.standard_normal(
        phases.shape[:2])) for _ in range(200)])
    number, packing = fitted(phases[:, :, 0])
    source = "Siebert, Dittrich, Schmid, Binder, Speck, Virnau, arXiv 1712.02258, abstract"
    yield row("critical Péclet number", (number, drawn[:, 0].std()), "40(2)", source, 1)
    yield row("critical packing fraction", (packing, drawn[:, 1].std()), "0.597(3)", source)


# -- patchy particles of Kern and Frenkel ----------------------------------------------------------


def patches(half_angle, directions, width=1e-3):
    """Hard spheres with wells of the depth 1 that end at 1.5 where patches face each other."""
    return [HARD, {"type": "patchy", "cutoff": 1.501, "patches": {"A": {
        "directions": directions, "half_angle": half_angle, "steepness": 1e4}},
        "pairs": [{"types": ["A", "A"], "epsilon": 1, "core_epsilon": 0, "sigma": 1,
                   "attraction": "well", "range": 1.5 + width / 2, "width": width}]}]


def without_touch(energies):
    """Where two spheres touch, energies of a frame may find them a rounding nearer than the trial
    did that brought them there: a million for one sample of many."""
    return energies[energies < 1e5]


def kern_frenkel(run, short):
    """A few particles with two patches, 0.7 of their surface, at T* = 0.7 in a box of the edge 8;
    and patches that cover all: the fluid of the square well."""
    chi, beta, numbers = 0.7, 1 / 0.7, [2, 5] if short else [2, 3, 4, 5]
    published = {2: -0.03876, 3: -0.11652, 4: -0.23267, 5: -0.38780}
    half = math.degrees(2 * math.asin(math.sqrt(chi / 2)))
    orientations = {"start": "random", "moments_of_inertia": {"A": [1, 1, 1]}}
    done = run("few", {
        "seed": 9, "ensemble": {"vary": {"system.particles.A": numbers}},
        "system": {"type": "random", "particles": {"A": 2}, "box": [8, 8, 8], "min_distance": 1.05},
        "orientations": orientations, "forces": patches(half, [[1, 0, 0], [-1, 0, 0]]),
        "observers": [{"type": "thermo", "stride": 1}],
        "stages": [{"type": "monte_carlo", "sweeps": 30000 if short else 300000,
                    "temperature": 1 / beta, "translation": {"displacement": 2, "trials": 10},
                    "rotation": {"angle": 3.1, "trials": 10}}]}, device="cpu")
    well, core = 4 * math.pi / 3 * (1.5 ** 3 - 1) * chi ** 2, 4 * math.pi / 3
    exact = -well * math.exp(beta) / (512 - core + well * math.expm1(beta))
    for n, system in zip(numbers, done.systems()):
        found = mean_and_error(
            without_touch(done.column("potential_energy", system=system)[100:]), 50)
        yield row(f"energy of {n} Kern-Frenkel particles, χ = 0.7, T* = 0.7, V = 512", found,
                  published[n], "FEASST (NIST), tutorial launch_09_kf_tm_parallel.py", 5,
                  **({"exact": round(exact, 5)} if n == 2 else {}))
    sweeps = 1500 if short else 12000
    # Of the equation, which is 0.9 % off at the second state, and of a program that looks at all
    # pairs (docs/measurements/published.md).
    for temperature, density, energy, pressure, all_pairs in (
            (1.5, 0.5, -3.804, 0.569, "-3.795(2)"), (2.0, 0.7, -5.132, 4.471, "-5.178(1)")):
        done = run(f"well-{temperature}", {
            "seed": 10, "system": {"type": "lattice", "structure": "fcc", "density": density,
                                   "cells": [5] * 3},
            "orientations": orientations, "forces": patches(180, [[1, 0, 0]]),
            "observers": [{"type": "thermo", "stride": 2, "stages": ["fluid"]},
                          {"type": "rdf", "stride": 10, "rows_every": sweeps // 10, "r_max": 1.6,
                           "bins": 800, "stages": ["fluid"]}],
            "stages": [{"type": "monte_carlo", "name": name, "sweeps": n,
                        "temperature": temperature,
                        "translation": {"displacement": 0.15, "trials": 2}}
                       for name, n in (("start", sweeps // 4), ("fluid", sweeps))]}, device="cpu")
        found = mean_and_error(without_touch(done.column("potential_energy")) / 500)
        source = "equation of Espíndola-Heredia, del Río, Malijevský, by teqp 0.23.2"
        at = f"fluid of the square well (patches all over), T* = {temperature}, density {density}"
        yield row("energy: " + at, found, energy, source, 3, all_pairs=all_pairs)
        yield row("pressure: " + at, well_pressure(done, density, temperature), pressure, source, 2)


def well_pressure(done, density, temperature):
    """From the values of g(r) on both sides of the core and of the end of the well, which are lines
    through bins nearby, of each row."""
    with done.open("rdf.h5") as h:
        r, rows = h["observables/r/value"][-1], h["observables/rdf/value"][1:, 0]

    def at(x, low, high, g):
        near = (r > low) & (r < high)
        return numpy.polyval(numpy.polyfit(r[near] - x, g[near], 2), 0)
    end, jump = 1.5, 1 - math.exp(-1 / temperature)
    found = [density * temperature * (1 + 2 * math.pi / 3 * density * (
        at(1, 1.001, 1.06, g) - end ** 3 * jump * at(end, end - 0.06, end - 0.001, g)))
        for g in rows]
    return mean_and_error(found, len(found))


# -- polydisperse spheres near their glass ---------------------------------------------------------

STEEP = {"type": "pair_formula", "truncation": "cut", "cutoff": 1.4,
         "energy": "a*((s/r)^50 - (s/r)^49) + 1; s = (sigma_1 + sigma_2)/2",
         "range": "50/49*(sigma_1 + sigma_2)/2",
         "pairs": [{"types": ["A", "A"], "a": 50 * (50 / 49) ** 49}]}


def diffusivity(done, system, least):
    """From the slope of the mean square displacement beyond `least`; None if it stays below."""
    lag, moved, origins = (
        done.column(name, "mean_square_displacement.h5", system)[-1]
        for name in ("lag_time", "mean_square_displacement", "origins"))
    moved = moved.reshape(-1, len(lag))[0]
    kept = (lag > 0) & (moved > least) & (lag < 0.3 * lag[origins > 0].max())
    if kept.sum() < 4:
        return None
    return numpy.polyfit(lag[kept], moved[kept], 1, w=1 / moved[kept])[0] / 6


def power_law(x, y, ends):
    """The end x_c, of those given, at which log y is most nearly linear in log |x - x_c|, with the
    exponent, and how far ends go whose misfit is at most twice as large in square."""
    found = []
    for end in ends:
        line = numpy.polyfit(numpy.log(abs(x - end)), numpy.log(y), 1)
        misfit = numpy.log(y) - numpy.polyval(line, numpy.log(abs(x - end)))
        found.append((float((misfit ** 2).mean()), end, line[0]))
    best = min(found)
    near = [end for misfit, end, _ in found if misfit <= 2 * best[0]]
    return best[1], best[2], (max(near) - min(near)) / 2


def hard_glass(run, short):
    """Spheres that are nearly hard, of many sizes (Gauss, 8 %): where their diffusivity would end.
    The repulsion is that of Jover et al., which at kT = 1.5 stands for hard spheres."""
    kt, spread = 1.5, 0.08
    packings = [0.50, 0.575] if short else [0.52, 0.53, 0.54, 0.55, 0.555, 0.56, 0.565, 0.57, 0.575]
    edge, start, steps = (8, 8000, 30000) if short else (12, 400000, 1200000)
    n, normal = edge ** 3, statistics.NormalDist(1, spread)
    sigma = numpy.array([normal.inv_cdf(u) for u in evenly(n, 12)])
    cube = math.pi / 6 * (sigma ** 3).mean()

    def simple_cubic(packing):
        spacing = (cube / packing) ** (1 / 3)
        return xyz([edge * spacing] * 3, grid([edge] * 3, [spacing] * 3), sigma=sigma)
    bath = {"type": "bussi", "timestep": 0.001, "temperature": kt, "tau": 1}
    done = run("spheres", {
        "seed": 12, "ensemble": {"vary": {"system.path": [
            f"start-{packing}.xyz" for packing in packings]}},
        "system": {"type": "file", "path": "start.xyz"}, "velocity": {"temperature": kt},
        "forces": [STEEP],
        "observers": [{"type": "mean_square_displacement", "stride": 100, "rows_every": steps,
                       "particles": 0, "stages": ["measured"]},
                      {"type": "thermo", "stride": 100, "stages": ["measured"]}],
        "stages": [
            {"type": "md", "name": "push off", "steps": 20000,
             "integrator": {"type": "fire", "force_tolerance": 1}},
            {"type": "md", "name": "start", "steps": start, "integrator": {**bath, "tau": 0.1}},
            {"type": "md", "name": "measured", "steps": steps, "integrator": bath}]},
        {f"start-{packing}.xyz": simple_cubic(packing) for packing in packings})
    x, y = [], []
    for packing, system in zip(packings, done.systems()):
        found = diffusivity(done, system, 0.3)
        if found is None:
            continue
        x.append(packing)
        y.append(found / math.sqrt(kt))
        yield row(f"diffusivity at the packing fraction {packing}, in σ sqrt(kT/m)", y[-1], None,
                  "", 6, compressibility_factor=round(float(
                      done.column("pressure", system=system).mean() * cube / packing / kt), 3))
    if len(x) > 3:
        end, exponent, width = power_law(numpy.array(x), numpy.array(y), numpy.arange(
            max(x) + 0.001, max(x) + 0.05, 0.0005))
        yield row("packing fraction at which the diffusivity would end", (end, width),
                  "about 0.585", "Zaccarelli et al., arXiv 0910.3901, abstract: hard "
                  "spheres of up to 8.5 %", exponent=round(float(exponent), 2))


# -- a liquid of many sizes, with and without exchanges --------------------------------------------

MANY_SIZES = {
    "type": "pair_formula", "cutoff": 2.01,
    "energy": "x^-12 - c0 + c2*x^2 - c4*x^4; x = r/((s_1 + s_2)/2*(1 - 0.2*abs(s_1 - s_2)))",
    "range": "1.25*(s_1 + s_2)/2*(1 - 0.2*abs(s_1 - s_2))",
    "pairs": [{"types": ["A", "A"], "c0": 1.924145349, "c2": 2.111062325, "c4": 0.591097451}]}


def decay(times, values):
    """When a function of times passes 1/e, between logarithms of times; None if it does not."""
    below = numpy.flatnonzero(values < math.exp(-1))
    if not len(below) or below[0] == 0:
        return None
    k = below[0]
    t = numpy.log(times[k - 1:k + 1])
    return math.exp(numpy.interp(-math.exp(-1), -values[k - 1:k + 1], t))


def collective(frames, edge, low=6.6, high=7.4):
    """F(k, t)/S(k) of all wave vectors of these lengths, for lags of 1, 2, … frames."""
    top = int(high * edge / (2 * math.pi)) + 1
    waves = numpy.array(list(numpy.ndindex(*[2 * top + 1] * 3))) - top
    length = numpy.sqrt((waves ** 2).sum(1)) * 2 * math.pi / edge
    half = (waves @ [1, 1e-3, 1e-6]) > 0
    waves = waves[(length > low) & (length < high) & half] * 2 * math.pi / edge
    if len(waves) > 80:
        waves = waves[numpy.random.default_rng(1).permutation(len(waves))[:80]]
    modes = numpy.array([numpy.exp(1j * (x.astype(float) @ waves.T)).sum(0) for x in frames])
    lags = numpy.unique(numpy.round(1.25 ** numpy.arange(0, 60)).astype(int))
    lags = lags[lags < len(frames) // 2]
    square = (abs(modes) ** 2).mean()
    return lags, numpy.array([(modes[:-n] * modes[n:].conj()).real.mean() / square for n in lags])


def swaps(run, short):
    """Relaxation of the particles of Ninarello, Berthier and Coslovich by displacements alone, and
    with exchanges, in sweeps; and the temperature at which the former would end. All are brought
    into equilibrium with exchanges."""
    plain = [0.25, 0.15] if short else [0.2, 0.18, 0.165, 0.15, 0.14, 0.13, 0.12, 0.115]
    cold = [0.15] if short else [0.13, 0.12, 0.11, 0.1, 0.09]
    edge, start, sweeps = (7, 300, 4000) if short else (10, 6000, 50000)
    stride = sweeps // 1000
    # The distribution is proportional to 1/s³ between these two diameters.
    size = (0.725 ** -2 - evenly(edge ** 3, 5) * (0.725 ** -2 - 1.606 ** -2)) ** -0.5
    move = {"type": "monte_carlo", "temperature": 0.6, "translation": {"displacement": 0.07}}
    exchanges = {"swap": {"attribute": "s", "difference": 0.2, "trials": 0.3}}

    def job(temperatures, more):
        return {
            "seed": 11, "ensemble": {"vary": {
                f"stages[{k}].temperature": temperatures for k in (2, 3)}},
            "system": {"type": "file", "path": "start.xyz"}, "forces": [MANY_SIZES],
            "observers": [
                {"type": "trajectory", "stride": stride, "stages": ["measured"]},
                {"type": "mean_square_displacement", "stride": 4, "rows_every": sweeps,
                 "wave_numbers": [7.0], "levels": 16, "stages": ["measured"]}],
            "stages": [{"type": "md", "name": "relax", "steps": 1000,
                        "integrator": {"type": "fire", "force_tolerance": 1}},
                       {**move, "name": "liquid", "sweeps": 300},
                       {**move, **exchanges, "name": "cooled", "sweeps": start},
                       {**move, **more, "name": "measured", "sweeps": sweeps}]}
    files = {"start.xyz": xyz([edge] * 3, grid([edge] * 3, [1] * 3), s=size)}
    with concurrent.futures.ThreadPoolExecutor() as both:  # each has threads of its own
        runs = [both.submit(run, name, job(of, more), files, "cpu") for name, of, more in (
            ("plain", plain, {}), ("swap", cold, exchanges))]
    of_self, of_all, with_swaps = {}, {}, {}
    for done, temperatures, found in zip((r.result() for r in runs), (plain, cold),
                                         (of_all, with_swaps)):
        for t, system in zip(temperatures, done.systems()):
            lags, f = collective(done.frames("position", system=system), edge)
            found[t] = decay(lags * stride, f)
            if found is of_all:
                lag, f = (done.column(key, "mean_square_displacement.h5", system)[-1].reshape(-1)
                          for key in ("lag_time", "self_scattering"))
                of_self[t] = decay(lag, f)
    for what, found in (("of single particles, displacements alone", of_self),
                        ("of the structure, displacements alone", of_all),
                        ("of the structure, with exchanges", with_swaps)):
        for t, tau in found.items():
            yield row(f"sweeps in which correlations {what}, decay to 1/e at k = 7, T = {t}",
                      float("nan") if tau is None else tau, None, "", 0)
    known = numpy.array([[t, tau] for t, tau in of_self.items() if tau and t <= 0.2])
    if len(known) > 3:
        end, exponent, width = power_law(*known.T, numpy.arange(
            known[:, 0].min() - 0.04, known[:, 0].min() - 0.001, 0.0005))
        yield row("temperature at which these times would diverge by a power law", (end, width),
                  "0.108; about 0.1", "Shakerpoor, Flenner, Szamel, doi.org/10.1039/c9sm02022e; "
                  "Nishikawa et al., Relaxation dynamics in the energy landscape …, 2022",
                  exponent=round(float(-exponent), 2))


ROWS = {"hard_spheres": hard_spheres, "stockmayer": stockmayer, "nematic": nematic,
        "ellipsoids_boil": ellipsoids_boil, "active_discs": active_discs,
        "kern_frenkel": kern_frenkel, "hard_glass": hard_glass, "swaps": swaps}
