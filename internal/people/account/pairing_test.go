package account_test

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// beginPairing starts a pairing of a screen.
func (ts *testService) beginPairing() *account.PairingBegun {
	ts.t.Helper()
	begun, err := ts.BeginPairing(ts.t.Context(), "Car/1")
	if err != nil {
		ts.t.Fatal(err)
	}
	return begun
}

// poll polls for the screen and returns its session and state.
func (ts *testService) poll(begun *account.PairingBegun) (*account.SignedIn, mapdata.PairingState) {
	ts.t.Helper()
	in, state, err := ts.PollPairing(ts.t.Context(), begun.Secret, account.Browser{})
	if err != nil {
		ts.t.Fatal(err)
	}
	return in, state
}

func (ts *testService) wantState(begun *account.PairingBegun, want mapdata.PairingState) {
	ts.t.Helper()
	if in, state := ts.poll(begun); state != want || in != nil {
		ts.t.Errorf("the screen gets state %s (session %v), want %s", state, in != nil, want)
	}
}

func TestPairing(t *testing.T) {
	ts := newTestService(t)
	ada := ts.signIn("ada@example.org")
	begun := ts.beginPairing()
	if !regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`).MatchString(begun.Code.Shown()) {
		t.Errorf("code %s", begun.Code.Shown())
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`).MatchString(begun.Secret) {
		t.Error("the screen's secret has no 256 bits")
	}
	if stored := ts.store.pairings[0]; strings.Contains(string(stored.CodeHash), string(begun.Code)) || len(stored.CodeHash) != 32 || len(stored.DeviceHash) != 32 {
		t.Error("what is stored are no hashes")
	}
	ts.wantState(begun, mapdata.PairingWaiting)
	found, err := ts.FindPairing(t.Context(), begun.Code)
	if err != nil || found.Agent != "Car/1" || found.State != mapdata.PairingWaiting {
		t.Fatalf("found %+v, %v", found, err)
	}
	ts.wantState(begun, mapdata.PairingWaiting) // finding it does not approve it
	if _, err := ts.AnswerPairing(t.Context(), begun.Code, &mapdata.Session{Account: ada.Account.ID}, true); err != nil {
		t.Fatal(err)
	}
	in, state := ts.poll(begun)
	if state != mapdata.PairingApproved || in == nil || in.Account.Email != "ada@example.org" {
		t.Fatalf("the screen gets state %s, with %+v", state, in)
	}
	session, who, err := ts.Authenticate(t.Context(), in.Secret)
	if err != nil || who.ID != ada.Account.ID || session.Agent != "Car/1" || session.ID == ada.Session.ID {
		t.Errorf("the screen's session %+v of %+v, %v", session, who, err)
	}
	ts.wantState(begun, mapdata.PairingUsed)
	if err := ts.EndSession(t.Context(), ada.Account.ID, session.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = ts.Authenticate(t.Context(), in.Secret)
	wantErr(t, err, mapdata.ErrUnauthenticated)
}

func TestPairingDenied(t *testing.T) {
	ts := newTestService(t)
	ada, eve := ts.signIn("ada@example.org").Account.ID, ts.signIn("eve@example.org").Account.ID
	begun := ts.beginPairing()
	for range 2 { // a repeated answer is accepted
		if _, err := ts.AnswerPairing(t.Context(), begun.Code, &mapdata.Session{Account: ada}, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []mapdata.AccountID{ada, eve} {
		_, err := ts.AnswerPairing(t.Context(), begun.Code, &mapdata.Session{Account: id}, true)
		wantErr(t, err, mapdata.ErrConflict)
	}
	ts.wantState(begun, mapdata.PairingDenied)
}

func TestPairingExpires(t *testing.T) {
	ts := newTestService(t)
	ada := ts.signIn("ada@example.org").Account.ID
	late, approved := ts.beginPairing(), ts.beginPairing()
	if _, err := ts.AnswerPairing(t.Context(), approved.Code, &mapdata.Session{Account: ada}, true); err != nil {
		t.Fatal(err)
	}
	ts.now = ts.now.Add(10*time.Minute - time.Millisecond)
	ts.wantState(late, mapdata.PairingWaiting)
	if _, err := ts.FindPairing(t.Context(), late.Code); err != nil {
		t.Errorf("a millisecond before its end: %v", err)
	}
	ts.now = ts.now.Add(time.Millisecond)
	ts.wantState(late, mapdata.PairingOver)
	ts.wantState(approved, mapdata.PairingOver)
	_, err := ts.AnswerPairing(t.Context(), late.Code, &mapdata.Session{Account: ada}, true)
	wantErr(t, err, mapdata.ErrNotFound)
}

// TestPairingTries checks that five codes with the right first half and a wrong second half end a pairing.
func TestPairingTries(t *testing.T) {
	ts := newTestService(t)
	ada := ts.signIn("ada@example.org").Account.ID
	begun, other := ts.beginPairing(), ts.beginPairing()
	try := 0
	wrong := func() {
		t.Helper()
		const letters = "BCDFGHJKLMNPQRSTVWXZ"
		if letters[try] == begun.Code[7] {
			try++
		}
		code, ok := account.ParseUserCode(string(begun.Code[:7]) + string(letters[try]))
		if !ok {
			t.Fatal("no code")
		}
		try++
		_, err := ts.FindPairing(t.Context(), code)
		wantErr(t, err, mapdata.ErrNotFound)
	}
	for range 4 {
		wrong()
	}
	if _, err := ts.FindPairing(t.Context(), begun.Code); err != nil {
		t.Fatalf("after four: %v", err)
	}
	wrong()
	_, err := ts.AnswerPairing(t.Context(), begun.Code, &mapdata.Session{Account: ada}, true)
	wantErr(t, err, mapdata.ErrNotFound)
	ts.wantState(begun, mapdata.PairingOver)
	ts.wantState(other, mapdata.PairingWaiting)
}

func TestPairingDrawsAnotherCode(t *testing.T) {
	ts := newTestService(t)
	ts.store.conflicts = 2
	ts.beginPairing()
	ts.store.conflicts = 1000
	_, err := ts.BeginPairing(t.Context(), "")
	wantErr(t, err, mapdata.ErrUnavailable)
}

func TestPairingSignsInOnce(t *testing.T) {
	ts := newTestService(t)
	ada := ts.signIn("ada@example.org").Account.ID
	begun := ts.beginPairing()
	if _, err := ts.AnswerPairing(t.Context(), begun.Code, &mapdata.Session{Account: ada}, true); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var sessions atomic.Int32
	for range 20 {
		all.Go(func() {
			in, _, err := ts.PollPairing(t.Context(), begun.Secret, account.Browser{})
			if err != nil {
				t.Error(err)
			}
			if in != nil {
				sessions.Add(1)
			}
		})
	}
	all.Wait()
	if sessions.Load() != 1 {
		t.Errorf("%d sessions", sessions.Load())
	}
}

func TestPollWithInvalidSecret(t *testing.T) {
	ts := newTestService(t)
	ts.wantState(&account.PairingBegun{Secret: ""}, mapdata.PairingOver)
	ts.wantState(&account.PairingBegun{Secret: strings.Repeat("A", 43)}, mapdata.PairingOver)
}

func TestPairingStoreFailure(t *testing.T) {
	ts := newTestService(t)
	begun := ts.beginPairing()
	ts.store.fail = mapdata.ErrUnavailable
	_, err := ts.BeginPairing(t.Context(), "")
	wantErr(t, err, mapdata.ErrUnavailable)
	_, err = ts.AnswerPairing(t.Context(), begun.Code, &mapdata.Session{Account: mapdata.AccountID{1}}, true)
	wantErr(t, err, mapdata.ErrUnavailable)
}

func TestParseUserCode(t *testing.T) {
	for text, want := range map[string]account.UserCode{
		"BCDFGHJK": "BCDFGHJK", "bcdf-ghjk": "BCDFGHJK", " b c d f g h j k ": "BCDFGHJK", "BCDF\u2011GHJK": "BCDFGHJK",
		"BCDF – GHJK": "BCDFGHJK", "bcdf\u00a0ghjk": "BCDFGHJK",
		"": "", "BCDFGHJ": "", "BCDFGHJKL": "", "ACDFGHJK": "", "BCDFGHJY": "", "BCDFGHJ0": "", "BCDF_GHJK": "", "BCDFGHJſ": "",
		"BCDFGHJ\xff": "", "<script>": "", "BCDFGHJ\x00": "",
		"BCDFGHJK" + strings.Repeat(" ", 1000): "",
	} {
		got, ok := account.ParseUserCode(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("ParseUserCode(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
}

func FuzzParseUserCode(f *testing.F) {
	f.Add("bcdf-ghjk")
	f.Add("BCDF\xff")
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := account.ParseUserCode(text)
		if !ok {
			return
		}
		again, ok := account.ParseUserCode(code.Shown())
		if !ok || again != code || len(code) != 8 {
			t.Errorf("%q gives %q, which gives %q", text, code, again)
		}
	})
}

func TestDeviceWords(t *testing.T) {
	const webkit = "AppleWebKit/537.36 (KHTML, like Gecko) "
	got := map[string]string{}
	want := map[string]string{
		"Mozilla/5.0 (X11; GNU/Linux) " + webkit + "Chromium/79.0.3945.130 Chrome/79.0.3945.130 Safari/537.36 Tesla/2020.16.2.1-e99c70fff409": "Chromium 79 on a Tesla",
		"Mozilla/5.0 (X11; Linux x86_64) " + webkit + "Chrome/142.0.0.0 Safari/537.36":                                                        "Chrome 142 on Linux",
		"Mozilla/5.0 (Linux; Android 14) " + webkit + "Chrome/142.0.0.0 Mobile Safari/537.36":                                                 "Chrome 142 on Android",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + webkit + "Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":                                "Edge 142 on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile Safari/604.1":    "Safari 18 on an iPhone",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0":                                                "Firefox 140 on a Mac",
		"Something/1 (Linux)":     "Linux",
		"Firefox/1":               "Firefox 1",
		"":                        "Unknown device",
		"<b>Approve</b> at once!": "Unknown device",
		"Chrome/99999999999":      "Unknown device",
	}
	for agent := range want {
		got[agent] = account.DeviceWords(agent)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeviceWordsAreSafe checks that no User-Agent can inject text into the description.
func TestDeviceWordsAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"Chrome/", "Firefox/1", "Tesla", "Android", " "}))).Draw(t, "parts")
		words := account.DeviceWords(strings.Join(parts, ""))
		if len(words) > 60 || words == "" || strings.ContainsFunc(words, func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune("<>&\"'", r) || r < ' ' }) {
			t.Errorf("%q", words)
		}
	})
}

func TestCheckPreferences(t *testing.T) {
	text := func(s string) *string { return &s }
	num := func(f float64) *float64 { return &f }
	feed := "feed:01890a5d-ac96-774b-bcce-b302099a8057"
	yes := true
	tests := []struct {
		name string
		p    mapdata.Preferences
		want []string
	}{
		{"nothing", mapdata.Preferences{}, nil},
		{"all", mapdata.Preferences{
			Units: text("imperial"), Theme: text("auto"), Language: text("nl"), Density: num(0), Tones: &yes, Lead: num(2),
			SourcesOff: []string{"incidents", feed}, KindsOff: []string{"camera.speed"}, Networks: []string{"tesla"},
		}, nil},
		{"a lead that is too long", mapdata.Preferences{Lead: num(2.01)}, []string{"lead out_of_range"}},
		{"all wrong", mapdata.Preferences{
			Units: text("Metric"), Theme: text(""), Language: text("EN"), Density: num(10.5), Lead: num(0.49),
			SourcesOff: []string{"feed:1"}, KindsOff: []string{"camera"}, Networks: []string{""},
		}, []string{
			"units invalid_units", "theme invalid_theme", "language invalid_language", "density out_of_range", "lead out_of_range",
			"sources_off invalid_sources_off", "kinds_off invalid_kinds_off", "networks invalid_networks",
		}},
		{"too many", mapdata.Preferences{
			SourcesOff: make([]string, 201), KindsOff: make([]string, mapdata.KindCount+1), Networks: make([]string, 51),
		}, []string{"sources_off too_many", "kinds_off too_many", "networks too_many"}},
		{"repeated", mapdata.Preferences{SourcesOff: []string{feed, "incidents", feed}}, []string{"sources_off repeated"}},
		{"a network of two", mapdata.Preferences{Networks: []string{"a,b"}}, []string{"networks invalid_networks"}},
		{"a network that breaks lines", mapdata.Preferences{Networks: []string{"a\nb"}}, []string{"networks invalid_networks"}},
		{"a long network", mapdata.Preferences{Networks: []string{strings.Repeat("a", 65)}}, []string{"networks invalid_networks"}},
		{"empty lists", mapdata.Preferences{SourcesOff: []string{}, KindsOff: []string{}, Networks: []string{}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			var invalid *mapdata.InvalidError
			if err := account.CheckPreferences(&tt.p); errors.As(err, &invalid) {
				for _, f := range invalid.Fields {
					got = append(got, f.Field+" "+f.Code)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetPreferences(t *testing.T) {
	ts := newTestService(t)
	ada, dark, wrong := ts.signIn("ada@example.org").Account.ID, "night", "dark"
	err := ts.SetPreferences(t.Context(), ada, &mapdata.Preferences{Theme: &wrong})
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) || ts.store.preferences != nil {
		t.Errorf("a wrong choice is stored: %v", err)
	}
	if err := ts.SetPreferences(t.Context(), ada, &mapdata.Preferences{Theme: &dark}); err != nil {
		t.Fatal(err)
	}
	got, err := ts.Preferences(t.Context(), ada)
	if err != nil || *got.Theme != dark {
		t.Errorf("kept %+v, %v", got, err)
	}
}
