package datex2_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/datex2"
)

const noon = "2026-03-01T12:00:00Z"

// convert converts a document as of noon.
func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: format.Time(noon, nil), Zone: time.UTC}
	_, err = datex2.Convert(d, &o, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

// records wraps records in a bare publication of one situation.
func records(records ...string) string {
	return `<s:payload xmlns:s="u" xmlns:xsi="v" xsi:type="s:SituationPublication"><s:situation id="S">` + strings.Join(records, "") + `</s:situation></s:payload>`
}

func record(kind, id, body, location string) string {
	return fmt.Sprintf(`<s:situationRecord xsi:type="s:%s" id="%s">%s<s:locationReference>%s</s:locationReference></s:situationRecord>`, kind, id, body, location)
}

const point = `<pointCoordinates><latitude>52</latitude><longitude>5</longitude></pointCoordinates>`

// one converts the records of one situation, of which exactly one becomes a row.
func one(t *testing.T, text string) format.Item {
	t.Helper()
	items, err := convert(text)
	if err != nil {
		t.Fatal(err)
	}
	var rows []format.Item
	for _, item := range items {
		if item.Skip == "" {
			rows = append(rows, item)
		}
	}
	if len(rows) != 1 {
		t.Fatalf("%d rows of %s: %+v", len(rows), text, items)
	}
	return rows[0]
}

// TestWords checks the table of words one by one, with and without works in the situation.
func TestWords(t *testing.T) {
	words := format.Vocabulary()
	if len(words.DATEX2.Record) < 10 {
		t.Fatal("no words")
	}
	elsewhere := record("MaintenanceWorks", "works", "", `<pointCoordinates><latitude>10</latitude><longitude>10</longitude></pointCoordinates>`)
	check := func(kind, element, word, want string) {
		t.Helper()
		body := ""
		if element != "" {
			body = "<" + element + ">" + word + "</" + element + ">"
		}
		for _, works := range []bool{false, true} {
			text := record(kind, "a", body, point)
			if works {
				text += elsewhere
			}
			items, err := convert(records(text))
			if err != nil || len(items) == 0 {
				t.Fatal(err)
			}
			expect := format.LanesKind(want, works || kind == "MaintenanceWorks" || kind == "ConstructionWorks" || kind == "Roadworks")
			if got := items[0]; expect == "" && got.Skip != format.NoKind || expect != "" && !strings.Contains(string(got.Row), `"kind":"`+expect+`"`) {
				t.Errorf("%s %s, works %v: %q %s, want %s", kind, word, works, got.Skip, got.Row, expect)
			}
		}
	}
	for kind, of := range words.DATEX2.Record {
		check(kind, "", "", of.Else)
		for word, want := range of.Kinds {
			check(kind, of.By, word, want)
			if of.Also != "" {
				check(kind, of.Also, word, want)
			}
		}
		if of.By != "" {
			check(kind, of.By, "somethingNew", of.Else)
		}
	}
	check("SomethingNew", "", "", "")
}

func TestCausesAreWorks(t *testing.T) {
	for cause, want := range map[string]string{"roadMaintenance": "alert.construction", "constructionWork": "alert.construction", "accident": "alert.hazard"} {
		body := `<cause><causeType>` + cause + `</causeType></cause><roadOrCarriagewayOrLaneManagementType>narrowLanes</roadOrCarriagewayOrLaneManagementType>`
		if row := one(t, records(record("RoadOrCarriagewayOrLaneManagement", "a", body, point))); !strings.Contains(string(row.Row), want) {
			t.Errorf("%s: %s", cause, row.Row)
		}
	}
	// Works that have ended do not count as works.
	over := record("MaintenanceWorks", "w", `<validity><validityTimeSpecification><overallEndTime>2026-02-01T00:00:00Z</overallEndTime></validityTimeSpecification></validity>`, point)
	lanes := record("RoadOrCarriagewayOrLaneManagement", "a", `<roadOrCarriagewayOrLaneManagementType>narrowLanes</roadOrCarriagewayOrLaneManagementType>`, point)
	if row := one(t, records(over, lanes)); !strings.Contains(string(row.Row), `"alert.hazard"`) {
		t.Errorf("%s", row.Row)
	}
}

func TestPlaces(t *testing.T) {
	line := func(srs, list string) string {
		return `<gmlLineString` + srs + `><posList>` + list + `</posList></gmlLineString>`
	}
	for name, tt := range map[string]struct {
		location string
		lat, lng string
		points   int
		skip     format.Reason
	}{
		"a line":                   {line("", "52 5 53 6"), "52", "5", 2, ""},
		"parts":                    {line("", "52 5 53 6") + line(` srsName="WGS 84"`, "53 6 54 7 55 8"), "52", "5", 4, ""},
		"another system":           {line(` srsName="EPSG:28992"`, "155000 463000 156000 464000") + point, "52", "5", 0, ""},
		"in three dimensions":      {`<gmlLineString><posList srsDimension="3">52 5 1 53 6 2</posList></gmlLineString>`, "52", "5", 2, ""},
		"words":                    {line("", "52 five") + point, "52", "5", 0, ""},
		"a line before a point":    {point + line("", "50 4 51 4"), "50", "4", 2, ""},
		"by coordinates first":     {point + `<pointByCoordinates><pointCoordinates><latitude>1</latitude><longitude>2</longitude></pointCoordinates></pointByCoordinates>`, "1", "2", 0, ""},
		"from before others":       {point + `<to>` + point + `</to><from><pointCoordinates><latitude>3</latitude><longitude>4</longitude></pointCoordinates></from>`, "3", "4", 0, ""},
		"for display":              {`<coordinatesForDisplay><latitude>7</latitude><longitude>8</longitude></coordinatesForDisplay>`, "7", "8", 0, ""},
		"location before its like": {`<coordinatesForDisplay><latitude>7</latitude><longitude>8</longitude></coordinatesForDisplay><locationForDisplay><latitude>5</latitude><longitude>6</longitude></locationForDisplay>`, "5", "6", 0, ""},
		"only an area":             {`<alertCArea/>`, "", "", 0, format.Area},
		"only Alert-C":             {`<alertCLinear/>`, "", "", 0, format.NoPosition},
		"nothing":                  {``, "", "", 0, format.NoPosition},
	} {
		items, err := convert(records(record("Accident", "a", `<other>`+line("", "9 9 8 8")+`</other>`, tt.location)))
		if err != nil || len(items) != 1 {
			t.Fatal(err)
		}
		got := items[0]
		if got.Skip != tt.skip || len(got.Line) != tt.points || tt.skip == "" && !strings.Contains(string(got.Row), `"lat":`+tt.lat+`,"lng":`+tt.lng+`,`) {
			t.Errorf("%s: %+v %s", name, got, got.Row)
		}
	}
}

func TestDirectionsAndStreets(t *testing.T) {
	both := `<alertCDirection><alertCDirectionCoded>both</alertCDirectionCoded></alertCDirection>`
	name := `<roadInformation><roadNumber>A2</roadNumber><roadName><values><value>Ring</value></values></roadName></roadInformation>`
	row := one(t, records(record("Accident", "a", "", both+name+`<bearing>359.7</bearing><gmlLineString><posList>52 5 52 7</posList></gmlLineString>`)))
	for _, want := range []string{`"both_directions":true`, `"street":"Ring"`, `"bearing":0`, `"lng":6,`} {
		if !strings.Contains(string(row.Row), want) {
			t.Errorf("%s lacks %s", row.Row, want)
		}
	}
}

func TestOneRowAPoint(t *testing.T) {
	items, err := convert(records(
		record("SpeedManagement", "speed", `<temporarySpeedLimit>70</temporarySpeedLimit>`, point),
		record("AbnormalTraffic", "jam", `<delays><delayTimeValue>300</delayTimeValue></delays>`, point),
		record("Accident", "crash", "", `<pointCoordinates><latitude>52.000004</latitude><longitude>5</longitude></pointCoordinates>`),
		record("Accident", "near", "", `<pointCoordinates><latitude>52.00001</latitude><longitude>5</longitude></pointCoordinates>`),
		record("Accident", "over", `<validity><validityTimeSpecification><overallEndTime>`+noon+`</overallEndTime></validityTimeSpecification></validity><queueLength>9</queueLength>`, point),
	))
	if err != nil || len(items) != 5 {
		t.Fatal(items, err)
	}
	row := string(items[1].Row)
	if items[0].Skip != format.NoKind || items[2].Skip != format.Joined || items[3].Skip != "" || items[4].Skip != format.Ended {
		t.Errorf("%+v", items)
	}
	for _, want := range []string{`"external_id":"jam"`, `"kind":"alert.accident"`, `"speed_limit_kmh":70`, `"delay_seconds":300`, `"source_type":"Accident"`} {
		if !strings.Contains(row, want) {
			t.Errorf("%s lacks %s", row, want)
		}
	}
	if strings.Contains(row, "length_metres") {
		t.Error("a record that ended takes part:", row)
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{
		`<a/>`: format.NotFormat, `<x xmlns:xsi="v" xsi:type="p:MeasuredDataPublication"/>`: format.NotFormat, records("<a>"): format.BadXML,
	} {
		var bad *format.Error
		if _, err := convert(text); !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`<p xmlns:t="v" t:type="SituationPublication"/>`, `<c><situationPublication><situation/></situationPublication></c>`} {
		if items, err := convert(text); err != nil || len(items) != 0 {
			t.Errorf("%s: %v %v", text, items, err)
		}
	}
	// A situation outside of a publication is ignored.
	if items, err := convert(`<c><p><situationPublication/></p>` + `<other><situation>` + record("Accident", "a", "", point) + `</situation></other></c>`); err != nil || len(items) != 0 {
		t.Error(items, err)
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(records(record("Accident", "a", "", point)))
	f.Fuzz(func(t *testing.T, text string) {
		items, err := convert(text)
		if err != nil {
			return
		}
		for _, item := range items {
			if (item.Skip == "") != (len(item.Row) > 0) || len(item.Line) == 1 || len(item.Line) > format.MaxLine {
				t.Errorf("%+v", item)
			}
		}
	})
}
