package nav

import (
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Places are the coordinates of a request, and how they snap to roads. Each list is empty, or has a value for each
// coordinate.
type Places struct {
	Coordinates []geo.Point
	Bearings    []Bearing
	Radiuses    []float64 // metres; Unlimited if none is given
	Approaches  []Approach
	Exclude     graph.Flags // roads with one of these flags are left out
	AnyRoad     bool        // include roads on which no route begins by itself: ferries, private service roads
}

// Unlimited is the radius of a coordinate without a limit of its own.
const Unlimited = -1.0

// Bearing limits a coordinate to roads that are driven in a direction.
type Bearing struct {
	Given        bool
	Value, Range float64 // degrees
}

// Approach is the side from which a place is reached or left.
type Approach uint8

// The approaches.
const (
	Unrestricted Approach = iota
	Curb                  // the place lies on the side on which traffic drives
	Opposite              // the place lies on the other side
)

// Straight selects whether a route continues at a waypoint in the direction in which it arrived.
type Straight uint8

// The values of Straight. The default is to go straight on, as OSRM's car does.
const (
	StraightByDefault Straight = iota
	AlwaysStraight
	TurnsAllowed
)

// RouteRequest asks for the best route over coordinates in their order.
type RouteRequest struct {
	Places
	Alternatives int // number of alternatives; only between two coordinates
	Straight     Straight
	Waypoints    []int // the coordinates between which the legs are; nil: all
	Avoid        Avoid
	Steps        bool
	JoinExits    bool // the exit of a roundabout is not a separate maneuver
}

// The bounds of requests (D15.23).
const (
	MaxCoordinates  = 100
	MaxAlternatives = 3
	MaxPairs        = 10_000
	MaxTrace        = 500
	MaxNearest      = 100
)
