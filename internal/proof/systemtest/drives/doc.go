// Package drives tests routes, alerts ahead and led drives on the real program: what was pushed, voted and reported changes them.
package drives
