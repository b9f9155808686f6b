"""H5MD in MDAnalysis with its types, masses, charges, bonds and molecules:

    import MDAnalysis, perrin_readers.mdanalysis
    u = MDAnalysis.Universe("trajectory.h5")

Files without units are left as they are; without this, MDAnalysis refuses them until it is told
`convert_units=False`. `Universe("trajectory.h5", unwrap=True)` adds the images to the positions.
"""
import numpy as np
from MDAnalysis.coordinates.H5MD import H5MDReader
from MDAnalysis.core.topology import Topology
from MDAnalysis.core import topologyattrs as attributes
from MDAnalysis.topology.base import TopologyReaderBase

from perrin_readers.file import File


class Parser(TopologyReaderBase):
    """Types by their names, and what else the file says; a residue is a molecule."""

    format = ["H5", "H5MD"]

    def parse(self, **kwargs):
        with File(self.filename) as file:
            names = file.names()
            types = np.array([names.get(int(s), str(s)) for s in file.species(0)], dtype=object)
            made = [attributes.Atomtypes(types), attributes.Atomnames(types.copy())]
            for name, kind in (("mass", attributes.Masses), ("charge", attributes.Charges)):
                value = file.quantity(name, 0)
                if value is not None and np.shape(value) == (file.n,):
                    made.append(kind(np.asarray(value, float)))
            ids = file.ids()
            made.append(attributes.Atomids(np.arange(file.n) if ids is None else ids))
            for kind, (rows, types, names) in file.lists(0).items():
                said = None if types is None else [
                    names[t] if t < len(names) else str(t) for t in types]
                made.append(getattr(attributes, kind.capitalize())(
                    [tuple(int(i) for i in row) for row in rows], types=said, guessed=False,
                    order=None))
            molecules = file.molecules()
            of = np.zeros(file.n, int)
            if molecules is not None and len(molecules) == file.n:
                of = np.unique(molecules, return_inverse=True)[1]
            residues = int(of.max()) + 1 if file.n else 0
            made += [attributes.Resids(np.arange(1, residues + 1)),
                     attributes.Resnums(np.arange(1, residues + 1)),
                     attributes.Segids(np.array(["SYSTEM"], dtype=object))]
            return Topology(file.n, residues, 1, attrs=made, atom_resindex=of,
                            residue_segindex=np.zeros(residues, int))


class Reader(H5MDReader):
    """MDAnalysis's own reader, which leaves numbers without units as they are."""

    format = ["H5", "H5MD"]

    def __init__(self, filename, convert_units=None, unwrap=False, **kwargs):
        self._unwrap = unwrap
        if convert_units is None:
            with File(filename) as file:
                position = file.group["position"]
                element = position if file.fixed else position["value"]
                convert_units = "unit" in element.attrs
        super().__init__(filename, convert_units=convert_units, **kwargs)

    def _read_frame(self, frame):
        ts = super()._read_frame(frame)
        images = self._particle_group.get("image")
        if self._unwrap and images is not None and ts.has_positions:
            edges = self._particle_group["box/edges"]
            edges = edges["value"][frame] if "value" in edges else edges[()]
            edges = np.diag(edges) if np.ndim(edges) == 1 else edges
            shift = images["value"][frame] @ edges
            if self.convert_units:
                shift = np.asarray(shift, np.float32)
                self.convert_pos_from_native(shift)
            ts.positions = ts.positions + shift
        return ts
