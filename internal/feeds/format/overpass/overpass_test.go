package overpass_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/overpass"
)

func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	_, err = overpass.Convert(d, new(format.Options), func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

// one converts elements that become exactly one item.
func one(t *testing.T, elements string) format.Item {
	t.Helper()
	items, err := convert(`{"elements":[` + elements + `]}`)
	if err != nil || len(items) != 1 {
		t.Fatal(elements, items, err)
	}
	return items[0]
}

// TestWords checks the tables of enforcement and of sockets word by word.
func TestWords(t *testing.T) {
	words := format.Vocabulary().Overpass
	const device = `{"type":"node","id":2,"lat":52,"lon":5},{"type":"relation","id":1,"members":[{"type":"node","ref":2,"role":"device"},{"type":"node","ref":3,"role":"from","lat":51,"lon":4}],"tags":{"type":"enforcement","enforcement":"%s"}}`
	for word, kind := range words.Enforcement {
		row := string(one(t, fmt.Sprintf(device, word)).Row)
		want := `{"external_id":"node/2","kind":"` + kind + `","lat":52,"lng":5,`
		if kind == "camera.avg_speed" {
			want = `{"external_id":"relation/1","kind":"` + kind + `","lat":51,"lng":4,`
		}
		if !strings.HasPrefix(row, want) {
			t.Errorf("%s: %s, want %s", word, row, want)
		}
	}
	for _, word := range []string{"access", "check", ""} {
		if item := one(t, fmt.Sprintf(device, word)); item.Skip != format.NoKind || item.Word != word || item.ID != "relation/1" {
			t.Errorf("%s: %+v", word, item)
		}
	}
	for _, socket := range words.DCSockets {
		for count, kind := range map[string]string{"1": "supercharger", "yes": "supercharger", "no": "destination", "0": "destination"} {
			row := string(one(t, `{"type":"node","id":1,"lat":1,"lon":2,"tags":{"amenity":"charging_station","`+socket+`":"`+count+`"}}`).Row)
			if !strings.Contains(row, `"kind":"charger.`+kind+`"`) {
				t.Errorf("%s=%s: %s", socket, count, row)
			}
		}
	}
}

func TestTagsOfCameras(t *testing.T) {
	for tags, want := range map[string]string{
		`"maxspeed":"50"`: `{"maxspeed_kmh":50}`, `"maxspeed":"30 mph"`: `{"maxspeed_kmh":48}`, `"maxspeed":"70mph"`: `{"maxspeed_kmh":113}`, `"maxspeed":"80 km/h"`: `{"maxspeed_kmh":80}`,
		`"maxspeed":"none"`: `{}`, `"maxspeed":"50;70"`: `{}`, `"maxspeed":"-5"`: `{}`, `"maxspeed":"0"`: `{}`,
		`"direction":"0"`: `{"bearing":0}`, `"direction":"359.6"`: `{"bearing":0}`, `"direction":"90"`: `{"bearing":90}`, `"direction":"N"`: `{}`, `"direction":"400"`: `{}`, `"direction":"NaN"`: `{}`, `"direction":"-1"`: `{}`,
	} {
		row := string(one(t, `{"type":"node","id":1,"lat":1,"lon":2,"tags":{"highway":"speed_camera",`+tags+`}}`).Row)
		if !strings.Contains(row, `"kind":"camera.speed"`) || !strings.Contains(row, `"properties":`+want) {
			t.Errorf("%s: %s, want %s", tags, row, want)
		}
	}
}

func TestTagsOfChargers(t *testing.T) {
	for tags, want := range map[string]string{
		`"socket:type2:output":"22 kW"`: `"max_kw":22`, `"a:output":"11 kW;43,5kW"`: `"max_kw":43.5`, `"charging_station:output":"150 KW"`: `"kind":"charger.supercharger"`, `"a:output":"22"`: `"properties":{}`, `"a:output":"fast"`: `"properties":{}`,
		`"operator":"O","network":"N","brand":"B"`: `"operator":"O","network":"o"`, `"network":"N","brand":"B"`: `"operator":"N","network":"n"`, `"brand":"B"`: `"operator":"B","network":"b"`, `"capacity":"4"`: `"evses":4`, `"capacity":"many"`: `"properties":{}`, `"capacity":"0"`: `"properties":{}`,
	} {
		if row := string(one(t, `{"type":"node","id":1,"lat":1,"lon":2,"tags":{"amenity":"charging_station",`+tags+`}}`).Row); !strings.Contains(row, want) {
			t.Errorf("%s: %s, want %s", tags, row, want)
		}
	}
}

// TestAverageSpeed checks the line of sections in each form in which an answer may contain it.
func TestAverageSpeed(t *testing.T) {
	const relation = `{"type":"relation","id":1,"tags":{"type":"enforcement","enforcement":"average_speed","maxspeed":"100"},"members":[{"type":"node","ref":5,"role":"device"},%s,{"type":"way","ref":3,"role":"to"}]}`
	geometry := func(lat float64) string {
		return fmt.Sprintf(`"geometry":[{"lat":%v,"lon":5},{"lat":%v,"lon":5}]`, lat, lat+1)
	}
	for name, elements := range map[string]string{
		"geometry of members": fmt.Sprintf(relation, `{"type":"way","ref":1,"role":"section",`+geometry(50)+`},{"type":"way","ref":2,"role":"section",`+geometry(51)+`}`),
		"geometry of ways":    fmt.Sprintf(relation, `{"type":"way","ref":1,"role":"section"},{"type":"way","ref":2,"role":"section"}`) + `,{"type":"way","id":2,` + geometry(51) + `},{"type":"way","id":1,` + geometry(50) + `}`,
		"nodes of ways": `{"type":"node","id":11,"lat":50,"lon":5},{"type":"way","id":1,"nodes":[11,12]},` + fmt.Sprintf(relation, `{"type":"way","ref":1,"role":"section"},{"type":"way","ref":2,"role":"section"}`) +
			`,{"type":"way","id":2,"nodes":[12,13]},{"type":"node","id":13,"lat":52,"lon":5},{"type":"node","id":12,"lat":51,"lon":5}`,
	} {
		item := one(t, elements)
		if want := `{"external_id":"relation/1","kind":"camera.avg_speed","lat":50,"lng":5,"properties":{"maxspeed_kmh":100}}`; string(item.Row) != want || len(item.Line) != 3 {
			t.Errorf("%s: %s %v", name, item.Row, item.Line)
		}
	}
	if item := one(t, fmt.Sprintf(relation, `{"type":"node","ref":9,"role":""}`)); item.Skip != format.NoPosition || item.ID != "relation/1" {
		t.Errorf("no member has a place: %+v", item)
	}
}

// TestSharedDevice checks that a device of several relations becomes one row, in whatever order they stand.
func TestSharedDevice(t *testing.T) {
	relation := func(id int, word, more string) string {
		return fmt.Sprintf(`{"type":"relation","id":%d,"members":[{"type":"node","ref":7,"role":"device","lat":1,"lon":2}],"tags":{"type":"enforcement","enforcement":"%s"%s}}`, id, word, more)
	}
	a, b := relation(1, "maxspeed", `,"maxspeed":"50"`), relation(2, "traffic_signals", "")
	for _, elements := range []string{a + "," + b, b + "," + a} {
		items, err := convert(`{"elements":[` + elements + `]}`)
		if err != nil || len(items) != 2 || string(items[0].Row) != `{"external_id":"node/7","kind":"camera.red_light","lat":1,"lng":2,"properties":{"maxspeed_kmh":50}}` || items[1].Skip != format.Joined {
			t.Errorf("%s: %+v %v", elements, items, err)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{
		`{"elements":[]}`: "", `{"elements":[],"remark":"a note"}`: "", `{"elements":[],"remark":"runtime error: Query timed out"}`: format.BadStatus,
		`{}`: format.NotFormat, `{"elements":{}}`: format.NotFormat, `[]`: format.NotFormat, `{"elements":[{}`: format.BadJSON,
	} {
		_, err := convert(text)
		var bad *format.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Fault != want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	many := `{"elements":[{"type":"relation","id":1,"tags":{"type":"enforcement"},"members":[` + strings.Repeat(`{"type":"node","ref":1},`, 200_000) + `{"type":"node","ref":1}]}]}`
	relations := `{"elements":[` + strings.Repeat(`{"type":"relation","tags":{"type":"enforcement"}},`, 200_000) + `{"type":"relation","tags":{"type":"enforcement"}}]}`
	for _, text := range []string{many, relations} {
		var bad *format.Error
		if _, err := convert(text); !errors.As(err, &bad) || bad.Fault != format.TooMany {
			t.Errorf("more than is held: %v", err)
		}
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
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
