// Package archtest checks the architecture by tests: the imports that each package may have, the places of wire structs and kinds, the
// lengths of files and functions, and the words that comments and texts for people do not use. It parses the source files itself, so that
// no cache of the tool chain answers for them.
package archtest
