package guide

import "wayside/internal/roads/car"

// Lane is a lane before an intersection.
type Lane struct {
	Marks car.Lane
	Valid bool // for the turn that the route takes
	Taken Direction
}
