#!/usr/bin/env python3
"""<R(t)> and <R(t) R(0)> of a generator by how its states are seeded (Fig. 4 of Zhmurov et al.):

    perrin-bench --device cuda --seconds 60 --generators lcg,hybrid_taus --series \\
        --seeding unrelated,seed_plus_id,consecutive,evenly_divided oscillators > seeding.jsonl
    plot_seeding.py seeding.jsonl [seeding.png] [lcg]

Drawn is what the noise makes of them in equilibrium, beside one standard error of as many
independent oscillators. Printed is a table of all lines: root mean squares of the deviations from
theory, and the correlation of the noise of <R(t)> with itself a while later.
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

KT, STIFFNESS, RELAXATION, R0 = 4.141947, 0.01, 1656.7788, 10.0  # pN nm, pN/nm, ns, nm


def table(lines):
    print("| generator | states | ⟨R⟩ | ⟨RR⟩ | ⟨R²⟩ − theory | noise repeats | after µs |")
    print("|---|---|---|---|---|---|---|")
    for line in lines:
        repeat = (f"{line['repeat']:.2f} ({line['repeat_z']:.1f}) | "
                  f"{line['repeat_lag_ns'] / 1000:.1f}" if "repeat" in line else " | ")
        print(f"| {line['generator']} | {line['seeding'].replace('_', ' ')} "
              f"| {line['mean_rms_z']:.2f} | {line['product_rms_z']:.2f} "
              f"| {100 * line['excess']:+.2f} ± {100 * line['excess_error']:.2f} % | {repeat} |")


def draw(lines, generator, picture):
    chosen = [line for line in lines if line["generator"] == generator and "mean" in line]
    if not chosen:
        sys.exit(f"plot_seeding.py: no series of {generator}; perrin-bench prints them with "
                 "--series")
    figure, axes = plt.subplots(len(chosen), 2, figsize=(10, 1.8 * len(chosen)), sharex="col",
                                squeeze=False, layout="constrained")
    for (left, right), line in zip(axes, chosen):
        t = line["frame_ns"] * np.arange(1, len(line["mean"]) + 1)
        error = np.sqrt(KT / STIFFNESS / line["size"])
        settled = (t > 6 * RELAXATION) & (t < 36 * RELAXATION)
        left.axhspan(-error, error, color="0.9")
        noise = np.array(line["mean"]) - R0 * np.exp(-t / RELAXATION)
        left.plot(t[settled] / 1000, noise[settled], lw=0.8)
        left.set_ylabel("⟨R(t)⟩ / nm")
        left.set_title(line["seeding"].replace("_", " "), fontsize=9)
        lag = line["frame_ns"] * np.arange(1, len(line["product"]) + 1)
        early = lag < 10 * RELAXATION
        right.plot(lag[early] / 1000, np.array(line["product"])[early], lw=0.8)
        right.plot(lag[early] / 1000, KT / STIFFNESS * np.exp(-lag[early] / RELAXATION), "k--",
                   lw=0.8)
        right.set_ylabel("⟨R(t)R(0)⟩ / nm²")
    axes[-1, 0].set_xlabel("t / µs")
    axes[-1, 1].set_xlabel("t / µs, from equilibrium")
    figure.suptitle(f"{generator}, {chosen[0]['size']} oscillators", fontsize=10)
    figure.savefig(picture, dpi=110)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [json.loads(text) for text in file if text.startswith("{")]
    table(lines)
    draw(lines, sys.argv[3] if len(sys.argv) > 3 else "lcg",
         sys.argv[2] if len(sys.argv) > 2 else "seeding.png")


main()
