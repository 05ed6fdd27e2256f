// Package apps tests apps on the real program: submission, proof of their pages, the catalogue on several nodes, and memory.
package apps
