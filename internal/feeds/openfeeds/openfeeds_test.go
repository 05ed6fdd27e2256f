package openfeeds_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/openfeeds"
	"wayside/internal/ground/safehttp"
)

// TestBuiltInFeeds checks that there are at least 20 open feeds, each with a URL that may be registered, attribution, licence and the
// source of its terms (D17.19).
func TestBuiltInFeeds(t *testing.T) {
	all, err := openfeeds.Load("")
	if err != nil || len(all) < 20 {
		t.Fatal(len(all), err)
	}
	for _, f := range all {
		if _, err := safehttp.CheckURL(f.URL); err != nil {
			t.Errorf("%s: url %v", f.ID, err)
		}
		if f.Attribution == "" || f.Licence == "" || len(f.Licence) > 200 || f.Checked == nil && f.Evidence == "" || f.IntervalSeconds < 30 || f.IntervalSeconds > 3600 {
			t.Errorf("%s: attribution, licence, evidence or interval: %+v", f.ID, f)
		}
		if (f.Auth == openfeeds.AuthHeader || f.Auth == openfeeds.AuthKey) && f.AuthHint == "" {
			t.Errorf("%s: does not say which header or key", f.ID)
		}
		format, known := bridge.Lookup(f.Format)
		if known && (f.StatusURL != "" && !format.Status || f.ChargerNetwork != "" && !format.Chargers || (len(f.Mapping) > 0) != format.Mapping) {
			t.Errorf("%s: settings that %s does not have", f.ID, f.Format)
		}
	}
}

// TestOperatorsFile checks that an operator's entries replace the program's with the same id, and that an invalid file is refused with its
// name and the entry.
func TestOperatorsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "open.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, err := openfeeds.Load("")
	if err != nil {
		t.Fatal(err)
	}
	write(`[{"id":"nl-ndw-srti","name":"Ours","url":"https://data.example.org/","format":"datex2","auth":"none"},
		{"id":"own","name":"Own","url":"https://data.example.org/","format":"csv","mapping":{"id":"x"},"auth":"none"}]`)
	all, err := openfeeds.Load(file)
	if f, found := openfeeds.Find(all, "nl-ndw-srti"); err != nil || !found || f.Name != "Ours" || len(all) != len(before)+1 {
		t.Errorf("%v, %d entries: %v", f, len(all), err)
	}
	write("[]" + strings.Repeat(" ", 4<<20-2))
	if _, err := openfeeds.Load(file); err != nil {
		t.Errorf("4 MiB: %v", err)
	}
	for _, text := range []string{"[]" + strings.Repeat(" ", 4<<20-1), ``, `{}`, `[{}]`, `[{"id":"a","name":"A","url":"http://x","format":"csv","auth":"none"}]`, `[{"id":"a","surprise":1}]`} {
		write(text)
		if _, err := openfeeds.Load(file); err == nil {
			t.Errorf("%.40s is accepted", text)
		}
	}
	if _, err := openfeeds.Load(file + ".not"); err == nil {
		t.Error("a missing file is accepted")
	}
}

// TestOperatorsAddresses verifies that an operator's entry has only addresses that a feed may have (D6.5), its status document included.
func TestOperatorsAddresses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "open.json")
	load := func(url, status string) error {
		text, err := json.Marshal([]openfeeds.Feed{{ID: "own", Name: "Own", URL: url, StatusURL: status, Format: "ocpi", Auth: openfeeds.AuthNone}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = openfeeds.Load(file)
		return err
	}
	const good = "https://data.example.org/feed.json"
	if err := load(good, good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "http://data.example.org/", "HTTPS:/data.example.org/", "https://", "https:///127.0.0.1/", "https://LOCALHOST/", "https://127.0.0.1/",
		"https://2130706433/", "https://0x7f.1/", "https://[::1]/", "https://127.0.0.1.:8443/", "https://intranet/", "https://printer.local/",
		"https://metadata.google.internal/", "https://user:password@data.example.org/", "https://data.example.org:22/", "https://data.example.org/#x",
		"https://data.example.org\\@127.0.0.1/", "https://data.example.org/ x", "https://１２７.0.0.1/", "https://data.example.org/%zz",
	} {
		if err := load(bad, ""); err == nil || !strings.Contains(err.Error(), "entry own: url: ") {
			t.Errorf("url %q: %v", bad, err)
		}
		if bad == "" {
			continue // there is no status document
		}
		if err := load(good, bad); err == nil || !strings.Contains(err.Error(), "entry own: status_url: ") {
			t.Errorf("status_url %q: %v", bad, err)
		}
	}
}
