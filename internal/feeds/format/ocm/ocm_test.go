package ocm_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/ocm"
)

func convert(text string) (items []format.Item, err error) {
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	_, err = ocm.Convert(d, new(format.Options), func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

// poi converts one place with the given members.
func poi(t *testing.T, members string) format.Item {
	t.Helper()
	items, err := convert(`[{"ID":7,"AddressInfo":{"Latitude":52,"Longitude":5},` + members + `}]`)
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	return items[0]
}

func TestReasons(t *testing.T) {
	for members, want := range map[string]format.Reason{
		`"SubmissionStatusTypeID":200`: "", `"SubmissionStatusTypeID":100`: "", `"a":1`: "", `"SubmissionStatus":{"ID":200}`: "", `"SubmissionStatus":null`: "", `"SubmissionStatus":100`: "",
		`"SubmissionStatusTypeID":1000`: format.Removed, `"SubmissionStatus":{"ID":50},"SubmissionStatusTypeID":200`: format.Removed, `"SubmissionStatus":250`: format.Removed,
		`"DataProvider":{"IsOpenDataLicensed":false},"SubmissionStatusTypeID":1000`: format.NotPublic, `"DataProvider":{"IsOpenDataLicensed":true}`: "", `"DataProvider":{"IsOpenDataLicensed":null}`: "",
	} {
		if item := poi(t, members); item.Skip != want || item.ID != "OCM-7" {
			t.Errorf("%s: %+v", members, item)
		}
	}
	for text, want := range map[string]format.Reason{
		`[1]`: format.NotAnItem, `[{"AddressInfo":{}}]`: format.NoID, `[{"ID":""}]`: format.NoID, `[{"ID":1}]`: format.NoPosition,
		`[{"ID":1,"AddressInfo":{"Latitude":"","Longitude":5}}]`: format.NoPosition, `[{"ID":1,"AddressInfo":{"Latitude":"52.5","Longitude":5}}]`: "",
	} {
		if items, err := convert(text); err != nil || items[0].Skip != want {
			t.Errorf("%s: %+v %v", text, items, err)
		}
	}
}

func TestConnections(t *testing.T) {
	for connections, want := range map[string]string{
		``:                                    `"kind":"charger.destination","lat":52,"lng":5,"properties":{}`,
		`{"PowerKW":22,"CurrentTypeID":20}`:   `"kind":"charger.destination","lat":52,"lng":5,"properties":{"evses":1,"max_kw":22}`,
		`{"PowerKW":3.68},{"PowerKW":"50"}`:   `"kind":"charger.supercharger","lat":52,"lng":5,"properties":{"evses":2,"max_kw":50}`,
		`{"CurrentTypeID":30,"Quantity":2}`:   `"kind":"charger.supercharger","lat":52,"lng":5,"properties":{"evses":2}`,
		`{"CurrentTypeID":20,"Quantity":4}`:   `"kind":"charger.destination","lat":52,"lng":5,"properties":{"evses":4}`,
		`{"Quantity":0},{"Quantity":-3}`:      `"properties":{}`,
		`{"Quantity":null},{"Quantity":1e15}`: `"properties":{"evses":1000000000000001}`,
	} {
		if item := poi(t, `"Connections":[`+connections+`]`); !strings.Contains(string(item.Row), want) {
			t.Errorf("%s: %s, want %s", connections, item.Row, want)
		}
	}
	const two = `"Connections":[{"Quantity":2}],`
	for status, want := range map[string]string{
		`{"IsOperational":false}`: `"available":0,"occupied":0,"out_of_order":2,"unknown":0`, `{"IsOperational":true}`: `"evses":2}`, `null`: `"evses":2}`,
	} {
		if item := poi(t, two+`"StatusType":`+status); !strings.Contains(string(item.Row), want) {
			t.Errorf("%s: %s", status, item.Row)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string]format.Fault{`[]`: "", `{}`: format.NotFormat, `[{}`: format.BadJSON, `[][]`: format.BadJSON} {
		_, err := convert(text)
		var bad *format.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Fault != want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`[{"ID":1,"AddressInfo":{"Latitude":1,"Longitude":"2"},"Connections":[{"PowerKW":1e308,"Quantity":1e308},{"Quantity":1e308}],"StatusType":{"IsOperational":false}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		items, err := convert(text)
		if err != nil {
			return
		}
		for _, item := range items {
			if (item.Skip == "") != (len(item.Row) > 0) {
				t.Errorf("%+v", item)
			}
		}
	})
}
