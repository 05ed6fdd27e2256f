//go:build !unix

package projectiontest

import (
	"testing"
	"time"
)

// processTime stands in for the time of processors: the time of the clock since a moment in the past.
func processTime(*testing.T) time.Duration { return time.Since(Start.AddDate(-100, 0, 0)) }
