package openfeeds_test

import (
	"os"
	"path/filepath"
	"testing"

	"wayside/internal/bridge"
	"wayside/internal/openfeeds"
	"wayside/internal/safehttp"
)

// D17.19: at least 20 open feeds, each with an address that may be registered, attribution, licence and where its terms are known from.
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

// An operator's entries win over the program's of the same id; a wrong file is refused with its name and the entry.
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
	for _, text := range []string{``, `{}`, `[{}]`, `[{"id":"a","name":"A","url":"http://x","format":"csv","auth":"none"}]`, `[{"id":"a","surprise":1}]`} {
		write(text)
		if _, err := openfeeds.Load(file); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	if _, err := openfeeds.Load(file + ".not"); err == nil {
		t.Error("a missing file is accepted")
	}
}
