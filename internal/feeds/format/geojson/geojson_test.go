package geojson_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geojson"
	"wayside/internal/ground/mapdata"
)

func convert(text, mapping string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	_, err = geojson.Convert(d, &format.Options{Mapping: []byte(mapping)}, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

const simple = `{"id":"id","kind":"alert.hazard","properties":{"both_directions":"properties.both"}}`

func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		geometry, at string
		line         int
		skip         format.Reason
	}{
		{`{"type":"Point","coordinates":[5,52]}`, `"lat":52,"lng":5`, 0, ""},
		{`{"type":"LineString","coordinates":[[5,52],[6,52],[6,52]]}`, `"lat":52,"lng":5`, 2, ""},
		{`{"type":"MultiPoint","coordinates":[[7,50],[6,52]]}`, `"lat":50,"lng":7`, 0, ""},
		{`{"type":"Polygon","coordinates":[]}`, "", 0, format.Area},
		{`null`, "", 0, format.NoPosition},
		{`{"type":"Point","coordinates":["5","52"]}`, "", 0, format.NoPosition},
	} {
		items, err := convert(`{"features":[{"id":1,"geometry":`+tt.geometry+`}]}`, simple)
		if err != nil || len(items) != 1 || items[0].Skip != tt.skip || len(items[0].Line) != tt.line || !strings.Contains(string(items[0].Row), tt.at) {
			t.Errorf("%s: %+v %v", tt.geometry, items, err)
		}
	}
	items, err := convert(`{"features":[{"id":1,"properties":{"both":true},"geometry":{"type":"LineString","coordinates":[[5,0],[6,0]]}}]}`, simple)
	if err != nil || !strings.Contains(string(items[0].Row), `"lng":5.5,"properties":{"both_directions":true}`) {
		t.Errorf("both directions: %s %v", items[0].Row, err)
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{
		`{"features":[]}`: "", `{"features":[1,"a",null]}`: "", `{"features":{}}`: format.NotFormat, `{}`: format.NotFormat, `[]`: format.NotFormat,
		`{"features":[{}`: format.BadJSON, `{"features":[]}{}`: format.BadJSON,
	} {
		items, err := convert(text, simple)
		var bad *format.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Fault != want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		for _, item := range items {
			if err == nil && item.Skip != format.NotAnItem {
				t.Errorf("%s: %+v", text, item)
			}
		}
	}
	var bad *format.Error
	if _, err := convert(`{"features":[]}`, `{"id":"a"}`); !errors.Is(err, mapdata.ErrMalformed) || errors.As(err, &bad) || !strings.Contains(err.Error(), "kind") {
		t.Errorf("a mapping that is wrong is no fault of the document: %v", err)
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"features":[{"id":1,"properties":{"both":true},"geometry":{"type":"MultiLineString","coordinates":[[[5,0],[6,0]],[[500,0]]]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		items, err := convert(text, simple)
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
