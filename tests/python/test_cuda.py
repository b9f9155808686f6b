"""On a GPU: what is seen of the engine's arrays there, and forces of arrays of the device."""
import ctypes
import os

import numpy as np
import pytest

import perrin
from conftest import DEVICE

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # jax: not all of the memory
pytestmark = pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")


def copied(array):
    """Through __cuda_array_interface__ and the runtime that the engine has loaded."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "libcudart" in line)
    interface = array.__cuda_array_interface__
    values = np.empty(interface["shape"], interface["typestr"])
    from_device = 2
    status = ctypes.CDLL(path).cudaMemcpy(ctypes.c_void_p(values.ctypes.data),
                                          ctypes.c_void_p(interface["data"][0]),
                                          ctypes.c_size_t(values.nbytes), from_device)
    assert status == 0
    return values


def test_views_are_of_the_device(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(40)
    local = sim.local
    ids = copied(local.id)
    assert sorted(ids) == list(range(256))
    np.testing.assert_array_equal(copied(local.velocity)[:, :3], sim.velocities[ids])
    offset, matrix = sim.box.fixed_point
    np.testing.assert_allclose(offset + copied(local.position)[:, :3] @ matrix,
                               sim.positions[ids], atol=2e-9)
    assert local.velocity.__dlpack_device__()[0] == 2 and sim.stream != 0
    with pytest.raises(TypeError, match="on a GPU"):
        np.asarray(local.velocity)
    sim.run(2000)
    with pytest.raises(perrin.StaleError):
        local.velocity.__cuda_array_interface__


def test_views_of_torch(liquid):
    torch = pytest.importorskip("torch")
    sim = perrin.Simulation(liquid)
    sim.run(10)
    kinetic = sim.totals.kinetic
    with sim.changing() as local:
        velocity = torch.from_dlpack(local.velocity)
        velocity[:, :3] *= 2
        torch.cuda.synchronize()
    assert sim.totals.kinetic == pytest.approx(4 * kinetic, rel=1e-6)


def field(r, of):
    return of.stack([of.sin(r[:, 0]), of.zeros_like(r[:, 0]), r[:, 2]], 1)


@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_forces_of_device_arrays(liquid, library):
    arrays = pytest.importorskip("jax.numpy" if library == "jax" else library)

    def on_device(particles):
        offset, matrix = particles.box.fixed_point
        if library == "cupy":
            position = arrays.asarray(particles.local.position)
            u = position[:, :3].astype(arrays.float64)
            return field(arrays.asarray(offset) + u @ arrays.asarray(matrix), arrays)
        position = arrays.from_dlpack(particles.local.position)[:, :3]
        if library == "jax":  # single precision, unless it is asked for more
            u = position.astype(arrays.float32)
            return field(offset.astype("f4") + u @ matrix.astype("f4"), arrays)
        offset, matrix = (arrays.tensor(x, device="cuda") for x in (offset, matrix))
        return field(offset + (position.to(arrays.int64) & 0xffffffff).double() @ matrix, arrays)

    sims = [perrin.Simulation({**liquid, "forces": liquid["forces"] + [force]})
            for force in (perrin.PythonForce(lambda p: field(p.positions, np)),
                          perrin.PythonForce(on_device, local=True))]
    for sim in sims:
        sim.run(50)
    np.testing.assert_allclose(sims[0].positions, sims[1].positions, atol=1e-4)
    assert any("not recorded" in w for w in sims[1].warnings)
