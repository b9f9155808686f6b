// An HDF5 file driver for files that must stay readable at every moment of their making.
//
// HDF5 can order its writes so that whatever has reached the file is consistent ("single writer,
// multiple readers", SWMR), but a file so written, when its writer is killed, refuses to open
// until `h5clear -s` has been run on it: the superblock says "open for writing", and its
// end-of-file address lags behind the data. This driver writes like HDF5's own POSIX driver, with
// these differences:
//
//   - every superblock goes out with the flags "open for writing" cleared, and with an end-of-file
//     address that is at or beyond everything written (the file is grown first, sparsely, by
//     growth_step); the exact address is written when the file is closed;
//   - after a failed write (full disk) nothing more reaches the file, so what is there stays
//     consistent, and HDF5 can be made to close it; the failure is remembered beyond the closing
//     (SteadyState), because HDF5 drops what fails while an object is closed;
//   - changes of any kind (File::modify) are only gathered, for their maker to make them as a whole
//     when the file is closed (io/journal.h);
//   - a file is written by one process at a time (an open-file-description lock, which readers do
//     not notice);
//   - what it reads need not be on a file system with locks; where there are, a reader notices a
//     program that writes the file with HDF5's own locks;
//   - files other than regular ones are refused, and for writing symbolic links, too;
//   - the disk has a file's new size before anything is written that relies on it, and where power
//     was lost the larger of size and recorded end is the end.
//
// Format of the superblock (versions 2 and 3): HDF5 File Format Specification 3.0, section II.A.
#pragma once

#include <hdf5.h>
#include <sys/types.h>

#include <memory>
#include <string>

#include "io/journal.h"

namespace perrin::io {

/// What has become of a file that the driver opened for writing; it outlives the file.
struct SteadyState {
  int error = 0;  // errno of the first write, sync or close that failed; nothing was written since
  bool open = true;  // HDF5 has not closed it
  dev_t device = 0;  // which file it is, whatever its name
  ino_t inode = 0;
  FileChanges changes;  // of a file whose changes are gathered
};

/// Sets the driver on a file access property list. `gather`: nothing is written, changes are
/// gathered in the file's SteadyState. Returns HDF5's status.
herr_t set_steady_driver(hid_t access, bool gather);

/// Of a file that the driver opened; nullptr for others.
std::shared_ptr<const SteadyState> steady_state(hid_t file);

/// Writes what the driver's file has to the disk (fdatasync). A failure is remembered.
void sync_steady_file(hid_t file);

/// What the last failed system call of this thread's driver said ("No space left on device"), and
/// forgets it. Empty: none failed.
std::string take_driver_error();

}  // namespace perrin::io
