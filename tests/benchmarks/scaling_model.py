#!/usr/bin/env python3
"""The time of a step of the Lennard-Jones liquid on many GPUs, from measured times of one GPU and
messages: docs/design/scaling.md says what is assumed.   scaling_model.py

First what it says of runs that were measured, then of 8, 64 and 1024 GPUs."""

import math

# Microseconds a step of one GPU, by particles (docs/measurements/many-gpus.md).
H100 = {4000: 12.4, 62500: 26.6, 256000: 82.4, 1000188: 263.2, 4000000: 1038.4}
H200 = {4000: 12.9, 62500: 25.3, 256000: 78.7, 1000188: 245.8, 4000000: 936.3, 16003008: 3773.6}

# GPUs, particles, processes, steps a second (same place; two of them 2026-11-24, four 2026-11-27).
MEASURED = [
    (H100, 62500, 2, 28791), (H100, 256000, 2, 16308), (H100, 1000188, 2, 6311),
    (H100, 4000000, 2, 1697), (H100, 8001504, 2, 912),
    (H200, 256000, 2, 16572), (H200, 1000188, 2, 6883), (H200, 4000000, 2, 1928),
    (H200, 16003008, 2, 507),
    (H200, 256000, 4, 17548), (H200, 1000188, 4, 10902), (H200, 4000000, 4, 3346),
    (H200, 16003008, 4, 940),
]

PER_HOST = 8  # GPUs
BYTES = 16  # of a ghost's position
STEPS_PER_BUILD = 9
IMBALANCE = 1.05  # the slowest of four or more, over the mean: fitted to the rows of four
PAIRS = 0.7  # share of the pair loop in a step of one GPU
NETWORK = 50e3  # bytes a microsecond and GPU (400 Gb/s), in each direction
PCIE = 50e3
LATENCY = 3.0  # of a message between hosts
PER_MESSAGE = 1.0  # of the thread that sends them
RELAY = 39.0  # what 4 000 particles took more where messages went by the host


def one(times, n):
    """Of n particles on one GPU: a power law between the numbers measured on either side."""
    sizes = sorted(times)
    k = min(max(sum(size <= n for size in sizes), 1), len(sizes) - 1)
    a, b = sizes[k - 1], sizes[k]
    slope = math.log(times[b] / times[a]) / math.log(b / a)
    return times[a] * (n / a)**slope if n >= sizes[0] else times[sizes[0]]


def ghosts(n, parts):
    """Ghosts of a part, in parts: one brick around a slab or around a cube of bricks."""
    edge = 20 * (n / 1e6)**(1 / 3)
    cube = edge / parts**(1 / 3)
    return min(2 * parts / edge, ((cube + 2)**3 - cube**3) / cube**3)


def exchange(count):
    """Between GPUs of a host that see each other's memory: measured with 23 000, 10⁵ and 3·10⁵."""
    return max(12 + count / 25e3, 0.23 * count / 1e3 - 7)


def step(times, n, parts, far="neighbours"):
    """`far`: "all": every process speaks to every other in each step, and nothing is computed
    meanwhile, as it is now; "neighbours": it speaks to those that share ghosts, beside the pair
    loop, and agrees with the others by a tree of hosts."""
    own = one(times, n / parts)
    if parts == 1:
        return own
    share = ghosts(n, parts)
    count = share * n / parts
    hosts = math.ceil(parts / PER_HOST)
    beside = PAIRS * own * max(0, 1 - share)  # the pair loop of tiles without ghosts
    inside = exchange(count if hosts == 1 else count / 2)
    total = own * (IMBALANCE if parts >= 4 else 1) + 2
    total += (25 + 0.09 * n / parts / 1e3) / STEPS_PER_BUILD
    if hosts == 1:
        return total + max(0.3 * inside, inside - beside)
    # Half of the faces of a cube of eight cubes look outwards.
    wire = count / 2 * BYTES
    carried = RELAY + LATENCY + wire / NETWORK + 2 * wire / PCIE
    if far == "all":
        return total + carried + PER_MESSAGE * (parts - PER_HOST)
    carried += PER_MESSAGE * 19 + LATENCY * math.log2(hosts)
    return total + max(0.3 * inside, inside - beside, carried - beside)


def main():
    print("| GPUs | particles | model, µs | measured | model over measured |\n"
          "|---|---|---|---|---|")
    for times, n, parts, rate in MEASURED:
        model, measured = step(times, n, parts), 1e6 / rate
        name = "H100" if times is H100 else "H200"
        print(f"| {parts} {name} | {n:,} | {model:.0f} | {measured:.0f} | {model / measured:.2f} |"
              .replace(",", " "))
    print("\n| GPUs | particles of each | ghosts, in shares | µs | efficiency | as it is now |\n"
          "|---|---|---|---|---|---|")
    for parts in (8, 64, 1024):
        for each in (250e3, 500e3, 1e6, 2e6, 4e6, 16e6):
            alone = one(H200, each)
            best, now = (step(H200, each * parts, parts, far) for far in ("neighbours", "all"))
            share = ghosts(each * parts, parts)
            print(f"| {parts} | {each / 1e6:g}·10⁶ | {share:.2f} | {best:.0f} | "
                  f"{alone / best:.2f} | {alone / now:.2f} |")


main()
