package demo

import (
	"encoding/json"
	"fmt"
	"math"
)

// The speeds of the drive, in metres in a second.
const (
	slowest    = 8.0  // round corners
	townSpeed  = 14.0 // 50 km/h
	ringSpeed  = 20.0 // 72 km/h
	pace       = 1.2  // how fast it brakes and picks up speed, metres in a second each second
	driveStep  = 15.0 // metres from one place to the next
	turnRadius = 14.0 // metres
)

// corners are where the drive turns; it ends where it begins. All of its way lies on main roads.
func corners() []spot {
	return []spot{
		crossing(12, 12), crossing(16, 16), crossing(20, 16), crossing(20, 8), crossing(8, 8), crossing(8, 12),
	}
}

// drive is a way through the town and how fast it is driven.
type drive struct {
	Coordinates [][2]float64 `json:"coordinates"` // longitude, latitude
	Speeds      []float64    `json:"speeds"`      // at each place, metres in a second
}

// DriveJSON is a drive of about ten minutes round the town, past what the town's authority publishes, as JSON:
// coordinates, longitude first, and the speed at each of them in metres in a second.
func DriveJSON() ([]byte, error) {
	way, fast := driveWay()
	speeds := driveSpeeds(way, fast)
	out := drive{Coordinates: make([][2]float64, len(way)), Speeds: make([]float64, len(way))}
	for i, s := range way {
		lat, lng := place(s)
		const decimetre, tenth = 1e6, 10
		out.Coordinates[i] = [2]float64{math.Round(lng*decimetre) / decimetre, math.Round(lat*decimetre) / decimetre}
		out.Speeds[i] = math.Round(speeds[i]*tenth) / tenth
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode the drive: %w", err)
	}
	return body, nil
}

// driveWay is the way in small steps, its corners rounded, and how fast one may go at each place.
func driveWay() (way []spot, fast []float64) {
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
		const pieces = 4 // of a turn: a curve from one street into the next
		begin, end := from.to(to, 1-turnRadius/length), to.to(next, turnRadius/to.distance(next))
		for k := range pieces {
			t := float64(k) / pieces
			way, fast = append(way, begin.to(to, t).to(to.to(end, t), t)), append(fast, slowest)
		}
	}
	return append(way, way[0]), append(fast, fast[0])
}

// driveSpeeds holds the limits, and brakes and picks up speed as a car does.
func driveSpeeds(way []spot, fast []float64) []float64 {
	speeds := append([]float64(nil), fast...)
	reach := func(from, to int) {
		most := math.Sqrt(speeds[from]*speeds[from] + 2*pace*way[from].distance(way[to]))
		speeds[to] = min(speeds[to], most)
	}
	last := len(way) - 1
	for range 2 { // twice, since the end is the beginning
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

// onDrive is the spot so many metres along the drive, and the road it lies on.
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

// driveMetres is how long the drive is, corner to corner.
func driveMetres() float64 {
	turns, sum := corners(), 0.0
	for i, from := range turns {
		sum += from.distance(turns[(i+1)%len(turns)])
	}
	return sum
}

// nearest is the road that passes a spot most closely, and how far along it that is.
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
