package apps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// TestBounds checks that each bound accepts its last value, and refuses the next one by the right code.
func TestBounds(t *testing.T) {
	r := rules(t, "https://map.example.com")
	r.CheckHost = func(name string) (string, error) { return name, nil } // so that only the length decides
	long := func(n int) string { return strings.Repeat("ä", n) }
	list := func(n int, form string) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf(form, i))
		}
		return list
	}
	submission := func(change map[string]any) []string {
		_, codes := submit(t, r, change)
		return codes
	}
	parse := func(schema string) []string {
		var bad mapdata.FieldErrors
		ParseSchema("config_schema", jsontext.Value(schema), &bad)
		return codesOf(bad)
	}
	report := func(size int) []string {
		const text = `{"version":1,"url":"https://a.example/","made_by":"bench","made_at":"2026-11-22T12:00:00Z","passed":true,"checks":[{"check":"ready","seen":"1 ready","result":"pass"}]`
		var bad mapdata.FieldErrors
		ParseReport("report", jsontext.Value(text+strings.Repeat(" ", size-len(text)-1)+"}"), &bad)
		return codesOf(bad)
	}
	config := func(size int) []string {
		schema := make([]mapdata.ConfigField, 12)
		given, left := "", size-len("{}")
		for i := range schema {
			key := string(rune('a' + i))
			schema[i] = mapdata.ConfigField{Key: key, Type: mapdata.ConfigURL}
			length := min(left-len(`"a":"",`), 2048)
			if left -= length + len(`"a":"",`); length < 20 {
				break
			}
			given += `,"` + key + `":"https://a/` + strings.Repeat("x", length-len("https://a/")) + `"`
		}
		var bad mapdata.FieldErrors
		ParseConfig("config", schema, jsontext.Value("{"+given[1:]+"}"), nil, &bad)
		return codesOf(bad)
	}
	icon := func(lines int) []string {
		_, reason := drawSVG([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0` + strings.Repeat("h1h-1", lines/2) + `"/></svg>`))
		if reason != "" {
			return []string{reason}
		}
		return nil
	}
	note := func(n int) []string {
		_, err := cleanNote(long(n))
		var invalid *mapdata.InvalidError
		if errors.As(err, &invalid) {
			return codesOf(invalid.Fields)
		}
		return nil
	}
	for name, tt := range map[string]struct {
		fits, beyond int
		try          func(n int) []string
		want         string
	}{
		"characters of a name": {60, 61, func(n int) []string { return submission(map[string]any{"name": long(n)}) }, "name too_long"},
		"bytes of a domain":    {253, 254, func(n int) []string { return submission(map[string]any{"domains": []string{strings.Repeat("a", n)}}) }, "domains[0] invalid"},
		"characters of a URL": {2048, 2049, func(n int) []string {
			return submission(map[string]any{"website_url": "https://a.example/" + strings.Repeat("x", n-18)})
		}, "website_url invalid"},
		"options of a field": {50, 51, func(n int) []string {
			return parse(`[{"key":"a","label":"L","type":"select","options":["` + strings.Join(list(n, "%d"), `","`) + `"]}]`)
		}, "config_schema[0].options too_many"},
		"characters of an option": {60, 61, func(n int) []string {
			return parse(`[{"key":"a","label":"L","type":"select","options":["` + long(n) + `"]}]`)
		}, "config_schema[0].options[0] too_long"},
		"feeds": {20, 21, func(n int) []string {
			return submission(map[string]any{"kinds": []string{"pins"}, "widget_url": nil, "feed_ids": list(n, "0192d3e4-5f60-7a1b-8c2d-%012d")})
		}, "feed_ids too_many"},
		"bytes of a report":               {16 << 10, 16<<10 + 1, report, "report too_long"},
		"bytes of a config":               {16 << 10, 16<<10 + 30, config, "config too_long"},
		"lines of an SVG":                 {99_000, 101_000, icon, "draws too much. Use fewer points, or thinner strokes"},
		"characters of a note":            {2000, 2001, note, "note too_long"},
		"characters of an unknown member": {64, 65, func(n int) []string { return submission(map[string]any{strings.Repeat("x", n): 1}) }, strings.Repeat("x", 64) + " unknown_field"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.try(tt.fits)
			if strings.HasSuffix(tt.want, "unknown_field") { // the name is cut, and refused at any length
				got = nil
			}
			if len(got) > 0 {
				t.Errorf("%d: %q", tt.fits, got)
			}
			if got := tt.try(tt.beyond); !slices.Contains(got, tt.want) {
				t.Errorf("%d: %q, want %q", tt.beyond, got, tt.want)
			}
		})
	}
}

// TestVersionsAreBounded checks that an app keeps 20 versions: the oldest go first, except the approved and the pending one.
func TestVersionsAreBounded(t *testing.T) {
	var versions []mapdata.AppVersion
	for i := range 25 {
		versions = append(versions, mapdata.AppVersion{Number: i + 1, State: mapdata.AppWithdrawn})
	}
	versions[1].State, versions[24].State = mapdata.AppApproved, mapdata.AppPending
	left := forgetOldest(versions)
	if len(left) != 20 || left[0].Number != 2 || left[1].Number != 7 || left[19].Number != 25 {
		t.Errorf("%d versions are left: %+v", len(left), left)
	}
}

// limited is a Store of one app that refuses what would grow, and notes the limits that it is given.
type limited struct {
	Store
	app    mapdata.App
	limits mapdata.AppLimits
	most   int
}

var errLimited = errors.New("limited")

func (l *limited) CheckWaitingApps(_ context.Context, _ mapdata.AccountID, limits mapdata.AppLimits) error {
	l.limits = limits
	return errLimited
}

func (l *limited) EditInstall(_ context.Context, _ mapdata.AccountID, _ mapdata.AppID, most int, _ func(*mapdata.AppInstall, bool) error) (*mapdata.AppInstall, error) {
	l.most = most
	return nil, errLimited
}

func (l *limited) App(context.Context, mapdata.AppID) (*mapdata.App, error) {
	a := l.app
	a.Versions = slices.Clone(a.Versions)
	return &a, nil
}

func (l *limited) UpdateApp(ctx context.Context, id mapdata.AppID, edit func(*mapdata.App) (mapdata.Side, error)) (*mapdata.App, error) {
	a, err := l.App(ctx, id)
	if err != nil {
		return nil, err
	}
	_, err = edit(a)
	return a, errors.Join(err, errLimited)
}

// TestLimitsOfAccounts checks the bounds that the service gives its store: apps and waiting versions, and installed apps.
func TestLimitsOfAccounts(t *testing.T) {
	store := &limited{}
	s := New(Config{Store: store, Now: time.Now})
	account := &mapdata.Account{ID: mapdata.AccountID{1}}
	if _, err := s.Submit(t.Context(), mapdata.ActorOf(account), nil); !errors.Is(err, errLimited) {
		t.Fatal(err)
	}
	if want := (mapdata.AppLimits{PerOwner: 20, Waiting: 500, WaitingPerOwner: 10}); store.limits != want {
		t.Errorf("limits %+v, want %+v", store.limits, want)
	}
	id := mapdata.AppID{2}
	s.catalogue.Store(&catalogue{byID: map[mapdata.AppID]*Listed{id: {App: &mapdata.App{ID: id}, Version: &mapdata.AppVersion{}}}})
	if _, err := s.Configure(t.Context(), account.ID, id, Change{}); !errors.Is(err, errLimited) {
		t.Fatal(err)
	}
	if store.most != 12 {
		t.Errorf("a driver may install %d apps, want 12", store.most)
	}
}

// TestNobodyDecidesOnTheirOwnApp checks that a curator cannot approve, reject, suspend or resume an app of their own (D11.9), and
// that the command line can.
func TestNobodyDecidesOnTheirOwnApp(t *testing.T) {
	owner := &mapdata.Account{ID: mapdata.AccountID{1}, Role: mapdata.Curator}
	other := &mapdata.Account{ID: mapdata.AccountID{2}, Role: mapdata.Curator}
	store := &limited{app: mapdata.App{Owner: owner.ID, Versions: []mapdata.AppVersion{{Number: 1, State: mapdata.AppPending}}}}
	s := New(Config{Store: store, Now: time.Now})
	acts := map[string]func(by mapdata.Actor) error{
		"reject": func(by mapdata.Actor) error {
			_, _, err := s.Reject(t.Context(), by, mapdata.AppID{}, 1, "no")
			return err
		},
		"suspend": func(by mapdata.Actor) error { _, err := s.Suspend(t.Context(), by, mapdata.AppID{}, "no"); return err },
		"resume":  func(by mapdata.Actor) error { _, err := s.Resume(t.Context(), by, mapdata.AppID{}); return err },
	}
	for name, act := range acts {
		if err := act(mapdata.ActorOf(owner)); !errors.Is(err, mapdata.ErrForbidden) {
			t.Errorf("%s of one's own: %v", name, err)
		}
		for _, by := range []mapdata.Actor{mapdata.ActorOf(other), mapdata.Operator()} {
			if err := act(by); errors.Is(err, mapdata.ErrForbidden) {
				t.Errorf("%s of another's: %v", name, err)
			}
		}
	}
	if _, _, err := s.Approve(t.Context(), mapdata.ActorOf(owner), mapdata.AppID{}, 1); !errors.Is(err, mapdata.ErrForbidden) {
		t.Errorf("approve of one's own: %v", err)
	}
}

// TestProofFileIsBounded checks that a proof counts in the first 4 KiB of the file only.
func TestProofFileIsBounded(t *testing.T) {
	var body []byte
	s := New(Config{Rules: *rules(t, "https://map.example.com"), Look: func(context.Context, string) (*Page, error) {
		return &Page{Status: http.StatusOK, Body: body}, nil
	}})
	owner := mapdata.AccountID{1}
	const address = "https://apps.example.org/trip"
	code := s.ProofOf(owner, address).Code
	for before, want := range map[int]bool{0: true, 4096 - len(code): true, 4096 - len(code) + 1: false, 4096: false} {
		body = []byte(strings.Repeat("\n", before) + code)
		var bad mapdata.FieldErrors
		if err := s.checkProof(t.Context(), owner, address, &Page{}, &bad); err != nil {
			t.Fatal(err)
		}
		if got := len(bad) == 0; got != want {
			t.Errorf("a proof after %d bytes counts: %t", before, got)
		}
	}
}
