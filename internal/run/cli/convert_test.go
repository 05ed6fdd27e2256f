package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConvert converts documents with the real program, and checks that the service accepts the rows, that a document that breaks
// off results in no rows, and the report.
func TestConvert(t *testing.T) {
	t.Parallel()
	sample := filepath.Join("..", "..", "feeds", "format", "wzdx", "testdata", "sample.json")
	folder := t.TempDir()
	report := filepath.Join(folder, "report.json")
	at := []string{"convert", "--from", "wzdx", "--at", "2026-03-01T12:00:00Z"}
	code, stdout, stderr := command(t, nil, append(at, "--report", report, sample)...)
	var rows []struct {
		ExternalID string `json:"external_id"`
		TTL        int    `json:"ttl_seconds"`
		Properties struct {
			Line [][2]float64 `json:"line"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || code != 0 || len(rows) != 4 {
		t.Fatalf("%d %v\n%s\n%s", code, err, stdout, stderr)
	}
	if rows[0].TTL != 9*24*3600+6*3600 || len(rows[0].Properties.Line) != 3 || rows[0].Properties.Line[0] != [2]float64{5.1, 52.1} || rows[1].TTL != 0 {
		t.Errorf("%+v", rows)
	}
	if !strings.HasPrefix(stderr, "4 rows: 2 alert.construction, 1 alert.accident, 1 alert.road_closed\n2 skipped: not_an_item\n") || !strings.Contains(stderr, "2 skipped: no_kind (arrow-board 1, detour 1)\n") {
		t.Error(stderr)
	}
	var got struct {
		Rows, Rejected     int
		Kinds, Skipped     map[string]int
		Words              map[string]map[string]int
		Publisher, Licence string
	}
	text, err := os.ReadFile(report)
	if err != nil || json.Unmarshal(text, &got) != nil || got.Rows != 4 || got.Rejected != 0 || got.Kinds["alert.construction"] != 2 || got.Skipped["not_yet"] != 1 || got.Words["no_kind"]["detour"] != 1 || got.Publisher != "Town of Example" || got.Licence == "" {
		t.Errorf("%v %s", err, text)
	}
	again := filepath.Join(folder, "rows.json")
	if err := os.WriteFile(again, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := command(t, nil, "validate", again); code != 0 || !strings.HasPrefix(stdout, "4 rows accepted, 0 rejected\n") {
		t.Errorf("what convert wrote is not valid: %d %s %s", code, stdout, stderr)
	}

	whole, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(folder, "broken.json")
	for name, tt := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"cut off":        {string(whole[:len(whole)-10]), nil, 1, "json: byte "},
		"another format": {`{"type":"Topology"}`, nil, 1, "format: byte "},
		"empty":          {"", nil, 1, "json"},
		"no time":        {"{}", []string{"--at", "noon"}, 2, "--at"},
		"no zone":        {"{}", []string{"--time-zone", "Mars/Olympus"}, 2, "--time-zone"},
		"not for it":     {"{}", []string{"--mapping", "x"}, 2, "not for the format wzdx"},
	} {
		if err := os.WriteFile(broken, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := command(t, nil, append(append([]string{"convert", "--from", "wzdx"}, tt.args...), broken)...)
		if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d %q %q", name, code, stdout, stderr)
		}
	}
	if code, stdout, stderr := command(t, nil, "convert", "--from", "nope", broken); code != 2 || stdout != "" || !strings.Contains(stderr, "wzdx") {
		t.Errorf("unknown format: %d %s %s", code, stdout, stderr)
	}
}
