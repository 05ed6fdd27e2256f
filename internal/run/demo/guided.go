package demo

import (
	"math"
)

// Speeds of the guided drive, in metres per second.
const (
	motorwaySpeed = 29.0
	rampSpeed     = 14.0
	countrySpeed  = 19.0
	circusSpeed   = 7.0
	streetSpeed   = 8.0
	startSpeed    = 3.0 // also at the end: a car that stands has no direction
)

// The wrong turn of the guided drive: the drive leaves the avenue by this street, and returns by the next one.
const wrongStreet = 5

// guide is a drive to a destination that a page plays while the service guides it along a route. It follows the routes of the
// service, except for one wrong turn, and goes around the visitor's bridge, which closes on the way.
type guide struct {
	drive
	Name    string     `json:"name"`    // of the destination
	To      [2]float64 `json:"to"`      // longitude, latitude
	Tunnels [][2]int   `json:"tunnels"` // first and last coordinates without fixes
}

// stretch is a straight piece of the guided drive.
type stretch struct {
	to    spot
	limit float64
}

// guidedEnd returns the destination of the guided drive.
func guidedEnd() spot { return crossing(visitorsAvenue, 15.5) }

// guidedStart returns the start of the guided drive.
func guidedStart() spot { return crossing(blocks, -0.8) }

// guidedStretches returns the pieces of the guided drive, from guidedStart.
func guidedStretches() []stretch {
	const avenue = visitorsAvenue
	from, to := exits()[2], exits()[1]
	way := []stretch{
		{motorwayAt(from.x, rampWide), countrySpeed},
		{motorwayAt(from.x-rampLong/2, rampWide/2), rampSpeed},
		{motorwayAt(from.x-rampLong, carriageway), rampSpeed},
	}
	const apart = 100 // of the places of the motorway
	for x := math.Floor((from.x-rampLong)/apart) * apart; x > to.x+rampLong; x -= apart {
		way = append(way, stretch{motorwayAt(x, carriageway), motorwaySpeed})
	}
	way = append(way,
		stretch{motorwayAt(to.x+rampLong, carriageway), motorwaySpeed},
		stretch{motorwayAt(to.x+rampLong/2, rampWide/2), rampSpeed}, stretch{motorwayAt(to.x, rampWide), rampSpeed},
		stretch{spot{to.x, -circusRadius}, countrySpeed})
	const pieces = 8 // of the half of the roundabout
	for i := 1; i <= pieces; i++ {
		sin, cos := math.Sincos(math.Pi * (float64(i)/pieces - 0.5))
		way = append(way, stretch{spot{to.x + circusRadius*cos, circusRadius * sin}, circusSpeed})
	}
	way = append(way,
		stretch{crossing(avenue, wrongStreet), townSpeed}, stretch{crossing(avenue+1, wrongStreet), streetSpeed},
		stretch{crossing(avenue+1, wrongStreet+1), streetSpeed}, stretch{crossing(avenue, wrongStreet+1), streetSpeed},
		stretch{crossing(avenue, avenue), townSpeed})
	quay := northQuayAt(avenue * blockMetres)
	first := avenue * blockMetres // where Bridge Road meets the quay
	for northQuayAt(first).y > first {
		first++
	}
	way = append(way, stretch{spot{first, first}, townSpeed})
	const bend = townMetres / 132 // the quay's places
	for x := math.Floor(first/bend) * bend; x > quay.x; x -= bend {
		way = append(way, stretch{northQuayAt(x), townSpeed})
	}
	return append(way, stretch{quay, townSpeed}, stretch{guidedEnd(), townSpeed})
}

func northQuayAt(x float64) spot { return spot{x, river(x) + quayOff} }

// guided returns the guided drive.
func guided() *guide {
	way, fast := guidedPath()
	fast[0], fast[len(fast)-1] = startSpeed, startSpeed
	accelerate(way, fast)
	g := &guide{drive: encodeDrive(way, fast), Name: ordinal(visitorsAvenue+1) + " Avenue", To: coordinate(guidedEnd())}
	first := -1
	tunnel := road{name: tunnelRoad}
	for i, s := range way {
		switch in := s.x == guidedEnd().x && inTunnel(&tunnel, s); {
		case in && first < 0:
			first = i
		case !in && first >= 0:
			g.Tunnels, first = append(g.Tunnels, [2]int{first, i - 1}), -1
		}
	}
	return g
}

// guidedPath returns the points of the guided drive with rounded corners, and the speed limit at each point.
func guidedPath() (way []spot, fast []float64) {
	const sharp = 20 // degrees: a smaller turn is not rounded
	from := guidedStart()
	all := guidedStretches()
	for i, s := range all {
		length := from.distance(s.to)
		var next spot
		isSharp := false
		if i+1 < len(all) {
			next = all[i+1].to
			isSharp = math.Abs(turnAngle(from, s.to, next)) > sharp
		}
		radius := 0.0
		if isSharp {
			radius = min(turnRadius, length/2, s.to.distance(next)/2)
		}
		for along := 0.0; along < length-radius; along += driveStep {
			if at := from.to(s.to, along/length); len(way) == 0 || way[len(way)-1].distance(at) > 1 {
				way, fast = append(way, at), append(fast, s.limit)
			}
		}
		from = s.to
		if isSharp {
			const pieces = 4
			begin, end := s.to.to(way[len(way)-1], radius/s.to.distance(way[len(way)-1])), s.to.to(next, radius/s.to.distance(next))
			for k := range pieces + 1 {
				t := float64(k) / pieces
				way, fast = append(way, begin.to(s.to, t).to(s.to.to(end, t), t)), append(fast, min(cornerSpeed, s.limit))
			}
			from = end
		}
	}
	return append(way, guidedEnd()), append(fast, startSpeed)
}

// turnAngle returns by how many degrees a way turns at a spot; left is positive.
func turnAngle(from, at, to spot) float64 {
	turn := math.Atan2(to.y-at.y, to.x-at.x) - math.Atan2(at.y-from.y, at.x-from.x)
	return math.Remainder(turn, 2*math.Pi) * 180 / math.Pi
}

// accelerate lowers speeds so that no car has to accelerate or brake too hard.
func accelerate(way []spot, speeds []float64) {
	reach := func(from, to int) {
		most := math.Sqrt(speeds[from]*speeds[from] + 2*acceleration*way[from].distance(way[to]))
		speeds[to] = min(speeds[to], most)
	}
	for i := range len(way) - 1 {
		reach(i, i+1)
	}
	for i := len(way) - 1; i > 0; i-- {
		reach(i, i-1)
	}
}
