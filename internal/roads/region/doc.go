// Package region makes a region file from OpenStreetMap extracts and serves it: one file with everything that one import
// made, in named sections behind a table of checksums, mapped into memory read-only (D15.1, D15.2).
//
// Import builds in memory, writes to a temporary name, flushes, renames, and then makes the region the current one by
// replacing a small file that names it. So a killed process or a full disk leaves the previous region in place and at
// most a temporary file, which the next import or start removes. The current region is named in a file and not by a
// symbolic link, because Windows and many ways of copying a folder do not support such links; a rename replaces either
// in one step.
//
// Current is the region that a running service answers from. It checks once a second which region is current, verifies
// every byte of a new one before readers get it, and replaces the old one with one atomic store. Readers take no lock
// and release nothing: the memory of a region is unmapped some time after the last reference to any part of it is gone,
// which the garbage collector detects.
package region
