//go:build !race

package index_test

import (
	"testing"

	"wayside/internal/replica/projectiontest"
)

// TestProjectionScales holds what loads and changes cost.
func TestProjectionScales(t *testing.T) { projectiontest.Scales(t, subject) }
