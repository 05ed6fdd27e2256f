// Package region makes a region file of OpenStreetMap extracts and serves it: one file with all that one import made, in named
// sections behind a table of checksums, mapped into memory read-only (D15.1, D15.2).
//
// Import builds in memory, writes to a temporary name, flushes, renames, and then makes the region the current one by replacing a
// small file that names it. So a process that is killed or a disk that is full leaves the region that was there, and at most a temporary
// file, which the next import or start removes. The name lies in a file and not in a symbolic link because Windows, and many ways of
// copying a folder, know no such links; a rename replaces either in one step.
//
// Current is the region that a running service answers from. It looks once a second at which one is current, verifies every byte of a
// new one before anybody sees it, and replaces the old one by one atomic store. Readers take no lock and release nothing: the memory of
// a region is unmapped a while after the last reference to any part of it is gone, which the garbage collector finds out.
package region
