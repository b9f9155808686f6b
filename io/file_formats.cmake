# The readers and writers of files, which need a Configuration and no simulation: a part of the
# library perrin_io, and what the fuzzers (tests/fuzz) build with Clang.
set(PERRIN_FILE_FORMATS
  cell_angles.cpp compressed.cpp corner_frame.cpp dcd_reader.cpp dcd_writer.cpp extended_xyz.cpp
  file_attributes.cpp file_orientations.cpp file_units.cpp formats.cpp formats_check.cpp
  gro_writer.cpp gsd_chunks.cpp gsd_reader.cpp gsd_writer.cpp h5md_bonds.cpp h5md_connectivity.cpp
  h5md_converter.cpp h5md_elements.cpp h5md_file.cpp h5md_group.cpp h5md_reader.cpp h5md_steps.cpp
  hdf5.cpp hdf5_driver.cpp hdf5_values.cpp journal.cpp lammps_dump.cpp lammps_dump_head.cpp
  lammps_header.cpp lammps_molecules.cpp lammps_reader.cpp lammps_styles.cpp lammps_units.cpp
  lammps_writer.cpp new_file.cpp open_when_used.cpp particle_ids.cpp particle_labels.cpp
  pdb_writer.cpp run_record.cpp seal.cpp text_lines.cpp turned_box.cpp writer.cpp xtc_coder.cpp
  xtc_writer.cpp)
