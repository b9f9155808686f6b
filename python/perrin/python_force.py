"""Forces that a Python function computes."""
from __future__ import annotations

from perrin.view import View


class PythonForce:
    """A force of a job: {"forces": [..., perrin.PythonForce(f)]}.

    f(particles) is given a View of the particles and returns forces [n, 3] by id (energy/length),
    or (forces, energy), or (forces, energy, virial) with the sum of r ⊗ f as xx yy zz xy xz yz.
    Without a virial the pressure is that of the other forces, as with an external field. Arrays
    are of numpy or whatever has DLPack, float32 or float64.

    With `local` the forces come in memory order, as the arrays of particles.local; on a GPU both
    may be arrays of the device: it is waited for before f is called and after.

    f is called once for each step that is a multiple of `stride`; its forces stay as they are
    between. `conserves_momentum`: they add up to 0, so that the centre of mass keeps its
    velocity, and temperatures count three degrees of freedom less.

    With it no step is recorded on a GPU: every kernel is launched by the host, some 5 µs each.
    """

    def __init__(self, function, stride=1, *, local=False, conserves_momentum=False):
        self.function, self.stride = function, stride
        self.local, self.conserves_momentum = local, conserves_momentum

    def call(self, state):
        return self.function(View(state))

    def entry(self, number):
        """What stands in the job."""
        return {"type": "python", "function": number, "stride": self.stride,
                "memory_order": self.local, "conserves_momentum": self.conserves_momentum}
