//go:build !unix

package projectiontest

import (
	"testing"
	"time"
)

// processTime returns the clock's time since a moment in the past, which stands in for the time of processors.
func processTime(*testing.T) time.Duration { return time.Since(Start.AddDate(-100, 0, 0)) }
