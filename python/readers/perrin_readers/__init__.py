"""H5MD files in OVITO and MDAnalysis.

OVITO finds `perrin_readers.ovito` by itself once the package is installed where its Python is.
MDAnalysis: `import perrin_readers.mdanalysis`, then `MDAnalysis.Universe("trajectory.h5")`.
`perrin_readers.File` is what both read with.
"""
from perrin_readers.file import File

__all__ = ["File"]
