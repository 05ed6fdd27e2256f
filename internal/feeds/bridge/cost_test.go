package bridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/formattest"
)

// Abbreviations for the shapes.
var (
	times  = formattest.Times
	repeat = formattest.Repeat
)

// jsonForm returns a form of JSON with items between begin and end; in item, %[1]s is the text and %[2]s the inner
// content.
func jsonForm(begin, end, item string) formattest.Form {
	return formattest.Form{Name: "JSON", Begin: begin, Between: ",", End: end, Item: func(text, inner string) string { return fmt.Sprintf(item, text, inner) }}
}

func xmlForm(begin, end, item string) formattest.Form {
	return formattest.Form{Name: "XML", Begin: begin, End: end, Item: func(text, inner string) string { return fmt.Sprintf(item, text, inner) }}
}

// one returns a shape of a document in which something occurs n times.
func one(name string, n int, begin string, middle func(n int) string, end string) formattest.Shape {
	return formattest.Shape{Name: name, N: n, Document: func(n int) string { return begin + middle(n) + end }}
}

// parted returns a function that repeats text n times with commas between.
func parted(text string) func(n int) string {
	return func(n int) string { return repeat(n, ",", text) }
}

func beside(text string) func(n int) string {
	return func(n int) string { return repeat(n, "", text) }
}

// numbered returns a function that repeats text n times with its number, with commas between.
func numbered(text string) func(n int) string {
	return func(n int) string {
		return times(n, ",", func(i int) string { return strings.ReplaceAll(text, "#", fmt.Sprint(i)) })
	}
}

// numberedBeside returns a function that repeats text n times with its number, without commas.
func numberedBeside(text string) func(n int) string {
	return func(n int) string {
		return times(n, "", func(i int) string { return strings.ReplaceAll(text, "#", fmt.Sprint(i)) })
	}
}

// costs returns the formats with their forms and the shapes that each of them alone has.
func costs() map[string]formattest.Format {
	return map[string]formattest.Format{
		"wzdx": wzdxCosts(), "digitraffic": digitrafficCosts(), "datex2": datex2Costs(), "ocpi": ocpiCosts(), "geojson": geojsonCosts(), "csv": csvCosts(),
		"datex2-energy": energyCosts(), "open511": open511Costs(), "cifs": cifsCosts(), "autobahn": autobahnCosts(), "overpass": overpassCosts(),
		"ocm": ocmCosts(), "traff": traffCosts(),
	}
}

// TestDocumentsCostWhatTheyWeigh runs the contract of formattest for every format of the table.
func TestDocumentsCostWhatTheyWeigh(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	all := costs()
	for _, f := range bridge.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			under, known := all[f.Name]
			if !known {
				t.Fatal("nothing is known of what its documents cost: give it forms and shapes")
			}
			under.Options.Now, under.Options.Zone = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), amsterdam
			under.Convert = func(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
				return f.Convert(d, o, new(bridge.Skips), yield)
			}
			formattest.Test(t, &under)
		})
	}
}

const pointOfItem = `{"type":"Point","coordinates":[5,52]}`

// lines returns shapes of geometries with n positions or n parts; begin and end are the text of the item around the
// geometry.
func lines(begin, end string) []formattest.Shape {
	return []formattest.Shape{
		one("positions", 5000, begin+`{"type":"LineString","coordinates":[`, numbered(`[5.#,52.#]`), "]}"+end),
		one("lines", 2000, begin+`{"type":"MultiLineString","coordinates":[`, numbered(`[[5.#,52.1],[5.#,52.2]]`), "]}"+end),
		one("lines that join", 2000, begin+`{"type":"MultiLineString","coordinates":[`, parted(`[[5,52],[5,52.1]],[[5,52.1],[5,52]]`), "]}"+end),
		one("empty lines", 5000, begin+`{"type":"MultiLineString","coordinates":[`, parted(`[]`), "]}"+end),
		one("polygons", 2000, begin+`{"type":"MultiPolygon","coordinates":[`, parted(`[[[5,52],[5,53],[6,53],[5,52]]]`), "]}"+end),
		one("geometries", 1000, begin+`{"type":"GeometryCollection","geometries":[`, numbered(`{"type":"LineString","coordinates":[[5.#,52],[5.1,52.1]]}`), "]}"+end),
	}
}

func wzdxCosts() formattest.Format {
	const begin, end = `{"features":[`, "]}"
	const item = `{"id":"a","properties":{"core_details":{"event_type":"work-zone","description":"%[1]s"}%[2]s},"geometry":` + pointOfItem + "}"
	const lanes = begin + `{"id":"a","properties":{"core_details":{"event_type":"work-zone"}`
	return formattest.Format{
		Forms: []formattest.Form{jsonForm(begin, end, item)},
		Own: append(lines(lanes+`},"geometry":`, "}]}"),
			one("lanes", 2000, lanes+`,"lanes":[`, parted(`{"status":"closed"}`), `]},"geometry":`+pointOfItem+"}]}"),
			one("ids", 1000, begin, numbered(`{"id":"#","properties":{"core_details":{"event_type":"#"}}}`), end),
		),
	}
}

func digitrafficCosts() formattest.Format {
	const begin = `{"features":[{"properties":{"situationId":"a","situationType":"ROAD_WORK","announcements":[{`
	const end = `]}]},"geometry":` + pointOfItem + "}]}"
	const item = `{"properties":{"situationId":"a","situationType":"ROAD_WORK","announcements":[{"title":"%[1]s"%[2]s}]},"geometry":` + pointOfItem + "}"
	return formattest.Format{
		Forms: []formattest.Form{jsonForm(`{"features":[`, "]}", item)},
		Own: append(lines(`{"features":[{"properties":{"situationId":"a","situationType":"ROAD_WORK"},"geometry":`, "}]}"),
			one("phases", 500, begin+`"roadWorkPhases":[`, parted(`{"timeAndDuration":{"startTime":"2026-01-01T00:00:00Z","endTime":"2027-01-01T00:00:00Z"}}`), end),
			one("restrictions", 1000, begin+`"roadWorkPhases":[{"restrictions":[`, parted(`{"type":"ROAD_WORK","restriction":{"quantity":5}}`), "]}"+end),
			one("announcements", 2000, begin+`"title":"x"},{"x":[`, parted("{}"), end),
		),
	}
}

// record returns a record of DATEX II.
func record(id, typ, place string) string {
	return `<situationRecord xsi:type="` + typ + `" id="` + id + `"><groupOfLocations><pointCoordinates>` + place + `</pointCoordinates></groupOfLocations></situationRecord>`
}

func datex2Costs() formattest.Format {
	const begin, end = `<x><situationPublication>`, "</situationPublication></x>"
	const place = "<latitude>52</latitude><longitude>5</longitude>"
	const open, closes = begin + "<situation>", "</situation>" + end
	const item = `<situation><situationRecord xsi:type="Accident" id="a"><generalPublicComment><comment>%[1]s</comment></generalPublicComment>%[2]s<groupOfLocations><pointCoordinates>` + place + "</pointCoordinates></groupOfLocations></situationRecord></situation>"
	const inRecord = open + `<situationRecord xsi:type="Accident" id="a">`
	validity := func(period string) (string, func(int) string, string) {
		return inRecord + "<validity><validityTimeSpecification>", beside(period), "</validityTimeSpecification></validity></situationRecord>" + closes
	}
	shape := func(name string, n int, begin string, middle func(int) string, end string) formattest.Shape {
		return one(name, n, begin, middle, end)
	}
	plain, plainPeriods, after := validity("<validPeriod><startOfPeriod>2026-01-01T00:00:00Z</startOfPeriod><endOfPeriod>2027-01-01T00:00:00Z</endOfPeriod></validPeriod>")
	hours, recurring, _ := validity("<validPeriod><recurringTimePeriodOfDay><startTimeOfPeriod>08:00:00</startTimeOfPeriod><endTimeOfPeriod>09:00:00</endTimeOfPeriod></recurringTimePeriodOfDay></validPeriod>")
	list := "<gmlLineString><posList>52.1 5.1 52.2 5.2</posList></gmlLineString>"
	nested := inRecord + "<groupOfLocations>" + strings.Repeat("<gmlLineString>", 60)
	both := record("a", "Accident", place)
	return formattest.Format{
		Forms: []formattest.Form{xmlForm(begin, end, item)},
		Own: []formattest.Shape{
			shape("records at many places", 1000, open, func(n int) string {
				return times(n, "", func(i int) string {
					return record("a", "Accident", fmt.Sprintf("<latitude>52.%05d</latitude><longitude>5</longitude>", i))
				})
			}, closes),
			shape("records at one place", 300, open, beside(both), closes),
			shape("records without a kind at one place", 500, open, func(n int) string {
				return repeat(n, "", record("a", "NoSuchType", place)) + repeat(n, "", both)
			}, closes),
			shape("records with a long header", 300, open, func(n int) string {
				return "<headerInformation><informationStatus>" + strings.Repeat("x", 100*n) + "</informationStatus></headerInformation>" + repeat(n, "", both)
			}, closes),
			shape("records with a long severity", 300, open, func(n int) string {
				return "<overallSeverity>" + strings.Repeat("x", 100*n) + "</overallSeverity>" + repeat(n, "", record("a", "Accident", place))
			}, closes),
			shape("records before their severity", 1000, open, func(n int) string {
				return times(n, "", func(i int) string {
					return record("a", "Accident", fmt.Sprintf("<latitude>52.%05d</latitude><longitude>5</longitude>", i))
				}) + "<overallSeverity>high</overallSeverity>"
			}, closes),
			shape("empty records", 2000, open, beside("<situationRecord/>"), closes),
			shape("periods", 300, plain, plainPeriods, after),
			shape("recurring periods", 20, hours, recurring, after),
			shape("lists of positions", 500, inRecord+"<groupOfLocations>", beside(list), "</groupOfLocations></situationRecord>"+closes),
			shape("positions", 5000, inRecord+"<groupOfLocations><gmlLineString><posList>", numberedBeside("52.# 5.# "), "</posList></gmlLineString></groupOfLocations></situationRecord>"+closes),
			shape("positions with heights", 5000, inRecord+`<groupOfLocations><gmlLineString><posList srsDimension="3">`, numberedBeside("52.# 5.# 1 "), "</posList></gmlLineString></groupOfLocations></situationRecord>"+closes),
			shape("positions in lines in lines", 1000, nested+"<posList>", beside("52.1 5.1 52.2 5.2 "), "</posList>"+strings.Repeat("</gmlLineString>", 60)+"</groupOfLocations></situationRecord>"+closes),
			shape("locations", 500, inRecord, beside("<locationReference><direction>bo</direction></locationReference>"), "</situationRecord>"+closes),
		},
	}
}

func ocpiCosts() formattest.Format {
	const item = `{"id":"a","name":"%[1]s","coordinates":{"latitude":"52","longitude":"5"},"evses":[{"status":"AVAILABLE","connectors":[{"standard":"IEC_62196_T2"}]}]%[2]s}`
	const begin, end = `[{"id":"a","coordinates":{"latitude":"52","longitude":"5"},"evses":[`, "]}]"
	return formattest.Format{
		Forms: []formattest.Form{jsonForm("[", "]", item)},
		Own: []formattest.Shape{
			one("charging points", 1000, begin, numbered(`{"status":"S#","connectors":[{"standard":"P#","max_voltage":230}]}`), end),
			one("points that are gone", 1000, begin, parted(`{"status":"REMOVED"}`), end),
			one("connectors", 1000, begin+`{"connectors":[`, numbered(`{"standard":"P#","power_type":"DC"}`), "]}"+end),
		},
	}
}

// mapped returns a change of options that sets the mapping.
func mapped(text string) func(*format.Options) {
	return func(o *format.Options) { o.Mapping = []byte(text) }
}

// manyPaths returns a mapping with a property that joins a value 500 times.
func manyPaths(place string) string {
	return `{"id":"id","kind":{"value":"alert.hazard"}` + place + `,"properties":{"description":{"join":[` + repeat(500, ",", `"x"`) + `]}}}`
}

// anyMapping returns a mapping that reads one text.
func anyMapping(place string) string {
	return `{"id":"id","kind":{"value":"alert.hazard"}` + place + `,"properties":{"description":"x","number":{"from":"x","part":50}}}`
}

func geojsonCosts() formattest.Format {
	const begin, end = `{"features":[`, "]}"
	const item = `{"id":"a","x":"%[1]s"%[2]s,"geometry":` + pointOfItem + "}"
	shapes := append(lines(begin+`{"id":"a","geometry":`, "}]}"),
		formattest.Shape{Name: "joined texts", N: 8000, Options: mapped(manyPaths("")), Document: func(n int) string {
			return begin + fmt.Sprintf(item, strings.Repeat("x", n), "") + end
		}},
		formattest.Shape{Name: "joined ids", N: 8000, Options: mapped(`{"id":{"join":[` + repeat(100, ",", `"x"`) + `]},"kind":{"value":"alert.hazard"}}`), Document: func(n int) string {
			return begin + fmt.Sprintf(item, strings.Repeat("x", n), "") + end
		}},
		formattest.Shape{Name: "elements by their numbers", N: 1000, Options: mapped(`{"id":"id","kind":{"value":"alert.hazard"},"properties":{"description":{"join":[` + times(100, ",", func(i int) string { return fmt.Sprintf(`"y.%d"`, 8000-i) }) + `]}}}`), Document: func(n int) string {
			return begin + fmt.Sprintf(item, "x", `,"y":[`+repeat(n, ",", "0")+"]") + end
		}},
		formattest.Shape{Name: "paths of many features", N: 100, Options: mapped(manyPaths("")), Document: func(n int) string {
			return begin + repeat(n, ",", fmt.Sprintf(item, "x", "")) + end
		}},
		one("numbers in a text", 10_000, begin+`{"id":"a","x":"`, beside("1 "), `","geometry":`+pointOfItem+"}]}"),
	)
	return formattest.Format{Forms: []formattest.Form{jsonForm(begin, end, item)}, Own: shapes, Options: format.Options{Mapping: []byte(anyMapping(""))}}
}

func csvCosts() formattest.Format {
	const place = `,"lat":"lat","lng":"lng"`
	form := formattest.Form{Name: "CSV", Begin: "id,lat,lng,x\n", Between: "\n", End: "\n", Item: func(text, inner string) string { return `a,52,5,"` + text + `"` + inner }}
	return formattest.Format{
		Forms: []formattest.Form{form}, Options: format.Options{Mapping: []byte(anyMapping(place))},
		Own: []formattest.Shape{
			{Name: "joined texts", N: 8000, Options: mapped(manyPaths(place)), Document: func(n int) string { return form.Begin + form.Item(strings.Repeat("x", n), "") }},
			{Name: "paths of many lines", N: 100, Options: mapped(manyPaths(place)), Document: func(n int) string { return form.Begin + repeat(n, "\n", form.Item("x", "")) }},
			{Name: "lines within quotes", N: 10_000, Document: func(n int) string { return form.Begin + form.Item(strings.Repeat("\n", n), "") }},
			{Name: "names of columns", N: 400, Document: func(n int) string { return "id,lat,lng,x," + numbered("c#")(n) + "\n" + form.Item("x", "") }},
		},
	}
}
