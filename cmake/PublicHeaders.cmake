# The headers that plug-ins may include; docs/guide/plugins.md says what each is for, and
# scripts/layers holds the shipped plug-ins and that table against this list.
set(PERRIN_PUBLIC_HEADERS
    engine/core/archive.h engine/core/box.h engine/core/buffer.h engine/core/changed_since.h
    engine/core/configuration.h engine/core/device.h engine/core/error.h engine/core/faults.h
    engine/core/instruction_set.h engine/core/loaded_loop.h engine/core/momentum.h
    engine/core/parallel.h engine/core/particle_array.h engine/core/particles.h
    engine/core/processes.h engine/core/real.h engine/core/tasks.h engine/core/team.h
    engine/core/threads.h
    engine/run/box_mover.h engine/run/box_user.h engine/run/chunk.h engine/run/force.h
    engine/run/instant.h engine/run/integrator.h engine/run/observer.h engine/run/plugin_api.h
    engine/run/registry.h engine/run/run.h engine/run/run_control.h engine/run/setup.h
    engine/run/simulation.h engine/run/source.h engine/run/stage.h engine/run/step_context.h
    engine/run/totals.h
    engine/settings/settings.h engine/settings/units.h
    forces/angle_force.h forces/bond_force.h forces/deposit.h forces/device_math.h
    forces/dihedral_force.h forces/external.h forces/field_force.h forces/formula/expression.h
    forces/formula/parse.h forces/harmonic_trap.h
    forces/nearest_image.h forces/number_range.h forces/pair_force.h forces/pair_potential.h
    forces/potentials/gaussian_core.h forces/potentials/lennard_jones.h forces/potentials/morse.h
    forces/potentials/soft_dpd.h forces/potentials/wca.h forces/potentials/yukawa.h
    forces/powers.h
    integrators/barostat.h integrators/particle_steps.h integrators/ramp.h
    integrators/verlet_halves.h
    io/file_units.h io/frame_file.h io/h5md_elements.h io/new_file.h io/observable_file.h
    io/text_file.h io/text_lines.h
    neighbor/cells/cell_of.h neighbor/cells/cell_sort.h neighbor/pair_loop.h neighbor/ranges.h
    rng/density.h rng/keyed.h rng/math.h rng/per_particle.h rng/purpose.h rng/streams.h)
