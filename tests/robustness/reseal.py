"""Changes what a checkpoint says and seals it again (io/seal.h, io/checkpoint.cpp): what is left to
notice a change then are the checks of whoever reads the state."""

import struct

import h5py
import numpy

MASK = 2**64 - 1
P1, P2, P3, P4, P5 = (0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                      0x85ebca77c2b2ae63,
                      0x27d4eb2f165667c5)


def rotated(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def mixed(lane, word):
    return rotated((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    at, n = 0, len(data)
    if n >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        for words in struct.iter_unpack("<4Q", data[:n // 32 * 32]):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, words)]
        at = n // 32 * 32
        total = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            total = ((total ^ mixed(0, lane)) * P1 + P4) & MASK
    else:
        total = (seed + P5) & MASK
    total = (total + n) & MASK
    while n - at >= 8:
        total = (rotated(total ^ mixed(0, int.from_bytes(data[at:at + 8], "little")), 27) * P1
                 + P4) & MASK
        at += 8
    if n - at >= 4:
        word = int.from_bytes(data[at:at + 4], "little")
        total = (rotated(total ^ (word * P1 & MASK), 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        total = rotated(total ^ (byte * P5 & MASK), 11) * P1 & MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return total ^ total >> 32


def record_hash(name, dataset):
    about = f"{name} {dataset.attrs['type']} {int(dataset.attrs['element_size'])}"
    return xxh64(dataset[()].tobytes(), xxh64(about.encode()))


def records(file):
    """The names of all records, without the leading /state/."""
    names = []
    file["state"].visititems(lambda name,
                             item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def change(path, name, changed):
    """Replaces a record by changed(array) and makes hash and seal fit."""
    with h5py.File(path, "r+") as file:
        dataset = file["state/" + name]
        attributes = dict(dataset.attrs)
        checksum = int(file["checksum"][()]) - record_hash(name, dataset)
        value = numpy.asarray(changed(dataset[()].copy()), dtype=dataset.dtype)
        del file["state/" + name]
        dataset = file.create_dataset("state/" + name, data=value)
        for key, attribute in attributes.items():
            dataset.attrs[key] = attribute
        file["checksum"][()] = (checksum + record_hash(name, dataset)) % 2**64
    seal(path)


def seal(path):
    with open(path, "rb") as file:
        contents = file.read()
    total = 0
    for at in range(0, len(contents), 2**20):
        total = xxh64(contents[at:at + 2**20], total)
    head = b"PERRIN\0\1" + struct.pack("<QQ", len(contents), total)
    with open(path, "ab") as file:
        file.write(head + struct.pack("<Q", xxh64(head)))
