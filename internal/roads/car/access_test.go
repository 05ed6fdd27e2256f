package car_test

import "testing"

func TestD15_3Ways(t *testing.T) {
	for name, table := range map[string][][2]string{
		"those with a highway or a route": {
			{"highway=primary", both},
			{"route=ferry", both},
			{"route=shuttle_train", both},
			{"railway=rail", closed},
			{"building=yes, access=yes", closed},
			{"", closed},
		},
		"never with a tag of never": {
			{"highway=primary, area=yes", closed},
			{"highway=primary, area=no", both},
			{"highway=primary, impassable=yes", closed},
			{"highway=primary, status=impassable", closed},
			{"highway=primary, oneway=reversible", closed},
			{"highway=service, service=emergency_access", closed},
			{"highway=steps, access=yes", closed},
			{"highway=construction, access=yes", closed},
			{"highway=proposed, access=yes", closed},
			{"highway=reversible, access=yes", closed},
			{"highway=impassable, access=yes", closed},
			{"highway=hov_lanes, access=yes", closed},
			{"highway=area, access=yes", closed},
			{"highway=primary, railway=construction", closed},
			{"highway=primary, railway=tram", both},
			{"route=ferry, area=yes", closed},
		},
		"never under construction": {
			{"highway=primary, construction=yes", closed},
			{"highway=primary, construction=primary", closed},
			{"highway=primary, construction=no", both},
			{"highway=primary, construction=widening", both},
			{"highway=primary, construction=minor", both},
		},
		"never proposed, unless the highway is there": {
			{"highway=primary, proposed=secondary", both},
			{"highway=proposed, proposed=secondary", closed},
			{"route=ferry, proposed=yes", closed},
		},
		"an empty value counts as no tag": {
			{"highway=, route=", closed},
			{"highway=, route=ferry", both},
			{"highway=primary, access=", both},
			{"highway=primary, construction=", both},
			{"highway=primary, motorcar=, access=no", closed},
			{"highway=, highway=primary", both},
			{"highway=primary, proposed=", both},
			{"route=ferry, proposed=", both},
		},
	} {
		t.Run(name, func(t *testing.T) { opens(t, table) })
	}
}

func TestD15_4Access(t *testing.T) {
	for name, table := range map[string][][2]string{
		"an earlier key before a later one": {
			{"highway=primary, access=no, vehicle=yes", both},
			{"highway=primary, access=yes, vehicle=no", closed},
			{"highway=primary, vehicle=no, motor_vehicle=yes", both},
			{"highway=primary, vehicle=yes, motor_vehicle=no", closed},
			{"highway=primary, motor_vehicle=no, motorcar=yes", both},
			{"highway=primary, motor_vehicle=yes, motorcar=no", closed},
			{"highway=primary, foot=no, bicycle=no, hgv=no", both},
		},
		"key:forward and key:backward before key": {
			{"highway=primary, access=yes, access:forward=no", "<"},
			{"highway=primary, access=yes, access:backward=no", ">"},
			{"highway=primary, access=no, access:forward=yes", ">"},
			{"highway=primary, access=no, access:backward=yes", "<"},
			{"highway=primary, access:forward=yes, motorcar=no", closed},
			{"highway=primary, access=yes, motorcar=yes, motorcar:forward=no", "<"},
			{"highway=primary, access:backward=no, motorcar:backward=yes", both},
		},
		"of a list the most open part counts": {
			{"highway=primary, access=no;yes", both},
			{"highway=primary, access=forestry;permissive", both},
			{"highway=primary, access=yes;private", both},
			{"highway=primary, access=agricultural;destination", local},
			{"highway=primary, access=destination; agricultural", local},
			{"highway=primary, access=agricultural; forestry", closed},
			{"highway=primary, access=agricultural;something", closed},
			{"highway=primary, access=something;no", closed},
			{"highway=primary, access=something;other", both},
			{"highway=primary, access=;", both},
		},
		"local on a highway of highway_speed, closed on others": {
			{"highway=primary, access=private", local},
			{"highway=primary, access=delivery", local},
			{"highway=primary, access=destination", local},
			{"highway=primary, access=customers", local},
			{"highway=primary, access=permit", local},
			{"highway=primary, access=residents", local},
			{"highway=primary, access=unknown", local},
			{"highway=winter_road, access=private", local},
			{"highway=primary, access:forward=private", "<)"},
			{"highway=track, access=destination", closed},
			{"highway=pedestrian, motorcar=private", closed},
			{"highway=track, access=unknown", closed},
			{"route=ferry, access=customers", closed},
		},
		"access_closed closes": {
			{"highway=primary, access=no", closed},
			{"highway=primary, access=agricultural", closed},
			{"highway=primary, access=forestry", closed},
			{"highway=primary, access=emergency", closed},
			{"highway=primary, access=psv", closed},
			{"highway=primary, access=taxi", closed},
			{"highway=primary, access=bus", closed},
			{"highway=primary, access=foot", closed},
			{"highway=primary, access=military", closed},
			{"highway=primary, access=official", closed},
			{"highway=primary, access=restricted", closed},
			{"route=ferry, motor_vehicle=no", closed},
		},
		"lanes for several people make local": {
			{"highway=primary, hov=designated", local},
			{"highway=primary, hov=yes", both},
			{"highway=primary, hov=lane", both},
			{"highway=primary, hov=designated, access=no", closed},
			{"highway=primary, hov:lanes=designated|designated", local},
			{"highway=primary, hov:lanes=designated|yes", both},
			{"highway=primary, hov:lanes=designated|", both},
			{"highway=primary, hov:lanes:forward=designated", "<)"},
			{"highway=primary, hov:lanes:backward=designated|designated", "(>"},
			{"highway=primary, hov:lanes=designated, hov:lanes:forward=designated|no", "(>"},
			{"highway=primary, hov:lanes=designated, oneway=-1", "("},
		},
		"any other value is as if it were not there": {
			{"highway=primary, access=some_tag", both},
			{"highway=primary, motorcar=some_tag, access=no", both}, // the way's first key decides
			{"highway=primary, access=No", both},
		},
	} {
		t.Run(name, func(t *testing.T) { opens(t, table) })
	}
}

func TestD15_4Limits(t *testing.T) {
	for name, table := range map[string][][2]string{
		"height": {
			{"highway=primary, maxheight=1.9", closed},
			{"highway=primary, maxheight=2", both},
			{"highway=primary, maxheight:physical=1.9", closed},
			{"highway=primary, maxheight:physical=3, maxheight=1", both},
			{"highway=primary, maxheight:physical=1, maxheight=3", closed},
			{"highway=primary, maxheight=1,9", closed},
			{"highway=primary, maxheight=6'6\"", closed}, // 1.98 m
			{"highway=primary, maxheight=6'7\"", both},   // 2.01 m
			{"highway=primary, maxheight=8'", both},
			{"highway=primary, maxheight=6'", closed},
			{"highway=primary, maxheight=default", both},
			{"highway=primary, maxheight=none", both},
			{"highway=primary, maxheight=no-sign", both},
			{"highway=primary, maxheight=unsigned", both},
			{"highway=primary, maxheight=low", both},
			{"highway=primary, maxheight:physical=low, maxheight=1", both},
		},
		"width, also when equal": {
			{"highway=primary, maxwidth=1.8", closed},
			{"highway=primary, maxwidth=1.9", closed},
			{"highway=primary, maxwidth=1.900", closed},
			{"highway=primary, maxwidth=2", both},
			{"highway=primary, maxwidth:physical=1", closed},
			{"highway=primary, width=1 m", closed},
			{"highway=primary, width=1m", closed},
			{"highway=primary, width=3 m", both},
			{"highway=primary, width=6'2\"", closed}, // 1.88 m
			{"highway=primary, width=6'3\"", both},   // 1.905 m
			{"highway=primary, width=narrow", both},
			{"highway=primary, est_width=1", closed},
			{"highway=primary, width=3, est_width=1", both},
			{"highway=primary, maxwidth=3, width=1", both},
			{"highway=primary, maxwidth:physical=3, maxwidth=1", both},
		},
		"length": {
			{"highway=primary, maxlength=4.7", closed},
			{"highway=primary, maxlength=4.8", both},
			{"highway=primary, maxlength=unsigned", both},
		},
		"weight in tonnes, kg or lbs": {
			{"highway=primary, maxweight=1.9", closed},
			{"highway=primary, maxweight=2", both},
			{"highway=primary, maxweight=3.5", both},
			{"highway=primary, maxweight=8.9t", both},
			{"highway=primary, maxweight=1900 kg", closed},
			{"highway=primary, maxweight=35000 kg", both},
			{"highway=primary, maxweight=4400 lbs", closed}, // 1 996 kg
			{"highway=primary, maxweight=4410 lbs", both},   // 2 000.3 kg
			{"highway=primary, maxweightrating=1", closed},
			{"highway=primary, maxweightrating=1, maxweight=2", closed},
			{"highway=primary, maxweightrating=2, maxweight=1", both},
			{"highway=primary, maxweight=unsigned", both},
		},
		"by direction": {
			{"highway=primary, maxheight:forward=1", "<"},
			{"highway=primary, maxheight:backward=1", ">"},
			{"highway=primary, maxheight=1, maxheight:forward=3", ">"},
			{"highway=primary, width:backward=1", ">"},
			{"highway=primary, maxweight:forward=1", "<"},
			{"highway=primary, maxlength:forward=1", "<"},
		},
		"numbers too long to be one": {
			{"highway=primary, maxheight=99999999999999999999999999", both},
			{"highway=primary, maxheight=1.99999999999999999999999999", closed},
			{"highway=primary, maxheight=.", both},
			{"highway=primary, maxheight=1.", closed},
			{"highway=primary, width=1.5.7", closed},
		},
	} {
		t.Run(name, func(t *testing.T) { opens(t, table) })
	}
}

func TestD15_5Oneway(t *testing.T) {
	for name, table := range map[string][][2]string{
		"forward and backward": {
			{"highway=primary, oneway=yes", ">"},
			{"highway=primary, oneway=1", ">"},
			{"highway=primary, oneway=true", ">"},
			{"highway=primary, oneway=-1", "<"},
			{"highway=primary, oneway=no", both},
			{"highway=primary, oneway=alternating", both},
			{"highway=primary, oneway:bicycle=yes", both},
			{"route=ferry, oneway=yes", ">"},
			{"highway=primary, bridge=movable, oneway=-1", "<"},
		},
		"the first key that is there decides": {
			{"highway=primary, oneway:motorcar=yes, oneway:motor_vehicle=no", ">"},
			{"highway=primary, oneway:motorcar=no, oneway:motor_vehicle=yes", both},
			{"highway=primary, oneway:motor_vehicle=-1, oneway:vehicle=yes", "<"},
			{"highway=primary, oneway:vehicle=yes, oneway=no", ">"},
			{"highway=primary, oneway:vehicle=no, oneway=yes", both},
		},
		"what is implied, unless no lifts it": {
			{"highway=motorway", ">"},
			{"highway=motorway_link", both},
			{"highway=motorway, oneway=no", both},
			{"highway=motorway, oneway=-1", "<"},
			{"highway=motorway, oneway=alternating", ">"},
			{"highway=primary, junction=roundabout", ">"},
			{"highway=primary, junction=circular", ">"},
			{"highway=primary, junction=yes", both},
			{"highway=primary, junction=roundabout, oneway=no", both},
			{"highway=primary, junction=roundabout, oneway:motorcar=no, oneway=yes", both},
		},
	} {
		t.Run(name, func(t *testing.T) { opens(t, table) })
	}
}
