package mapdata

import (
	"time"

	"wayside/internal/ground/geo"
)

// Touched describes where a change is visible to readers, so that the streams there are woken. It may cover more than
// changed.
type Touched struct {
	Everywhere bool         // anything may have changed
	Areas      []geo.Circle // where entities were added, changed, removed or voted on
	Returns    []Return     // ends of suppressions
	Live       []Tally      // tallies of live incidents, whose position the sender does not know
	Accounts   []AccountID  // whose sessions ended or whose rights changed: their streams may have to end
}

// Return is where and when the suppression of an entity ends (D9.5). A later one for the same entity replaces it.
type Return struct {
	EntityID string
	At       time.Time
	Area     geo.Circle
}
