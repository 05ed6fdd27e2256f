// Package feeds tests feeds on the real program: polls of other formats, hostile documents, and the memory of pushes.
package feeds
