package graph

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/car"
)

// Closed is the weight of an arc that must not be driven from one end to the other (D15.16).
const Closed = math.MaxUint32

// None is an invalid index.
const None = math.MaxUint32

// Graph is a road network. Indexes are positions in its arrays.
type Graph struct {
	Nodes  []Node
	Pieces []Piece
	Arcs   []Arc
	// FirstTurn has one more value than there are arcs: the turns from arc a are Turns[FirstTurn[a]:FirstTurn[a+1]], ordered by To.
	FirstTurn []uint32
	Turns     []Turn
	// Line has the positions of all pieces, and LineNodes the ids of OpenStreetMap's nodes there.
	Line      []Position
	LineNodes []int64
	Ways      []Way
	// Signs are what some ways have besides a name; ways with equal signs share them. Lanes has the lanes that the signs
	// refer to.
	Signs []Signs
	Lanes []car.Lane
	// Exits are the signs at nodes where drivers leave a motorway, ordered by node.
	Exits []Exit
	// Maneuvers are the maneuvers that mappers tagged, ordered by node; ManeuverWays has the ways of their paths.
	Maneuvers    []Maneuver
	ManeuverWays []uint32
	// Texts contains all names and references, concatenated; Text extracts one.
	Texts []byte
}

// Position is a place in units of 1e-7 degrees.
type Position struct{ Lng, Lat int32 }

// Node is a node at which pieces end.
type Node struct {
	Position
	OSM int64
}

// Piece is a stretch of a way between two nodes, in the direction in which the way is drawn.
type Piece struct {
	Way       uint32
	FirstLine uint32 // its positions are Line[FirstLine:FirstLine+Positions], both ends included
	Positions uint32 // at least 2
	Length    uint32 // mm
	Forward   uint32 // the arc on which routes along the piece begin and end, or None
	Backward  uint32 // the same for the opposite direction
}

// Arc is a piece in one direction.
type Arc struct {
	From, To uint32 // nodes
	Weight   uint32 // ms without conditions; at least 1, less than Closed
	Duration uint32 // ms without conditions
	Piece    uint32
	// CopyOf is the arc on which routes begin and end: the arc's own index, except for the copies that restrictions over
	// ways make.
	CopyOf uint32
	// Island numbers the strongly connected part of the network that the arc is in; 0 is the largest.
	Island uint32
	Flags  Flags
}

// Flags are further properties of an arc.
type Flags uint32

// The flags of an arc.
const (
	MayBegin   Flags = 1 << iota // a route may begin here (D15.10)
	MayEnd                       // a route may end here; copies have the flag of their original
	Backward                     // against the direction of its piece
	Toll                         // left out by exclude=toll
	Motorway                     // left out by exclude=motorway
	Ferry                        // left out by exclude=ferry
	Roundabout                   // junction=roundabout
	Circular                     // junction=circular
	DriveLeft                    // traffic drives on the left here
	LocalOnly                    // access is local (D15.4)
	Tunnel                       // in a tunnel
)

// Turn leads from the end of an arc onto another. Its costs are in milliseconds and include the cost of the node.
type Turn struct {
	To               uint32
	Weight, Duration uint32
}

// Way holds the common properties of the pieces of one way.
type Way struct {
	OSM              int64
	Name, Ref        TextRange
	Signs            uint32 // the index of its signs plus 1; 0: none
	MaxSpeedForward  uint16 // km/h as signed, 0 unknown
	MaxSpeedBackward uint16
	Class            Class
	Lanes            uint8 // as tagged, 0 unknown
	Use              Use
	_                [5]byte
}

// Use is the purpose of a road, besides its class.
type Use uint8

// The uses of roads.
const (
	AnyUse   Use = iota
	MinorUse     // a service road that leads to houses, to parking or behind houses
)

// Signs are the signs along a road and the lanes on it.
type Signs struct {
	Destination TextRange    // where the road leads: references, a colon and places, in lists; of one-way roads only
	Exit        TextRange    // the numbers of the exit that begins here, in a list
	Pronunc     TextRange    // how its name is spoken
	Lanes       [2]LaneRange // by direction: forward, backward
}

// LaneRange is the position of the lanes of a direction in Graph.Lanes, from left to right.
type LaneRange struct{ First, Count uint32 }

// Exit is the sign at a node where drivers leave a motorway.
type Exit struct {
	Node      uint32
	Ref, Name TextRange
}

// TextRange is the position of a text in Graph.Texts.
type TextRange struct{ Start, Length uint32 }

// Class is the class of a road, the most important first.
type Class uint8

// The classes of roads.
const (
	ClassMotorway Class = iota
	ClassMotorwayLink
	ClassTrunk
	ClassTrunkLink
	ClassPrimary
	ClassPrimaryLink
	ClassSecondary
	ClassSecondaryLink
	ClassTertiary
	ClassTertiaryLink
	ClassUnclassified
	ClassResidential
	ClassLivingStreet
	ClassService
	ClassFerry
	ClassOther
)

// Text returns a copy of a name or a reference.
func (g *Graph) Text(r TextRange) string { return string(g.Texts[r.Start : r.Start+r.Length]) }

// Bytes returns a text without copying it. The caller must not change it.
func (g *Graph) Bytes(r TextRange) []byte { return g.Texts[r.Start : r.Start+r.Length] }

// SignsOf returns the signs of a way, or the zero value if it has none.
func (g *Graph) SignsOf(w *Way) Signs {
	if w.Signs == 0 {
		return Signs{}
	}
	return g.Signs[w.Signs-1]
}

// LanesOf returns the lanes at the end of an arc, from left to right, or nil if they are not tagged.
func (g *Graph) LanesOf(arc uint32) []car.Lane {
	a := &g.Arcs[arc]
	w := &g.Ways[g.Pieces[a.Piece].Way]
	if w.Signs == 0 {
		return nil
	}
	direction := 0
	if a.Flags&Backward != 0 {
		direction = 1
	}
	r := g.Signs[w.Signs-1].Lanes[direction]
	return g.Lanes[r.First : r.First+r.Count]
}

// ExitAt returns the sign at a node, and false if there is none.
func (g *Graph) ExitAt(node uint32) (Exit, bool) {
	at, ok := slices.BinarySearchFunc(g.Exits, node, func(e Exit, node uint32) int { return cmp.Compare(e.Node, node) })
	if !ok {
		return Exit{}, false
	}
	return g.Exits[at], true
}

// ForRouting returns the network without the descriptions of its roads. It shares the nodes, arcs and turns with g.
func (g *Graph) ForRouting() *Graph {
	return &Graph{Nodes: g.Nodes, Arcs: g.Arcs, FirstTurn: g.FirstTurn, Turns: g.Turns}
}

// TurnsFrom returns the turns from the end of an arc.
func (g *Graph) TurnsFrom(arc uint32) []Turn { return g.Turns[g.FirstTurn[arc]:g.FirstTurn[arc+1]] }

// PieceLine returns the positions of a piece, in its own direction.
func (g *Graph) PieceLine(piece uint32) []Position {
	p := &g.Pieces[piece]
	return g.Line[p.FirstLine : p.FirstLine+p.Positions]
}

// Weights returns the weights of all arcs without conditions.
func (g *Graph) Weights() []uint32 {
	weights := make([]uint32, len(g.Arcs))
	for i := range g.Arcs {
		weights[i] = g.Arcs[i].Weight
	}
	return weights
}

// Point returns the position in degrees.
func (p Position) Point() geo.Point {
	return geo.Point{Lat: float64(p.Lat) / 1e7, Lng: float64(p.Lng) / 1e7}
}
