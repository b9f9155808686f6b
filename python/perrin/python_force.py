"""Forces that a Python function computes."""
from __future__ import annotations

import math

import numpy as np

from perrin import arguments
from perrin.errors import JobError, RunError
from perrin.tensors import Tensors
from perrin.view import View


class PythonForce:
    """A force of a job: {"forces": [..., perrin.PythonForce(f)]}.

    f(particles) receives a View of the particles and returns forces [n, 3] by id (energy/length),
    or (forces, energy), or (forces, energy, virial) with the sum of r ⊗ f as xx yy zz xy xz yz.
    Without a virial the pressure is that of the other forces, as with an external field. Arrays
    are of numpy or of any library with DLPack, float32 or float64. In two dimensions forces have no
    z component: those of arrays on a GPU are left out.

    With `local` the forces are in memory order, as the arrays of particles.local; on a GPU both
    may be arrays of the device, which is synchronised before and after the call of f.

    f is called at every multiple of `stride`; its forces are constant in between.
    `conserves_momentum`: the sum of the forces is 0, so the velocity of the centre of mass is
    conserved, and temperatures count three degrees of freedom less.

    Unless it is captured, steps are not recorded on a GPU: the host launches every kernel, at about
    5 µs each.

    `captured=True`: f receives Tensors of PyTorch on the simulation's device and returns tensors.
    On a GPU it is called four times at the start of the run. The last call is captured as a CUDA
    graph, which is part of the recorded steps: Python is not called again. So f must only launch
    work on the device, the same in every step (shapes, branches, random numbers), and must not wait
    (`.item()`, boolean indices). On the CPU it is called in every step.
    """

    def __init__(self, function, stride=1, *, local=False, captured=False,
                 conserves_momentum=False):
        if local and captured:
            raise ValueError("PythonForce: local=True and captured=True exclude each other: a "
                             "captured function receives and returns arrays by id")
        self.function = arguments.function(function, "PythonForce(function)")
        self.stride = arguments.whole(stride, "PythonForce(stride)", 1)
        self.local, self.captured = local, captured
        self.conserves_momentum = conserves_momentum

    def __repr__(self):
        told = [getattr(self.function, "__qualname__", None) or repr(self.function)]
        told += [f"stride={self.stride}"] * (self.stride != 1)
        told += [f"{name}=True" for name in ("local", "captured", "conserves_momentum")
                 if getattr(self, name)]
        return f"PythonForce({', '.join(told)})"

    def call(self, state):
        """For the engine: forces, energy and virial at this instant."""
        if not self.captured:
            result = self.function(View(state))
            self._check(result if isinstance(result, tuple) else (result,), state.size)
            return result
        forces, energy, virial = _parts(self.function(Tensors(state)), Tensors.module())
        parts = (forces.numpy(), 0.0 if energy is None else energy,
                 [0.0] * 6 if virial is None else virial.tolist())
        self._check(parts, state.size)
        return (parts[0], float(parts[1]), parts[2])

    def _check(self, parts, particles):
        """What the function has returned, before the engine takes it."""
        if not 1 <= len(parts) <= 3:
            raise JobError(f"{self}: must return forces, energy and virial, got {len(parts)} "
                           "values")
        forces, energy, virial = (*parts, *(0.0, [0.0] * 6)[len(parts) - 1:])
        if not hasattr(forces, "shape") or not hasattr(forces, "dtype"):
            raise JobError(f"{self}: must return an array of forces, or a tuple that begins with "
                           f"one, got {_told(forces)}")
        number = str(forces.dtype).rsplit(".", 1)[-1]  # torch.float32
        if tuple(forces.shape) != (particles, 3) or number not in ("float32", "float64"):
            raise JobError(f"{self}: must return forces of shape ({particles}, 3) in float32 or "
                           f"float64, got {_told(forces)}")
        if np.ma.is_masked(forces):
            raise JobError(f"{self}: must return forces of all particles: some are masked")
        if not _is_finite(energy):
            raise JobError(f"{self}: must return a finite number as the energy, "
                           f"got {_told(energy)}")
        if np.shape(virial) != (6,) or not all(map(_is_finite, virial)):
            raise JobError(f"{self}: must return six finite numbers as the virial (xx yy zz xy xz "
                           f"yz), got {_told(virial)}")

    def capture(self, state, arrays):
        """For the engine: the CUDA graph of the function (as a number), the tensors that it fills,
        and what must outlive it."""
        torch = Tensors.module()
        if not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
            raise RunError("PythonForce(captured=True) needs PyTorch 2.8 or later on a GPU, "
                           f"got {torch.__version__}")
        with torch.cuda.device(state.device):
            particles = Tensors(state, arrays)
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(3):  # what libraries set up when they are first used
                    _parts(self.function(particles), torch)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph(keep_graph=True)
            try:
                with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                    parts = _parts(self.function(particles), torch)
            except RuntimeError as error:
                raise RunError("the function of a PythonForce(captured=True) cannot be captured: "
                               f"{error}") from error
            torch.cuda.synchronize()
        return (graph.raw_cuda_graph(), *parts, (graph, particles))

    def entry(self, number):
        """Its entry in the job."""
        return {"type": "python", "function": number, "stride": self.stride,
                "memory_order": self.local, "captured": self.captured,
                "conserves_momentum": self.conserves_momentum}


def _is_finite(number):
    try:
        return not isinstance(number, str) and math.isfinite(float(number))
    except (TypeError, ValueError):
        return False


def _told(value):
    if np.shape(value) == () and hasattr(value, "item"):
        return repr(value.item())
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"shape {tuple(value.shape)} in {str(value.dtype).rsplit('.', 1)[-1]}"
    return repr(value)[:80]


def _parts(result, torch):
    """Forces, energy (float64) and virial (float64 [6]) as tensors, None for what is missing."""
    parts = result if isinstance(result, tuple) else (result,)
    if not 1 <= len(parts) <= 3:
        raise RunError("a PythonForce must return forces, energy and virial, "
                       f"got {len(parts)} values")
    forces, energy, virial = (*parts, None, None)[:3]
    if not isinstance(forces, torch.Tensor):
        raise RunError("a PythonForce(captured=True) must return tensors, "
                       f"got {type(forces).__name__}")
    if isinstance(virial, (tuple, list)):
        virial = torch.stack([*virial])
    for name, tensor in (("energy", energy), ("virial", virial)):
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise RunError(f"a PythonForce(captured=True) must return a tensor as the {name}, "
                           f"got {type(tensor).__name__}")
    energy, virial = (None if t is None else t.detach().double().contiguous()
                      for t in (energy, virial))
    return forces.detach(), energy, virial
