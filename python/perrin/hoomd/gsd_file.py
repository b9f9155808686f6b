"""GSD files: what the importer asks of a frame, and the start that a script makes, as a file."""
import os
import struct

import numpy as np

MAGIC = 0x65DF65DF65DF65DF
KINDS = [None, "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]
HEADER = "<QQQQQII64s64s80s"
ENTRY = "<QQqIHBB"


class Frame:
    """Data of one frame by name: `particles/position`; what it does not have is frame 0's."""

    def __init__(self, path, frame=-1):
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            head = struct.unpack(HEADER, file.read(256)) if size >= 256 else (0,)
            if head[0] != MAGIC:
                raise ValueError(f"{path}: expected a GSD file; it does not begin as one does")
            _, index_at, index_size, names_at, names_size, _, version = head[:7]
            if (index_size * 32 + index_at > size) or names_size * 64 + names_at > size:
                raise ValueError(f"{path}: the GSD file is cut off")
            file.seek(names_at)
            text = file.read(names_size * 64)
            parts = text.split(b"\0") if version >> 16 >= 2 else \
                [text[k:k + 64].rstrip(b"\0") for k in range(0, len(text), 64)]
            names = [p.decode("utf-8", "replace") for p in parts]
            file.seek(index_at)
            entries = [struct.unpack(ENTRY, file.read(32)) for _ in range(index_size)]
            entries = [e for e in entries if e[2] != 0]
            count = max((e[0] for e in entries), default=-1) + 1
            self.number = frame if frame >= 0 else count + frame
            self.data = {}
            for which, rows, at, columns, name, kind, _ in entries:
                if which in (0, self.number) and 0 < kind < len(KINDS):
                    dtype = np.dtype("<" + KINDS[kind])
                    if at + rows * columns * dtype.itemsize > size:
                        raise ValueError(f"{path}: the GSD file is cut off")
                    file.seek(at)
                    values = np.frombuffer(file.read(rows * columns * dtype.itemsize), dtype)
                    self.data[names[name]] = values.reshape(rows, columns) if columns > 1 \
                        else values
        self.path = path

    def get(self, name, default=None):
        return self.data.get(name, default)

    def names(self, what):
        """Names of types: of particles, bonds, angles, dihedrals, impropers."""
        rows = self.get(f"{what}/types")
        if rows is None:
            return ["A"] if what == "particles" else []
        rows = np.atleast_2d(rows)
        return [bytes(row.astype(np.uint8)).split(b"\0")[0].decode() for row in rows]

    def count(self, what):
        return int(np.ravel(self.get(f"{what}/N", [0]))[0])

    @property
    def box(self):
        return [float(v) for v in np.ravel(self.get("configuration/box", [1, 1, 1, 0, 0, 0]))]

    @property
    def step(self):
        return int(np.ravel(self.get("configuration/step", [0]))[0])

    @property
    def dimensions(self):
        stored = self.get("configuration/dimensions")
        return int(np.ravel(stored)[0]) if stored is not None else 2 if self.box[2] == 0 else 3


def write(path, data):
    """data: {name: array} of one frame."""
    names, entries, at = list(data), [], 256
    blocks = []
    for k, name in enumerate(names):
        values = np.ascontiguousarray(data[name])
        rows, columns = (values.shape[0], 1) if values.ndim == 1 else values.shape
        kind = KINDS.index(values.dtype.str[1:])
        entries.append(struct.pack(ENTRY, 0, rows, at, columns, k, kind, 0))
        blocks.append(values.tobytes())
        at += len(blocks[-1])
    text = b"".join(n.encode() + b"\0" for n in names)
    text += b"\0" * (-len(text) % 64)
    size = max(len(entries), 1)
    head = struct.pack(HEADER, MAGIC, at, size, at + 32 * size, len(text) // 64, 1 << 16 | 4,
                       2 << 16, b"perrin import", b"hoomd", b"")
    with open(path, "wb") as file:
        file.write(head + b"".join(blocks) + b"".join(entries) + text)


def type_names(names):
    """Names as rows of a chunk `…/types`."""
    length = max(len(n.encode()) for n in names) + 1
    return np.array([list(n.encode().ljust(length, b"\0")) for n in names], np.uint8)
