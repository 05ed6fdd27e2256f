// Package memory keeps small values in this process for a while: the driver of live incidents where one node runs alone.
package memory
