package autobahn_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/autobahn"
)

func convert(text string) (items []format.Item, summary format.Summary, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	summary, err = autobahn.Convert(d, &o, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, summary, err
}

// entry converts one entry of a list.
func entry(t *testing.T, list, members string) format.Item {
	t.Helper()
	items, _, err := convert(`{"` + list + `":[{"identifier":"a","coordinate":{"lat":"52","long":9.5},` + members + `}]}`)
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	return items[0]
}

func wants(t *testing.T, item format.Item, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(string(item.Row), part) {
			t.Errorf("%+v %s lacks %s", item, item.Row, part)
		}
	}
}

// TestWords checks the tables of lists and of display types word by word.
func TestWords(t *testing.T) {
	words := format.Vocabulary().Autobahn
	for list, kind := range words.List {
		switch item := entry(t, list, `"display_type":"ELSE"`); kind {
		case "":
			if item.Skip != format.NoKind || item.Word != list {
				t.Errorf("%s: %+v", list, item)
			}
		case format.Charger:
			wants(t, item, `"kind":"charger.destination"`)
		default:
			wants(t, item, `"kind":"`+kind+`"`, `"source_type":"`+list+`"`)
		}
	}
	for display, kind := range words.DisplayType {
		item := entry(t, "closure", `"isBlocked":"false","display_type":"`+display+`"`)
		if kind == "" {
			if blocked := entry(t, "closure", `"isBlocked":"true","display_type":"`+display+`"`); item.Skip != format.NoKind || item.Word != display || blocked.Skip != format.NoKind {
				t.Errorf("%s: %+v", display, item)
			}
			continue
		}
		wants(t, item, `"kind":"`+kind+`"`, `"source_type":"`+display+`"`)
	}
	wants(t, entry(t, "roadworks", `"isBlocked":"true"`), `"kind":"`+words.Blocked+`"`, `"source_type":"isBlocked"`)
	wants(t, entry(t, "roadworks", `"isBlocked":true`), `"kind":"`+words.Blocked+`"`)
	wants(t, entry(t, "roadworks", `"isBlocked":"false","abnormalTrafficType":"STATIONARY_TRAFFIC"`), `"kind":"alert.construction"`)
	wants(t, entry(t, "warning", `"abnormalTrafficType":"STATIONARY_TRAFFIC","delayTimeValue":"12","averageSpeed":"18"`),
		`"kind":"`+words.Abnormal+`"`, `"source_type":"STATIONARY_TRAFFIC"`, `"delay_seconds":720`, `"speed_kmh":18`)
	wants(t, entry(t, "warning", `"abnormalTrafficType":"QUEUING_TRAFFIC","isBlocked":"true"`), `"kind":"`+words.Blocked+`"`)
	wants(t, entry(t, "electric_charging_station", `"isBlocked":"true"`), `"kind":"charger.destination"`)
}

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		members string
		skip    format.Reason
		end     string
	}{
		{`"description":["Ende: 28.11.2026 17:00"]`, "", "2026-11-28T16:00:00Z"},
		{`"description":["Ende: 28.07.2026 17:00"]`, "", "2026-07-28T15:00:00Z"},
		{`"description":["Beginn: 1.2.2026 08:00"," Ende: 2.4.2026 um 9:30 Uhr"]`, "", "2026-04-02T07:30:00Z"},
		{`"description":["Das Ende: 28.11.2020 17:00"]`, "", ""},
		{`"description":["Ende: 31.02.2026 17:00"]`, "", ""},
		{`"description":["Ende: bald"]`, "", ""},
		{`"description":"Ende: 28.11.2020 17:00"`, "", ""},
		{`"description":["Ende: 01.03.2026 13:00"]`, format.Ended, ""},
		{`"future":true,"description":["Ende: 01.03.2020 13:00"]`, format.Ended, ""},
		{`"future":true`, format.NotYet, ""},
		{`"future":"true"`, format.NotYet, ""},
		{`"future":false`, "", ""},
		{`"startTimestamp":"2026-03-01T14:00:00.000+0100"`, format.NotYet, ""},
		{`"startTimestamp":"2026-03-01T12:59:00.000+0100"`, "", ""},
	} {
		item := entry(t, "roadworks", tt.members)
		if item.Skip != tt.skip || tt.end != "" && item.EndsAt.Format(time.RFC3339) != tt.end || tt.end == "" && !item.EndsAt.IsZero() {
			t.Errorf("%s: %+v", tt.members, item)
		}
	}
	_, summary, err := convert(`{"roadworks":[{"identifier":"a","startTimestamp":"2026-03-05T14:00:00.000+0100"},{"identifier":"b","startTimestamp":"2026-03-03T14:00:00.000+0100"}]}`)
	if err != nil || summary.Again.Format(time.RFC3339) != "2026-03-03T13:00:00Z" {
		t.Errorf("%+v %v", summary, err)
	}
}

func TestPlaces(t *testing.T) {
	const line = `"geometry":{"type":"LineString","coordinates":[[10,54],[10.1,54.1]]}`
	if item := entry(t, "roadworks", line); len(item.Line) != 2 || !strings.Contains(string(item.Row), `"lat":54,"lng":10`) {
		t.Errorf("%+v", item)
	}
	for _, other := range []string{`"geometry":{"type":"LineString","coordinates":[]}`, `"geometry":null`, `"geometry":{"type":"Polygon","coordinates":[]}`} {
		wants(t, entry(t, "roadworks", other), `"lat":52,"lng":9.5`)
	}
	for _, coordinate := range []string{`null`, `{"lat":"","long":""}`, `{"lat":"52"}`, `{"lat":"a","long":"b"}`} {
		items, _, err := convert(`{"warning":[{"identifier":"a","coordinate":` + coordinate + `}]}`)
		if err != nil || items[0].Skip != format.NoPosition {
			t.Errorf("%s: %+v %v", coordinate, items, err)
		}
	}
	wants(t, entry(t, "roadworks", `"title":"A1 | AS Nord | AS Süd","description":["a","","b"]`), `"street":"A1"`, `"description":"a b"`)
	wants(t, entry(t, "roadworks", `"title":"A1"`), `"street":"A1"`)
}

func TestChargers(t *testing.T) {
	for description, parts := range map[string][]string{
		`"Ladepunkt 1:","AC Kupplung Typ 2","43 kW","","Ladepunkt 2:","DC Kupplung Combo, DC CHAdeMO","50 kW"`: {`"kind":"charger.supercharger"`, `"evses":2,"max_kw":50`, `"name":"Rast"`},
		`"Ladepunkt 1:","22,5 kW"`: {`"kind":"charger.destination"`, `"evses":1,"max_kw":22.5`},
		`"DC Kupplung Combo"`:      {`"kind":"charger.supercharger"`},
		`"DCX","22 kWh"`:           {`"kind":"charger.destination","lat":52,"lng":9.5,"properties":{"description":"DCX 22 kWh","name":"Rast","street":"A1"}`},
	} {
		item := entry(t, "electric_charging_station", `"title":"A1 | Rast","description":[`+description+`]`)
		wants(t, item, parts...)
		if strings.Contains(string(item.Row), "available") || strings.Contains(string(item.Row), "source_type") {
			t.Errorf("%s", item.Row)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{
		`{"roadworks":[]}`: "", `{"webcam":[],"total":0}`: "", `{"parking_lorry":[1]}`: "", `{}`: format.NotFormat, `{"roads":["A1"]}`: format.NotFormat, `[]`: format.NotFormat, `{"roadworks":{}}`: format.NotFormat, `{"roadworks":[`: format.BadJSON,
	} {
		_, _, err := convert(text)
		var bad *format.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Fault != want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	items, _, err := convert(`{"roadworks":[7,{"identifier":""},{}]}`)
	if err != nil || items[0].Skip != format.NotAnItem || items[1].Skip != format.NoID || items[2].Skip != format.NoID {
		t.Errorf("%+v %v", items, err)
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"electric_charging_station":[{"identifier":1,"coordinate":{"lat":1,"long":"2"},"description":["Ladepunkt 1","DC","9999999999999 kW"]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		items, _, err := convert(text)
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

// TestLongLines checks that only the first 1 000 bytes of a line are searched for powers.
func TestLongLines(t *testing.T) {
	for spaces, want := range map[int]string{990: `"max_kw":150`, 1100: `"external_id"`} {
		items, _, err := convert(`{"electric_charging_station":[{"identifier":"a","coordinate":{"lat":"52","long":"5"},"description":["` + strings.Repeat(" x", spaces/2) + ` 150 kW"]}]}`)
		if err != nil || len(items) != 1 || !strings.Contains(string(items[0].Row), want) || spaces > 1000 && strings.Contains(string(items[0].Row), "max_kw") {
			t.Errorf("behind %d bytes: %s %v", spaces, items[0].Row, err)
		}
	}
}
