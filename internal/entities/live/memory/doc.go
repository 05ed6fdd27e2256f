// Package memory stores small values in this process for a while: it is the driver of live incidents for a single node.
package memory
