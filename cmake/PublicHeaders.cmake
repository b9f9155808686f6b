# The headers that plug-ins may include; docs/guide/plugins.md says what each is for, and
# scripts/layers holds the shipped plug-ins and that table against this list.
set(PERRIN_PUBLIC_HEADERS
    engine/base/error.h engine/base/instruction_set.h engine/base/real.h
    engine/communicator/agreement.h
    engine/device/buffer.h engine/device/device.h engine/device/faults.h
    engine/device/loaded_loop.h engine/device/parallel.h engine/device/tasks.h
    engine/device/threads.h
    engine/domain/decomposition.h engine/domain/reduction.h
    engine/domain/work_distribution.h
    engine/settings/settings.h engine/settings/units.h
    engine/system/archive.h engine/system/attribute.h engine/system/bond_graph.h
    engine/system/bond_images.h engine/system/box.h
    engine/system/changed_since.h engine/system/moved_position.h
    engine/system/nearest_vector.h
    engine/system/partners.h
    engine/system/configuration.h engine/system/group.h engine/system/momentum.h
    engine/system/orientations.h engine/system/particle_array.h
    engine/system/particles.h engine/system/quaternion.h engine/system/site_types.h
    engine/components/attribute_reader.h engine/components/bond_probe.h
    engine/components/box_mover.h engine/components/box_user.h engine/components/chunk.h
    engine/components/constraint_solver.h engine/components/constraints.h
    engine/components/coupled_trials.h engine/components/decides_by_energies.h
    engine/components/excluded_energies.h
    engine/components/force.h engine/components/force_remark.h
    engine/components/gibbs_box.h engine/components/heat_bath_user.h engine/components/instant.h
    engine/components/integrator.h
    engine/components/no_potential.h
    engine/components/observer.h engine/components/registry.h engine/components/rigid_bodies.h
    engine/components/run_control.h
    engine/components/setup.h engine/components/source.h engine/components/stage.h
    engine/components/stage_context.h
    engine/components/step_context.h engine/components/topology_user.h
    engine/components/totals.h engine/components/trial_moves.h
    engine/dynamics/counted_tail.h engine/dynamics/dynamic_bonds.h engine/dynamics/observation.h
    engine/dynamics/reservoir.h
    engine/run/md_stage.h engine/run/run.h
    engine/job/plugin_api.h
    forces/angle_force.h forces/anisotropic/anisotropic_force.h
    forces/anisotropic/deposit_torque.h forces/anisotropic/ended.h
    forces/anisotropic/interaction.h
    forces/attribute_field_force.h forces/attribute_many_body.h
    forces/attribute_pair_force.h
    forces/attribute_words.h forces/bond_force.h forces/deposit.h forces/device_math.h
    forces/dihedral_force.h forces/external.h forces/field_force.h engine/formula/expression.h
    engine/formula/parse.h engine/formula/program.h engine/formula/vector_of_time.h
    forces/group_restraint.h
    forces/mass_center.h
    forces/harmonic_trap.h forces/tether.h
    forces/many_body_force.h forces/many_body_loops.h forces/many_body_potential.h
    forces/nearest_image.h forces/number_range.h forces/particle_loop.h
    forces/trials/trial_loop.h forces/unwrapped.h
    forces/pair_force.h forces/pair_potential.h forces/potentials/gaussian_core.h
    forces/potentials/lennard_jones.h forces/potentials/morse.h forces/potentials/soft_dpd.h
    forces/potentials/wca.h forces/potentials/yukawa.h forces/powers.h
    integrators/barostat.h integrators/group_sum.h integrators/particle_steps.h integrators/ramp.h
    integrators/rotation.h integrators/verlet_halves.h
    io/file_units.h io/frame_file.h io/h5md_elements.h io/new_file.h io/observable_file.h
    io/text_file.h io/text_lines.h
    neighbor/cells/cell_of.h neighbor/cells/cell_sort.h neighbor/pair_loop.h neighbor/ranges.h
    rng/density.h rng/keyed.h rng/math.h rng/per_particle.h rng/purpose.h rng/streams.h)
