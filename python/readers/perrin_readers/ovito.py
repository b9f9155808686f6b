"""A file reader for OVITO 3.9 and later, in its program and in its Python."""
import numpy as np
from ovito.io import FileReaderInterface

from perrin_readers.file import File

# Elements of H5MD, and what OVITO calls them.
PROPERTIES = {"velocity": "Velocity", "force": "Force", "image": "Periodic Image",
              "mass": "Mass", "charge": "Charge", "id": "Particle Identifier"}
TOPOLOGY = {"bonds": 2, "angles": 3, "dihedrals": 4, "impropers": 4}


class H5MDFileReader(FileReaderInterface):
    """Box, open axes, named types, bonds (angles, …) with types, velocities, forces, images,
    orientations."""

    @staticmethod
    def detect(filename):
        try:
            with File(filename) as file:
                return "h5md" in file.file
        except Exception:
            return False

    def scan(self, filename, register_frame):
        with File(filename) as file:
            for frame in range(file.frames):
                register_frame(frame_info=frame, label=int(file.steps[frame]))

    def parse(self, data, filename="", frame_info=0, **_):
        with File(filename) as file:
            self._read(data, file, frame_info or 0)

    def _read(self, data, file, frame):
        edges, origin = file.edges(frame), file.origin(frame)
        if edges is not None:
            cell = np.zeros((3, 4))
            cell[:, :3], cell[:, 3] = edges.T, origin
            made = data.create_cell(cell, pbc=file.periodic())
            made.is2D = file.dimension == 2
        particles = data.create_particles(count=file.n)
        position = np.asarray(file.quantity("position", frame), float)
        position = np.pad(position, ((0, 0), (0, 3 - position.shape[1]))) + origin
        particles.create_property("Position", data=position)
        names = file.names()
        types = particles.create_property("Particle Type", data=file.species(frame))
        for number, name in names.items():
            types.add_type_id(int(number), particles, name=name)
        for name, called in PROPERTIES.items():
            value = file.quantity(name, frame)
            if value is not None and np.shape(value)[:1] == (file.n,):
                particles.create_property(called, data=value)
        orientation = file.orientation(frame)
        if orientation is not None:
            particles.create_property("Orientation", data=orientation)
        molecules = file.molecules()
        if molecules is not None and len(molecules) == file.n:
            particles.create_property("Molecule Identifier", data=molecules.astype(np.int64))
        for kind, (rows, kinds, names) in file.lists(frame).items():
            made = getattr(particles, f"create_{kind}")(count=len(rows))
            made.create_property("Topology", data=rows)
            if kind == "bonds" and edges is not None:
                made.create_property("Periodic Image",
                                     data=crossings(position, rows, edges, file.periodic()))
            if kinds is not None:
                property = made.create_property(f"{kind[:-1].capitalize()} Type", data=kinds)
                for number in np.unique(kinds):
                    name = names[number] if number < len(names) else str(number)
                    property.add_type_id(int(number), made, name=name)
        data.attributes["Timestep"] = int(file.steps[frame])
        if file.times is not None:
            data.attributes["Time"] = float(file.times[frame])


def crossings(position, bonds, edges, periodic):
    """How often each bond crosses each face of the box, taken as short as it can be."""
    apart = np.linalg.solve(edges.T, (position[bonds[:, 1]] - position[bonds[:, 0]]).T).T
    return np.where(periodic, -np.rint(apart), 0).astype(np.int32)
