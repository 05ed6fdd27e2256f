package ingest_test

import (
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// TestDecodeReport checks which properties the row of a report has.
func TestDecodeReport(t *testing.T) {
	kind, _ := mapdata.ParseKind("alert.accident")
	heading := 90.5
	for _, tt := range []struct {
		name    string
		heading *float64
		street  string
		want    string
	}{
		{"neither", nil, "", `{}`},
		{"a heading", &heading, "", `{"bearing":90.5}`},
		{"a street", nil, `"Triq \"il-Kbira\""`, `{"street":"Triq \"il-Kbira\""}`},
		{"both", &heading, `"A1"`, `{"bearing":90.5,"street":"A1"}`},
	} {
		r := &ingest.DriverReport{ExternalID: "ABC", Kind: kind, Lat: []byte("35.9"), Lng: []byte("14.4"), Bearing: tt.heading, Lifetime: time.Minute}
		if tt.street != "" {
			r.Street = []byte(tt.street)
		}
		batch, err := ingest.DecodeReport(r, time.Unix(1_800_000_000, 0))
		if err != nil {
			t.Fatal(err)
		}
		if errs := batch.Report().Errors; len(errs) > 0 {
			t.Errorf("%s: %v", tt.name, errs)
		}
		for _, row := range batch.All() {
			if got := strings.ReplaceAll(string(row.Properties), " ", ""); got != strings.ReplaceAll(tt.want, " ", "") {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
	}
}
