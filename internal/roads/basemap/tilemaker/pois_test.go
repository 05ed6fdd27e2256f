package tilemaker

import (
	"fmt"
	"testing"

	"wayside/internal/roads/osmpbf"
)

// TestPOIs checks which objects are points of interest, from which zoom on, and with what members.
func TestPOIs(t *testing.T) {
	for _, tt := range []struct {
		tags osmpbf.Tags
		want string
	}{
		{osmpbf.Tags{{Key: "amenity", Value: "fuel"}, {Key: "name", Value: "Total"}}, "fuel from 13 [Total]"},
		{osmpbf.Tags{{Key: "amenity", Value: "hospital"}, {Key: "name", Value: "Mater Dei"}, {Key: "name:it", Value: "Ospedale"}}, "hospital from 12 [Mater Dei Ospedale]"},
		{osmpbf.Tags{{Key: "aeroway", Value: "aerodrome"}}, "aerodrome from 11 []"},
		{osmpbf.Tags{{Key: "amenity", Value: "parking"}}, "parking from 14 []"},
		{osmpbf.Tags{{Key: "amenity", Value: "parking"}, {Key: "access", Value: "private"}}, "none"},
		{osmpbf.Tags{{Key: "amenity", Value: "bench"}}, "none"},
		{osmpbf.Tags{{Key: "highway", Value: "traffic_signals"}, {Key: "name", Value: "x"}}, "traffic_signals from 14 []"},
		{osmpbf.Tags{{Key: "highway", Value: "motorway_junction"}, {Key: "ref", Value: "12a"}}, "motorway_junction from 12 [12a]"},
		{osmpbf.Tags{{Key: "highway", Value: "motorway_junction"}, {Key: "name", Value: "Linate"}}, "none"},
		{osmpbf.Tags{{Key: "railway", Value: "station"}, {Key: "shop", Value: "mall"}}, "station from 12 []"},
	} {
		var f facts
		f.read(tt.tags)
		got := "none"
		for _, d := range f.poi() {
			texts := []string{}
			for _, one := range d.tags[1:] {
				texts = append(texts, one.Text)
			}
			got = fmt.Sprintf("%s from %d %v", d.tags[0].Text, d.lowest, texts)
			if d.layer != poisLayer || d.geometry != dot || d.lowest < lowestPOI {
				t.Errorf("%v is drawn as %+v", tt.tags, d)
			}
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.tags, got, tt.want)
		}
	}
}

// TestStructure checks the members of roads on bridges, in tunnels and in one direction.
func TestStructure(t *testing.T) {
	for _, tt := range []struct {
		tags osmpbf.Tags
		want string
	}{
		{osmpbf.Tags{{Key: "highway", Value: "primary"}}, ""},
		{osmpbf.Tags{{Key: "highway", Value: "primary"}, {Key: "bridge", Value: "viaduct"}, {Key: "oneway", Value: "yes"}}, " is_bridge=yes oneway=yes"},
		{osmpbf.Tags{{Key: "highway", Value: "primary"}, {Key: "tunnel", Value: "no"}, {Key: "oneway", Value: "-1"}}, " oneway=-1"},
		{osmpbf.Tags{{Key: "highway", Value: "motorway"}, {Key: "tunnel", Value: "yes"}, {Key: "oneway", Value: "yes"}}, " is_tunnel=yes"},
		{osmpbf.Tags{{Key: "highway", Value: "primary"}, {Key: "junction", Value: "roundabout"}, {Key: "oneway", Value: "yes"}}, ""},
	} {
		var f facts
		f.read(tt.tags)
		got := ""
		for _, one := range f.structure(nil) {
			got += " " + one.Name + "=" + one.Text
		}
		if got != tt.want {
			t.Errorf("%v:%s, want%s", tt.tags, got, tt.want)
		}
	}
}
