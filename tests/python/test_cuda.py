"""On a GPU: what is seen of the engine's arrays there, and forces of arrays of the device."""
import ctypes

import numpy as np
import pytest

import perrin
from conftest import DEVICE

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


def test_forces_of_torch(liquid):
    torch = pytest.importorskip("torch")

    def field(r):
        return np.stack([np.sin(r[:, 0]), np.zeros(len(r)), r[:, 2]], axis=1)

    def on_device(particles):
        offset, matrix = (torch.tensor(x, device="cuda") for x in particles.box.fixed_point)
        position = torch.from_dlpack(particles.local.position)[:, :3].to(torch.int64)
        r = offset + (position & 0xffffffff).double() @ matrix
        return torch.stack([torch.sin(r[:, 0]), torch.zeros_like(r[:, 0]), r[:, 2]], dim=1)

    sims = [perrin.Simulation({**liquid, "forces": liquid["forces"] + [force]})
            for force in (perrin.PythonForce(lambda p: field(p.positions)),
                          perrin.PythonForce(on_device, local=True))]
    for sim in sims:
        sim.run(50)
    np.testing.assert_allclose(sims[0].positions, sims[1].positions, atol=1e-5)
