package demo

import "strconv"

// label is a named point of the map.
type label struct {
	kind, detail string
	name         string
	at           spot
}

// townName is the town's name.
const townName = "Demo Town"

// places lists the town, its parts and the villages around it.
var places = [...]label{
	{"locality", "city", townName, crossing(12.5, 12.5)},
	{"locality", "village", "Westbrook", spot{-5200, 2900}},
	{"locality", "village", "Eastfield", spot{9400, 2600}},
	{"locality", "village", "Northwood", spot{3200, 8300}},
	{"neighbourhood", "suburb", "Old Town", crossing(9.5, 13.2)},
	{"neighbourhood", "suburb", "Northside", crossing(6.5, 18.5)},
	{"neighbourhood", "suburb", "Southside", crossing(12.5, 2.5)},
	{"neighbourhood", "suburb", "Eastgate", crossing(21.5, 15.5)},
	{"neighbourhood", "suburb", "Harbour", crossing(2.5, 10.5)},
}

// Names of water.
const (
	lakeName  = "Ring Lake"
	riverName = "River Linde"
)

// riverLine returns the middle of the river, along which its name is written.
func riverLine() []spot {
	const step = 200
	var line []spot
	for x := riverWest; x <= riverEast; x += step {
		line = append(line, spot{x, river(x)})
	}
	return line
}

// roadNumbers maps names of roads to the numbers on their shields.
var roadNumbers = map[string]string{
	"Motorway 7": "M7", "Ring": "R1", "North Road": "A12", "South Road": "A12", "East Road": "A40", "West Road": "A40", "Bridge Road": "B5",
}

// houses returns the house numbers of a street within the town: odd ones to its left and even ones to its right.
func (r *road) houses() []label {
	const apart, off, corner = 24.0, 16.0, 20.0 // metres
	if r.class != small && r.class != primary {
		return nil
	}
	var out []label
	number := 0
	for along := corner; along < r.length()-corner; along += apart / 2 {
		number++
		here, ahead := r.at(along), r.at(along+1)
		if isWet(here) || min(here.x, here.y) < 0 || max(here.x, here.y) > townMetres {
			continue // on a bridge, or out in the country
		}
		east, north := ahead.x-here.x, ahead.y-here.y
		side := off
		if number%2 == 0 {
			side = -off
		}
		out = append(out, label{"address", "", strconv.Itoa(number), spot{here.x - north*side, here.y + east*side}})
	}
	return out
}
