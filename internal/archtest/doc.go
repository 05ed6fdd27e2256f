// Package archtest holds the drawing of the house as tests: who may import whom, where wire shapes and kinds live, and how
// long files and functions may grow. It parses the source files itself, so that no cache of the tool chain answers for
// them.
package archtest
