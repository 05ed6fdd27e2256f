package guide

import (
	"wayside/internal/roads/graph"
)

// rankOf returns the importance of a road; 0 is the most important. Links rank slightly below the roads that they link.
func rankOf(w *graph.Way) int {
	switch w.Class {
	case graph.ClassService:
		if w.Use == graph.MinorUse {
			return 12
		}
		return 11
	case graph.ClassUnclassified, graph.ClassResidential, graph.ClassLivingStreet:
		return 10
	case graph.ClassFerry:
		return 4
	case graph.ClassOther:
		return 13
	}
	return int(w.Class) // motorways to the links of tertiary roads: 0 to 9
}

// isLow reports whether a road is unimportant: service roads, alleys, tracks.
func isLow(w *graph.Way) bool { return rankOf(w) >= 11 }

func isMotorway(w *graph.Way) bool {
	return w.Class == graph.ClassMotorway || w.Class == graph.ClassTrunk
}

// isRamp reports whether a road leads onto or off a motorway.
func isRamp(w *graph.Way) bool {
	return w.Class == graph.ClassMotorwayLink || w.Class == graph.ClassTrunkLink
}

// isTurnLane reports whether a road links others that are not motorways.
func isTurnLane(w *graph.Way) bool { return isLink(w) && !isRamp(w) }

func isLink(w *graph.Way) bool {
	switch w.Class {
	case graph.ClassMotorwayLink, graph.ClassTrunkLink, graph.ClassPrimaryLink, graph.ClassSecondaryLink, graph.ClassTertiaryLink:
		return true
	}
	return false
}

const circles = graph.Roundabout | graph.Circular

func isCircle(f graph.Flags) bool { return f&circles != 0 }
