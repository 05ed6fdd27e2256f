// Package archtest holds the drawing of the house as tests: which package may import which, where wire shapes and kinds live, how long
// files and functions may grow, and which words comments and texts for people do not use. It parses the source files itself, so that no
// cache of the tool chain answers for them.
package archtest
