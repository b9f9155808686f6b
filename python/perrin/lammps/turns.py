"""Runs in which Monte Carlo and dynamics alternate (fix gcmc, atom/swap), as turns of stages."""
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

TURNS = 100  # stages of each kind that a run becomes at most
RAMPS = (("temperature", "final_temperature"), ("pressure", "final_pressure"))


def in_turns(script, fix, sweep, every, run):
    """run: (steps, stage of dynamics or None, line). Turns of dynamics and sweeps, or sweeps
    alone."""
    steps, md, line = run
    sweeps = max(steps // every, 1) if steps else 0
    if md is None or not steps:
        return [Commented({**sweep, "sweeps": sweeps}, line)]
    turns = min(sweeps, TURNS)
    if turns > 1 and "deform" in md:
        raise NotUnderstood(f"fix {fix.style} beside fix deform", fix.line)
    if turns < sweeps:
        script.result.changed.append((fix.line, f"the run has {turns} turns of dynamics "
                                      f"and Monte Carlo, LAMMPS's {sweeps}"))
    made = []
    for k in range(turns):
        begin, end = steps * k // turns, steps * (k + 1) // turns
        mine = sweeps * (k + 1) // turns - sweeps * k // turns
        made += [Commented({**part(md, begin / steps, end / steps, end - begin),
                            "steps": end - begin}, line),
                 Commented({**sweep, "sweeps": mine}, fix.line)]
    return made


def part(settings, begin, end, steps):
    """Settings of a piece of a run: of a ramp what is between these shares of it."""
    made = type(settings)(settings, settings.line) if isinstance(settings, Commented) else \
        dict(settings)
    for key, value in settings.items():
        if isinstance(value, dict):
            made[key] = part(value, begin, end, steps)
        elif isinstance(value, list):
            made[key] = [part(v, begin, end, steps) if isinstance(v, dict) else v for v in value]
    for first, last in RAMPS:
        if last in settings:
            a, b = settings[first], settings[last]
            made[first], made[last] = a + (b - a) * begin, a + (b - a) * end
            made["ramp_steps"] = max(steps, 1)
    return made
