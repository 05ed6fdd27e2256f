package main

import (
	"bytes"
	"fmt"

	"wayside/internal/roads/osmpbf"
)

// The generated town, for machines without an extract: streets in a grid, about as many as Monaco has.
const (
	townAcross = 60 // junctions
	townStep   = 0.0009
	townLat    = 43.70
	townLng    = 7.38
)

// writeTown returns an extract of the generated town.
func writeTown() ([]byte, error) {
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{})
	if err != nil {
		return nil, err
	}
	id := func(row, column int) int64 { return int64(1 + row*townAcross + column) }
	for row := range townAcross {
		for column := range townAcross {
			// A little off the grid, so that lines are not straight.
			lat := townLat + float64(row)*townStep + float64(row*7%5+column*3%4)*0.00003
			lng := townLng + float64(column)*townStep*1.3 + float64(row*5%7)*0.00003
			if err := w.Node(osmpbf.Node{ID: id(row, column), Lat: int64(lat * 1e9), Lng: int64(lng * 1e9)}); err != nil {
				return nil, err
			}
		}
	}
	for line := range townAcross {
		var along, across []int64
		for i := range townAcross {
			along, across = append(along, id(line, i)), append(across, id(i, line))
		}
		kind := "residential"
		if line%10 == 0 {
			kind = "secondary"
		}
		for i, nodes := range [][]int64{along, across} {
			way := osmpbf.Way{ID: int64(1 + 2*line + i), Refs: nodes, Tags: osmpbf.Tags{{Key: "highway", Value: kind}, {Key: "name", Value: fmt.Sprintf("%s Street %d", [...]string{"Long", "Cross"}[i], line)}}}
			if err := w.Way(way); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
