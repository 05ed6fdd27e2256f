package bridge_test

import (
	"fmt"
	"strings"

	"wayside/internal/feeds/format/formattest"
)

func energyCosts() formattest.Format {
	const begin, end = `{"energyInfrastructureTablePublication":{"energyInfrastructureSite":[`, "]}}"
	const place = `"locationReference":{"latitude":52,"longitude":5}`
	const item = `{"idG":"a","name":"%[1]s",` + place + `,"refillPoint":[{"electricChargingPoint":{"idG":"b"}}]%[2]s}`
	const site = begin + `{"idG":"a",` + place
	const xmlBegin, xmlEnd = "<x><energyInfrastructureTablePublication>", "</energyInfrastructureTablePublication></x>"
	const xmlPlace = "<locationReference><latitude>52</latitude><longitude>5</longitude></locationReference>"
	const xmlItem = `<energyInfrastructureSite id="a"><name>%[1]s</name>` + xmlPlace + `<refillPoint xsi:type="ElectricChargingPoint" id="b"/>%[2]s</energyInfrastructureSite>`
	const point = `{"electricChargingPoint":{"idG":"p#","connector":[{"connectorType":"P#","maxPowerAtSocket":1000}]}}`
	statuses := func(n int) string {
		return `{"energyInfrastructureStatusPublication":{"refillPointStatus":[` + numbered(`{"reference":{"idG":"p#"},"status":"available","lastUpdated":"2026-01-01T00:00:00Z"}`)(n) + "]}}"
	}
	nested := strings.Repeat(`<refillPoint xsi:type="ElectricChargingPoint" id="b">`, 50)
	return formattest.Format{
		Forms: []formattest.Form{jsonForm(begin, end, item), xmlForm(xmlBegin, xmlEnd, xmlItem)},
		Own: []formattest.Shape{
			one("charging points", 500, site+`,"refillPoint":[`, numbered(point), "]}"+end),
			one("connectors", 1000, site+`,"refillPoint":[{"electricChargingPoint":{"connector":[`, parted(`{"connectorType":"iec62196T2"}`), "]}}]}"+end),
			one("connectors of points in points", 500, xmlBegin+`<energyInfrastructureSite id="a">`+xmlPlace+nested, beside("<connectorType>iec62196T2</connectorType>"), strings.Repeat("</refillPoint>", 50)+"</energyInfrastructureSite>"+xmlEnd),
			one("lines of addresses", 1000, site+`,"address":{"addressLine":[`, parted(`{"type":"street","text":"x"}`), "]}}"+end),
			one("sites without names of their own", 300, `{"a":{"energyInfrastructureTablePublication":{"energyInfrastructureSite":[`, parted(`{"idG":"a","stations":[{"refillPoint":[]}]}`), "]}}}"),
			one("ids", 1000, site, func(n int) string {
				return `,"zz":[` + numbered(`{"id":"i#","idG":"g#","value":"v#"}`)(n) + "]"
			}, "}"+end),
			{Name: "statuses", N: 500, Status: statuses, Document: func(n int) string {
				return site + `,"refillPoint":[` + numbered(point)(n) + "]}" + end
			}},
			one("statuses of the document itself", 500, `{"a":[`, func(n int) string {
				return statuses(n) + "," + site + `,"refillPoint":[` + numbered(point)(n) + "]}" + end
			}, "]}"),
			one("envelopes", 5000, `{"a":[`, parted(`{"b":[]}`), "],"+begin[1:]+end),
		},
	}
}

func open511Costs() formattest.Format {
	const begin, end = `{"events":[`, "]}"
	const some = `"id":"a","status":"ACTIVE","event_type":"CONSTRUCTION"`
	const item = `{` + some + `,"description":"%[1]s"%[2]s,"geography":` + pointOfItem + "}"
	const open, closes = begin + "{" + some + `,"geography":` + pointOfItem + ",", "}]}"
	const xmlBegin, xmlEnd = "<x><events>", "</events></x>"
	const event = "<event><id>a</id><status>ACTIVE</status><event_type>CONSTRUCTION</event_type>"
	const xmlItem = event + "<description>%[1]s</description>%[2]s<geography><pos>52 5</pos></geography></event>"
	shapes := append(lines(begin+"{"+some+`,"geography":`, "}]}"),
		one("roads", 1000, open+`"roads":[`, numbered(`{"name":"R#","state":"OPEN"}`), "]"+closes),
		one("subtypes", 5000, open+`"event_subtypes":[`, numbered(`"s#"`), "]"+closes),
		one("intervals", 1000, open+`"schedule":{"intervals":[`, parted(`"2026-01-01T00:00/2027-01-01T00:00"`), "]}"+closes),
		one("intervals in reverse order", 1000, open+`"schedule":{"intervals":[`, func(n int) string {
			return times(n, ",", func(i int) string { return fmt.Sprintf(`"%04d-01-01T00:00/"`, 9999-i) })
		}, "]}"+closes),
		one("empty intervals", 5000, open+`"schedule":{"intervals":[`, parted(`"/"`), "]}"+closes),
		one("schedules", 100, open+`"schedule":{"recurring_schedules":[`, parted(`{"daily_start_time":"00:00","daily_end_time":"12:00"}`), "]}"+closes),
		one("days", 5000, open+`"schedule":{"recurring_schedules":[{"days":[`, parted("1"), "]}]}"+closes),
		one("GML", 500, xmlBegin+event+"<geography>", beside("<posList>52.1 5.1 52.2 5.2</posList>"), "</geography></event>"+xmlEnd),
		one("GML coordinates", 5000, xmlBegin+event+"<geography><coordinates>", beside("5.1,52.1 "), "</coordinates></geography></event>"+xmlEnd),
		one("intervals in XML", 500, xmlBegin+event+"<schedule><intervals>", beside("<interval>2026-01-01T00:00/</interval>"), "</intervals></schedule></event>"+xmlEnd),
	)
	return formattest.Format{Forms: []formattest.Form{jsonForm(begin, end, item), xmlForm(xmlBegin, xmlEnd, xmlItem)}, Own: shapes}
}

func cifsCosts() formattest.Format {
	const begin, end = `{"incidents":[`, "]}"
	const some = `"id":"a","type":"ACCIDENT"`
	const item = `{` + some + `,"description":"%[1]s"%[2]s,"polyline":"52 5"}`
	const open = begin + "{" + some + ","
	const xmlBegin, xmlEnd = "<incidents>", "</incidents>"
	const xmlItem = `<incident id="a"><type>ACCIDENT</type><description>%[1]s</description>%[2]s<polyline>52 5</polyline></incident>`
	return formattest.Format{
		Forms: []formattest.Form{jsonForm(begin, end, item), xmlForm(xmlBegin, xmlEnd, xmlItem)},
		Own: []formattest.Shape{
			one("hours", 100, open+`"polyline":"52 5","schedule":{"monday":"`, parted("00:00-12:00"), `"}}]}`),
			one("empty hours", 10_000, open+`"polyline":"52 5","schedule":{"monday":"`, beside(","), `"}}]}`),
			one("incidents with a schedule", 100, begin, parted("{"+some+`,"polyline":"52 5","schedule":{"monday":"00:00-12:00"}}`), end),
			one("positions", 5000, open+`"polyline":"`, numberedBeside("52.# 5.# "), `"}]}`),
			one("arrays of positions", 5000, open+`"polyline":[`, numbered("[52.#,5.#]"), "]}]}"),
			one("words that are no positions", 10_000, open+`"polyline":"`, beside("x "), `"}]}`),
		},
	}
}

func autobahnCosts() formattest.Format {
	const place = `"coordinate":{"lat":"52","long":"5"}`
	const item = `{"identifier":"a",` + place + `,"description":["%[1]s"]%[2]s}`
	const open, closes = `{"roadworks":[{"identifier":"a",` + place + `,"description":[`, "]}]}"
	const charger = `{"electric_charging_station":[{"identifier":"a",` + place + `,"description":[`
	return formattest.Format{
		Forms: []formattest.Form{jsonForm(`{"roadworks":[`, "]}", item)},
		Own: []formattest.Shape{
			one("lines", 5000, open, parted(`"x"`), closes),
			one("ends", 1000, open, parted(`"Ende: 28.11.2021 um 17:0"`), closes),
			one("a long end", 10_000, open+`"Ende: `, beside(" "), `"`+closes),
			one("powers", 1000, charger, parted(`"50 kW DC"`), closes),
			one("powers of one line", 5000, charger+`"`, beside("5kW "), `"`+closes),
			one("digits of one line", 20_000, charger+`"`, beside("5"), `"`+closes),
			one("lines of digits", 100, charger, parted(`"`+strings.Repeat("5", 900)+`"`), closes),
			one("points", 1000, charger, parted(`"Ladepunkt 1:"`), closes),
		},
	}
}

func overpassCosts() formattest.Format {
	const begin, end = `{"elements":[`, "]}"
	const item = `{"type":"node","id":1,"lat":52,"lon":5,"tags":{"highway":"speed_camera","addr:street":"%[1]s"}%[2]s}`
	const relation = `{"type":"relation","id":1,"tags":{"type":"enforcement","enforcement":"average_speed"},"members":[`
	const section, device = `{"type":"way","ref":1,"role":"section"}`, `{"type":"node","ref":1,"role":"device"}`
	way := func(n int) string {
		return `{"type":"way","id":1,"geometry":[` + numbered(`{"lat":52.#,"lon":5.#}`)(n) + "]}"
	}
	return formattest.Format{
		Forms: []formattest.Form{jsonForm(begin, end, item)},
		Own: []formattest.Shape{
			one("members", 1000, begin+relation, numbered(`{"type":"node","ref":#,"role":"device"}`), "]}"+end),
			one("relations of one device", 300, begin, parted(`{"type":"relation","id":1,"tags":{"type":"enforcement","enforcement":"maxspeed"},"members":[`+device+`]}`), end),
			one("one relation names a way over and over", 500, begin, func(n int) string {
				return relation + parted(section)(n) + "]}," + way(n)
			}, end),
			one("many relations name one long way", 2000, begin, func(n int) string {
				return parted(relation+section+"]}")(n) + "," + way(n)
			}, end),
			one("many relations name many ways", 20, begin, func(n int) string {
				return parted(relation+numbered(`{"type":"way","ref":#,"role":"section"}`)(100)+"]}")(n) + "," + numbered(`{"type":"way","id":#,"nodes":[1,2,3]}`)(n)
			}, end),
			one("nodes of ways", 1000, begin, func(n int) string {
				return relation + section + `]},{"type":"way","id":1,"nodes":[` + numbered("#")(n) + "]}," + numbered(`{"type":"node","id":#,"lat":52,"lon":5}`)(n)
			}, end),
			one("one node of a way", 5000, begin+relation+section+`]},{"type":"way","id":1,"nodes":[`, parted("1"), `]},{"type":"node","id":1,"lat":52,"lon":5}`+end),
			one("tags", 400, begin+`{"type":"node","id":1,"lat":52,"lon":5,"tags":{"amenity":"charging_station",`, numbered(`"s#:output":"50 kW"`), "}}"+end),
			one("outputs", 5000, begin+`{"type":"node","id":1,"lat":52,"lon":5,"tags":{"amenity":"charging_station","s:output":"`, beside("5kw;"), `"}}`+end),
			one("elements without tags", 5000, begin, parted(`{"type":"node","id":1,"lat":52,"lon":5}`), end),
		},
	}
}

func ocmCosts() formattest.Format {
	const item = `{"ID":1,"AddressInfo":{"Title":"%[1]s","Latitude":52,"Longitude":5}%[2]s}`
	return formattest.Format{
		Forms: []formattest.Form{jsonForm("[", "]", item)},
		Own: []formattest.Shape{
			one("connections", 1000, `[{"ID":1,"AddressInfo":{"Latitude":52,"Longitude":5},"Connections":[`, parted(`{"PowerKW":50,"Quantity":1}`), "]}]"),
		},
	}
}

func traffCosts() formattest.Format {
	const begin, end = "<feed>", "</feed>"
	const events, location = `<events><event class="CONSTRUCTION" type="CONSTRUCTION_ROADWORKS"/></events>`, "<location><at>52 5</at></location>"
	const item = `<message id="a"><x>%[1]s</x>` + events + `%[2]s` + location + "</message>"
	return formattest.Format{
		Forms: []formattest.Form{xmlForm(begin, end, item)},
		Own: []formattest.Shape{
			one("events", 1000, begin+`<message id="a"><events>`, numberedBeside(`<event class="HAZARD" type="HAZARD_#"/>`), "</events>"+location+"</message>"+end),
			one("a long event", 20_000, begin+`<message id="a"><events><event class="HAZARD" type="`, beside("H"), `"/></events>`+location+"</message>"+end),
			one("positions", 5000, begin+`<message id="a">`+events+"<location><at>", beside("52 5 "), "</at></location></message>"+end),
		},
	}
}
