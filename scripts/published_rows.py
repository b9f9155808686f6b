"""Rows of scripts/published-table. Each takes a runner and whether the runs are to be short, and
yields dictionaries: what was measured, its value and error, what is published, and where."""
import math

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


def xyz(edges, positions):
    """An extended XYZ file of particles of one type."""
    a, b, c = edges
    lines = [str(len(positions)), f'Lattice="{a} 0 0 0 {b} 0 0 0 {c}" Properties=species:S:1:pos:R:3']
    return "\n".join(lines + [f"A {x:.7f} {y:.7f} {z:.7f}" for x, y, z in positions]) + "\n"


def grid(numbers, steps):
    """Sites in the middle of cells."""
    sites = numpy.array(list(numpy.ndindex(*numbers)), float) + 0.5
    return sites * numpy.array(steps)


def fcc(numbers, edge):
    basis = numpy.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2 + 0.25
    cells = numpy.array(list(numpy.ndindex(*numbers)), float)
    return (cells[:, None] + basis[None]).reshape(-1, 3) * edge


def slab_densities(frames, edges, axis, width, blocks=5):
    """Densities of the two phases of a slab, the less and the more dense one: of each frame the
    slab is put into the middle (by the phase of the longest wave), and the mean profile is averaged
    within an eighth of the box around its middle, and around its border. Bins are `width` wide or
    a little more: a multiple of the layers of a crystal. With errors from blocks of frames."""
    length = float(edges[axis])
    bins = int(length / width)
    area = float(numpy.prod(edges)) / length
    profiles = []
    for x in frames:
        at = x[:, axis] / length
        middle = numpy.angle(numpy.exp(2j * math.pi * at).mean()) / (2 * math.pi)
        places = (at - middle + 0.5) % 1
        profiles.append(numpy.histogram(places, bins, (0, 1))[0] / (area * length / bins))
    middles = (numpy.arange(bins) + 0.5) / bins
    dense = abs(middles - 0.5) < 0.0625 + 0.5 / bins
    dilute = abs(middles - 0.5) > 0.4375 - 0.5 / bins
    profiles = numpy.array(profiles)
    return (mean_and_error(profiles[:, dilute].mean(axis=1), blocks),
            mean_and_error(profiles[:, dense].mean(axis=1), blocks), profiles.mean(axis=0))


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
    slab; along it the box gives the mean density."""
    across, layers, fluid = (4, 10, 12) if short else (6, 22, 26)
    sweeps, trials = (20000, 4) if short else (60000, 8)
    edge = (4 * math.pi / 6 / 0.545) ** (1 / 3)
    width, sites = across * edge, across * 3 // 2
    # The fluid begins as a simple cubic crystal, which melts at once.
    crystal = fcc((across, across, layers), edge)
    liquid = grid((sites, sites, fluid), (width / sites, width / sites, 1.0))
    liquid[:, 2] += layers * edge + 0.3
    length = layers * edge + fluid + 0.6
    stage = {"type": "monte_carlo", "temperature": 1,
             "translation": {"displacement": 0.07, "trials": trials}}
    done = run("slab", {
        "seed": 3, "system": {"type": "file", "path": "start.xyz"}, "forces": [HARD],
        "observers": [{"type": "trajectory", "stride": sweeps // 200, "stages": ["slab"]}],
        "stages": [{**stage, "name": "start", "sweeps": sweeps // 2},
                   {**stage, "name": "slab", "sweeps": sweeps}]},
        {"start.xyz": xyz((width, width, length), numpy.concatenate([crystal, liquid]))})
    low, high, profile = slab_densities(done.frames("position"), done.edges(), 2, edge)
    packing = math.pi / 6
    yield row("packing fraction of the fluid", (packing * low[0], packing * low[1]), 0.492,
              "Odriozola, Berthier, arXiv 1010.5607, introduction", profile=[
                  round(x * packing, 3) for x in profile])
    yield row("packing fraction of the crystal", (packing * high[0], packing * high[1]), 0.545,
              "the same")
    slope = (carnahan_starling(packing * low[0] + 1e-4) -
             carnahan_starling(packing * low[0] - 1e-4)) / 2e-4
    yield row("pressure of coexistence, P σ³/kT: of the fluid by Carnahan and Starling",
              (carnahan_starling(packing * low[0]), slope * packing * low[1]), "11.5727(10)",
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
    cells, start, steps = (3, 4000, 12000) if short else (5, 20000, 150000)
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
    edge, squeeze, start, steps = (6, 6000, 6000, 8000) if short else (10, 20000, 80000, 160000)
    densities = [0.28, 0.36] if short else [0.30, 0.31, 0.315, 0.32, 0.325, 0.33, 0.34]
    done = run("order", {
        "seed": 28, "ensemble": {"vary": {"stages[0].deform.density": densities}},
        "system": {"type": "lattice", "structure": "sc", "density": 0.03, "cells": [edge] * 3},
        "orientations": {"start": "random", **ELLIPSOIDS}, "velocity": {"temperature": 1.25},
        "forces": [GAY_BERNE],
        "observers": [{"type": "orientational_order", "stride": 200, "stages": ["measured"]},
                      {"type": "thermo", "stride": 100, "stages": ["measured"]}],
        "stages": [
            {"type": "md", "name": "squeezed", "steps": squeeze, "deform": {"density": 0.3},
             "integrator": ellipsoid_bath(1.25)},
            {"type": "md", "name": "start", "steps": start, "integrator": ellipsoid_bath(1.25)},
            {"type": "md", "name": "measured", "steps": steps, "integrator": ellipsoid_bath(1.25)}]})
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
        (5, 13, 8), 56, 250000, 500000)
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
        "orientations": {"start": "default", **ELLIPSOIDS}, "velocity": {"temperature": 0.45},
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
    source = ("de Miguel, Rull, Chalam, Gubbins, Mol. Phys. 71, 1223 (1990): abstract, by the Gibbs "
              "ensemble")
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
    the critical point by scaling. kT = friction = 1, v = 24/d, d the diameter."""
    epsilon, exponent = 100, 0.45
    d = barker_henderson(epsilon)
    numbers = [100] if short else [46, 50, 55, 60, 70, 80, 100]
    steps, timestep = (150000, 4e-5) if short else (3000000, 3e-5)
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
        # Kinetic model of G. S. Redner, M. F. Hagan, A. Baskaran, Phys. Rev. Lett. 110, 055701.
        yield row(f"packing fraction of the gas, Péclet number {number}", tuple(phases[-1][0]),
                  f"{3 * math.pi ** 2 * 4.5 / (4 * number):.3f}, theory",
                  "Redner et al. as in klotsa-lab's compPhiG, κ = 4.5",
                  dense=[round(float(x), 4) for x in phases[-1][1]])
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


ROWS = {"hard_spheres": hard_spheres, "stockmayer": stockmayer, "nematic": nematic,
        "ellipsoids_boil": ellipsoids_boil, "active_discs": active_discs}
