"""Forces that a Python function computes."""
from __future__ import annotations

from perrin.errors import RunError
from perrin.tensors import Tensors
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

    Unless it is captured, no step with it is recorded on a GPU: every kernel is launched by the
    host, some 5 µs each.

    `captured=True`: f is given Tensors of PyTorch on the simulation's device and returns such. On a
    GPU it is called four times when the run begins, the last time to be captured as a CUDA graph,
    and is then a part of the recorded steps: Python has no more to do with them. So it must only
    give work to the device, the same in every step (shapes, branches, random numbers), and wait for
    nothing (`.item()`, boolean indices). On the CPU it is called in every step.
    """

    def __init__(self, function, stride=1, *, local=False, captured=False,
                 conserves_momentum=False):
        if local and captured:
            raise ValueError("PythonForce: local=True and captured=True exclude each other: what a "
                             "captured function sees and returns is by id")
        self.function, self.stride = function, stride
        self.local, self.captured = local, captured
        self.conserves_momentum = conserves_momentum

    def call(self, state):
        """For the engine: forces, energy and virial at this instant."""
        if not self.captured:
            return self.function(View(state))
        forces, energy, virial = _parts(self.function(Tensors(state)), Tensors.module())
        return (forces.numpy(), 0.0 if energy is None else float(energy),
                [0.0] * 6 if virial is None else virial.tolist())

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
                raise RunError("the function of a PythonForce(captured=True) did what cannot be "
                               f"captured: {error}") from error
            torch.cuda.synchronize()
        return (graph.raw_cuda_graph(), *parts, (graph, particles))

    def entry(self, number):
        """What stands in the job."""
        return {"type": "python", "function": number, "stride": self.stride,
                "memory_order": self.local, "captured": self.captured,
                "conserves_momentum": self.conserves_momentum}


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
