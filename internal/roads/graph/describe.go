package graph

import (
	"strconv"

	"wayside/internal/roads/car"
)

// describe reads the properties of a road that answers show and no cost depends on.
func describe(p *car.Profile, tags car.Tags, drive *car.Way) (Flags, Way) {
	way := Way{
		Class:            classOf(tags.Value("highway")),
		MaxSpeedForward:  kilometresPerHour(p.SpeedLimit(tags, car.Forward)),
		MaxSpeedBackward: kilometresPerHour(p.SpeedLimit(tags, car.Backward)),
	}
	if drive.Ferry {
		way.Class = ClassFerry
	}
	if lanes, err := strconv.ParseUint(tags.Value("lanes"), 10, 8); err == nil {
		way.Lanes = uint8(lanes)
	}
	switch tags.Value("service") {
	case "alley", "driveway", "drive-through", "emergency_access", "parking", "parking_aisle", "parking_space":
		way.Use = MinorUse
	}
	var flags Flags
	if tunnel := tags.Value("tunnel"); tunnel != "" && tunnel != "no" {
		flags |= Tunnel
	}
	if drive.Ferry {
		flags |= Ferry
	}
	if drive.Motorway {
		flags |= Motorway
	}
	switch tags.Value("junction") {
	case "roundabout":
		flags |= Roundabout
	case "circular":
		flags |= Circular
	}
	return flags, way
}

func kilometresPerHour(speed float64) uint16 { return uint16(min(max(speed, 0), 1000) + 0.5) }

func classOf(highway string) Class {
	switch highway {
	case "motorway":
		return ClassMotorway
	case "motorway_link":
		return ClassMotorwayLink
	case "trunk":
		return ClassTrunk
	case "trunk_link":
		return ClassTrunkLink
	case "primary":
		return ClassPrimary
	case "primary_link":
		return ClassPrimaryLink
	case "secondary":
		return ClassSecondary
	case "secondary_link":
		return ClassSecondaryLink
	case "tertiary":
		return ClassTertiary
	case "tertiary_link":
		return ClassTertiaryLink
	case "unclassified":
		return ClassUnclassified
	case "residential":
		return ClassResidential
	case "living_street":
		return ClassLivingStreet
	case "service":
		return ClassService
	}
	return ClassOther
}
