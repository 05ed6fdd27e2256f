package demo

import (
	"encoding/json"
	"fmt"
	"math"
)

// The speeds of the drive, in metres per second.
const (
	cornerSpeed  = 8.0
	townSpeed    = 14.0 // 50 km/h
	ringSpeed    = 20.0 // 72 km/h
	acceleration = 1.2  // metres per second squared
	driveStep    = 15.0 // metres between two points
	turnRadius   = 14.0 // metres
)

// corners returns the turning points of the drive, a closed loop on main roads.
func corners() []spot {
	return []spot{
		crossing(12, 12), crossing(16, 16), crossing(20, 16), crossing(20, 8), crossing(8, 8), crossing(8, 12),
	}
}

// drive is a route through the town with speeds.
type drive struct {
	Coordinates [][2]float64 `json:"coordinates"` // longitude, latitude
	Speeds      []float64    `json:"speeds"`      // at each coordinate, metres per second
}

// drives holds the drives that a page plays: a loop, and a drive to a destination.
type drives struct {
	drive
	Guided *guide `json:"guided,omitempty"`
}

// DriveJSON returns the drives of the demo as JSON: coordinates, longitude first, and the speed at each of them in metres per
// second. One is a loop of about ten minutes around the town, past the published cameras and road works; the other one, which needs
// the town's roads, leads to a destination.
func DriveJSON(townRoads bool) ([]byte, error) {
	way, fast := drivePath()
	all := drives{drive: encodeDrive(way, driveSpeeds(way, fast))}
	if townRoads {
		all.Guided = guided()
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode the drives: %w", err)
	}
	return body, nil
}

func encodeDrive(way []spot, speeds []float64) drive {
	out := drive{Coordinates: make([][2]float64, len(way)), Speeds: make([]float64, len(way))}
	for i, s := range way {
		const tenth = 10
		out.Coordinates[i] = coordinate(s)
		out.Speeds[i] = math.Round(speeds[i]*tenth) / tenth
	}
	return out
}

// coordinate converts a spot to longitude and latitude, to a decimetre.
func coordinate(s spot) [2]float64 {
	const decimetre = 1e6
	lat, lng := place(s)
	return [2]float64{math.Round(lng*decimetre) / decimetre, math.Round(lat*decimetre) / decimetre}
}

// drivePath returns the points of the drive with rounded corners, and the speed limit at each point.
func drivePath() (way []spot, fast []float64) {
	turns := corners()
	for i, from := range turns {
		to, next := turns[(i+1)%len(turns)], turns[(i+2)%len(turns)]
		length := from.distance(to)
		limit := townSpeed
		if from.x == to.x && from.x == crossing(ringHigh, 0).x {
			limit = ringSpeed
		}
		for along := turnRadius; along < length-turnRadius; along += driveStep {
			way, fast = append(way, from.to(to, along/length)), append(fast, limit)
		}
		const pieces = 4 // segments of a turn
		begin, end := from.to(to, 1-turnRadius/length), to.to(next, turnRadius/to.distance(next))
		for k := range pieces {
			t := float64(k) / pieces
			way, fast = append(way, begin.to(to, t).to(to.to(end, t), t)), append(fast, cornerSpeed)
		}
	}
	return append(way, way[0]), append(fast, fast[0])
}

// driveSpeeds returns speeds within the limits and with limited acceleration.
func driveSpeeds(way []spot, fast []float64) []float64 {
	speeds := append([]float64(nil), fast...)
	reach := func(from, to int) {
		most := math.Sqrt(speeds[from]*speeds[from] + 2*acceleration*way[from].distance(way[to]))
		speeds[to] = min(speeds[to], most)
	}
	last := len(way) - 1
	for range 2 { // twice, because the drive is a loop
		for i := range last {
			reach(i, i+1)
		}
		for i := last; i > 0; i-- {
			reach(i, i-1)
		}
		speeds[0] = min(speeds[0], speeds[last])
		speeds[last] = speeds[0]
	}
	return speeds
}

// onDrive returns the spot at a distance along the drive, and its road.
func (p *plan) onDrive(metres float64) (r *road, along float64) {
	turns := corners()
	for i, from := range turns {
		to := turns[(i+1)%len(turns)]
		if length := from.distance(to); metres > length {
			metres -= length
			continue
		}
		return p.nearest(from.to(to, metres/from.distance(to)))
	}
	return p.onDrive(math.Mod(metres, driveMetres()))
}

// driveMetres returns the length of the drive without rounded corners.
func driveMetres() float64 {
	turns, sum := corners(), 0.0
	for i, from := range turns {
		sum += from.distance(turns[(i+1)%len(turns)])
	}
	return sum
}

// nearest returns the road nearest to a spot, and the distance along it.
func (p *plan) nearest(s spot) (best *road, along float64) {
	least := math.Inf(1)
	for i := range p.roads {
		r := &p.roads[i]
		before := 0.0
		for j := 1; j < len(r.line); j++ {
			a, b := r.line[j-1], r.line[j]
			length := a.distance(b)
			share := ((s.x-a.x)*(b.x-a.x) + (s.y-a.y)*(b.y-a.y)) / (length * length)
			share = min(max(share, 0), 1)
			if d := a.to(b, share).distance(s); d < least-1e-6 {
				least, best, along = d, r, before+share*length
			}
			before += length
		}
	}
	return best, along
}
