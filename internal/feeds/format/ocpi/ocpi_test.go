package ocpi_test

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/ocpi"
)

func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	_, err = ocpi.Convert(d, new(format.Options), func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

// location converts one location with the given members beside its id and coordinates.
func location(t *testing.T, members string) format.Item {
	t.Helper()
	items, err := convert(`[{"id":"L","coordinates":{"latitude":"52","longitude":"5"},` + members + `}]`)
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	return items[0]
}

func connector(t *testing.T, members string) string {
	t.Helper()
	return string(location(t, `"evses":[{"connectors":[{`+members+`}]}]`).Row)
}

// TestWords checks the tables of plugs and of statuses word by word.
func TestWords(t *testing.T) {
	words := format.Vocabulary()
	for word, plug := range words.Plugs.OCPI {
		if row := connector(t, `"standard":"`+word+`"`); !strings.Contains(row, `"plugs":["`+plug+`"]`) {
			t.Errorf("%s: %s", word, row)
		}
	}
	if row := connector(t, `"standard":"GBT_DC"`); !strings.Contains(row, `"plugs":["other"]`) {
		t.Error(row)
	}
	for name, list := range map[string][]string{
		"available": words.EVSEStatus.Available, "occupied": words.EVSEStatus.Occupied, "out_of_order": words.EVSEStatus.OutOfOrder, "unknown": {"UNKNOWN", "ELSE"},
	} {
		for _, word := range list {
			if row := string(location(t, `"evses":[{"status":"`+word+`"}]`).Row); !strings.Contains(row, `"`+name+`":1`) {
				t.Errorf("%s: %s", word, row)
			}
		}
	}
	for _, word := range words.EVSEStatus.Gone {
		if item := location(t, `"evses":[{"status":"`+word+`"}]`); item.Skip != format.Removed || item.Word != word {
			t.Errorf("%s: %+v", word, item)
		}
	}
}

func TestPower(t *testing.T) {
	for _, tt := range []struct{ members, kw, kind string }{
		{`"max_electric_power":22000,"max_voltage":1,"max_amperage":1`, "22", "destination"},
		{`"max_electric_power":0,"max_voltage":500,"max_amperage":100,"power_type":"DC"`, "50", "supercharger"},
		{`"voltage":400,"amperage":125,"power_type":"DC"`, "50", "supercharger"},
		{`"max_voltage":230,"max_amperage":16,"power_type":"AC_1_PHASE"`, "3.7", "destination"},
		{`"max_voltage":400,"max_amperage":32,"power_type":"AC_3_PHASE"`, "22.2", "destination"},
		{`"max_voltage":"400","max_amperage":"32","power_type":" ac_3_phase"`, "22.2", "destination"},
		{`"max_voltage":400,"power_type":"dc"`, "", "supercharger"},
		{`"power_type":"AC_3_PHASE"`, "", "destination"},
		{`"max_electric_power":22,"power_type":"AC_3_PHASE"`, "", "destination"}, // kilowatts in place of watts: too little to be shown
	} {
		row := connector(t, tt.members)
		if !strings.Contains(row, `"kind":"charger.`+tt.kind+`"`) || strings.Contains(row, `"max_kw"`) != (tt.kw != "") || tt.kw != "" && !strings.Contains(row, `"max_kw":`+tt.kw+`}`) {
			t.Errorf("%s: %s", tt.members, row)
		}
	}
}

func TestIDs(t *testing.T) {
	for members, want := range map[string]string{
		`"country_code":"NL","party_id":"EXA","id":"1"`: "NL*EXA*1",
		`"country_code":"NL","party_id":null,"id":"1"`:  "1",
		`"party_id":"EXA","id":7`:                       "7",
		`"country_code":"NL","party_id":"EXA"`:          "",
		`"id":""`:                                       "",
	} {
		items, err := convert(`[{` + members + `,"evses":[{}],"coordinates":{"latitude":1,"longitude":2}}]`)
		if err != nil || items[0].ID != want || (items[0].Skip == format.NoID) != (want == "") {
			t.Errorf("%s: %+v %v", members, items, err)
		}
	}
}

// TestReasons checks the order of reasons: of several that apply, the first counts.
func TestReasons(t *testing.T) {
	for members, want := range map[string]format.Reason{
		`"evses":[{}]`:                    "",
		`"publish":true,"evses":[{}]`:     "",
		`"publish":false,"evses":[]`:      format.NotPublic,
		`"evses":[]`:                      format.Removed,
		`"evses":null`:                    format.Removed,
		`"evses":[{"status":"removed "}]`: format.Removed,
		`"evses":[{"status":"REMOVED"},{"status":"AVAILABLE"}]`: "",
	} {
		if item := location(t, members); item.Skip != want || item.Skip == "" && item.Word != "" {
			t.Errorf("%s: %+v", members, item)
		}
	}
	for _, coordinates := range []string{`null`, `{}`, `{"latitude":"","longitude":""}`, `{"latitude":"north","longitude":"5"}`, `{"latitude":52}`, `[52,5]`} {
		items, err := convert(`[{"id":"a","evses":[{}],"coordinates":` + coordinates + `}]`)
		if err != nil || items[0].Skip != format.NoPosition {
			t.Errorf("%s: %+v %v", coordinates, items, err)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{
		`[]`: "", `{"data":[]}`: "", `{"data":[],"status_code":1000}`: "", `{"status_code":"Success","data":[]}`: "", `{"status_code":"1001","data":[]}`: "",
		`{"data":[],"status_code":2000}`: format.BadStatus, `{"status_code":3001}`: format.BadStatus, `{"status_code":"2001","data":null}`: format.BadStatus,
		`{"status_code":1000}`: format.NotFormat, `{"data":{}}`: format.NotFormat, `{"data":null}`: format.NotFormat, `"a"`: format.NotFormat,
		`[{"id":"a"}`: format.BadJSON, `[{"id":"a","id":"b"}]`: format.BadJSON, `{"data":[]}]`: format.BadJSON,
	} {
		_, err := convert(text)
		var bad *format.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Fault != want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestOrder checks the locations of the sample in both orders.
func TestOrder(t *testing.T) {
	a, b := `{"id":"a","evses":[{"status":"AVAILABLE"}],"coordinates":{"latitude":1,"longitude":2}}`, `{"id":"b","evses":[{}],"coordinates":{"latitude":3,"longitude":4}}`
	one, err := convert(`[` + a + `,` + b + `]`)
	if err != nil {
		t.Fatal(err)
	}
	two, err := convert(`[` + b + `,` + a + `]`)
	if err != nil || string(one[0].Row) != string(two[1].Row) || string(one[1].Row) != string(two[0].Row) {
		t.Errorf("%v: %+v, %+v", err, one, two)
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`[{"id":` + strconv.Quote(strings.Repeat("a", 300)) + `,"evses":[{"connectors":[{"max_voltage":1e308,"max_amperage":1e308}]}],"coordinates":{"latitude":99,"longitude":-999}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		items, err := convert(text)
		if err != nil {
			return
		}
		for _, item := range items {
			if (item.Skip == "") != (len(item.Row) > 0) || item.Skip == "" && item.ID == "" {
				t.Errorf("%+v", item)
			}
		}
	})
}
