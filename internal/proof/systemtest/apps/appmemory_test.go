package apps

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
	"wayside/internal/store/sqlite"
)

// How many versions may wait for curators in all and of one account, and how much memory all of them may cost a node.
const (
	waitingApps        = 500
	waitingAppsOfOwner = 10
	waitingAppsMemory  = 48 << 20 // reads of the catalogue and garbage; with the waiting versions it would be above 100
	servedApps         = 100
)

// TestWaitingAppsCostLittleMemory fills the queue of apps with icons of 64 KiB from many accounts, and checks that a node keeps
// none of them in memory while more are submitted, and refuses versions beyond the bounds of all accounts and of one.
func TestWaitingAppsCostLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc")
	}
	t.Parallel()
	origin := appPage(t, nil)
	s := systemtest.StartService(t, systemtest.Unlimited+"[apps]\nenabled = true\ndev_origins = [\""+origin+"\"]\n")
	developer := s.SignIn("dev@example.org")
	submit := func() (int, string) {
		resp, body := developer.Do(http.MethodPost, "/v2/apps", submissionOf(origin))
		return resp.StatusCode, string(body)
	}
	if status, body := submit(); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	before := s.Memory(t, "VmHWM")
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	fillApps(s, servedApps, mapdata.AppApproved, 4<<10)
	fillApps(s, waitingApps-waitingAppsOfOwner, mapdata.AppPending, 64<<10)
	s.Start(nil)
	readCatalogue(s, 500)
	for i := range waitingAppsOfOwner - 1 {
		if status, body := submit(); status != http.StatusCreated {
			t.Fatalf("submission %d: %d %s", i+2, status, body)
		}
	}
	if status, body := submit(); status != http.StatusConflict || !strings.Contains(body, "wait") {
		t.Errorf("one more of this account: %d %s", status, body)
	}
	developer = s.SignIn("other@example.org")
	if status, body := submit(); status != http.StatusServiceUnavailable || !strings.Contains(body, "curators") {
		t.Errorf("one more of all accounts: %d %s", status, body)
	}
	grown := s.Memory(t, "VmHWM") - before
	t.Logf("%d apps are served, %d wait: %d KiB more than with one", servedApps, waitingApps, grown>>10)
	if grown > waitingAppsMemory {
		t.Errorf("%d MiB more than with one app that waits", grown>>20)
	}
}

// readCatalogue reads the catalogue of apps, whole and by its tag in turns, and logs how long that took.
func readCatalogue(s *systemtest.Service, times int) {
	s.T.Helper()
	guest := &systemtest.Client{Service: s}
	var tag string
	took := map[int][]time.Duration{}
	for range times {
		for _, known := range []string{"", tag} {
			req, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.Base+"/v2/apps", http.NoBody)
			if err != nil {
				s.T.Fatal(err)
			}
			if known != "" {
				req.Header.Set("If-None-Match", known)
			}
			began := time.Now()
			resp, err := guest.HTTP.Do(req)
			if err != nil {
				s.T.Fatal(err)
			}
			size, err := io.Copy(io.Discard, resp.Body)
			took[resp.StatusCode] = append(took[resp.StatusCode], time.Since(began))
			if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode == http.StatusOK && size < servedApps*4000 {
				s.T.Fatalf("the catalogue: %s, %d bytes, %v", resp.Status, size, err)
			}
			tag = resp.Header.Get("ETag")
		}
	}
	for status, all := range took {
		slices.Sort(all)
		s.T.Logf("GET /v2/apps of %d apps, %d: p50 %v, p99 %v", servedApps, status, all[len(all)/2], all[len(all)*99/100])
	}
	if len(took[http.StatusNotModified]) < times-1 {
		s.T.Errorf("statuses: %d times 304", len(took[http.StatusNotModified]))
	}
}

// fillApps stores apps in a state, each with an icon, ten of each account.
func fillApps(s *systemtest.Service, apps int, state mapdata.AppState, iconBytes int) {
	s.T.Helper()
	ctx := s.T.Context()
	db, err := sqlite.Open(ctx, filepath.Join(s.Dir, datadir.DatabaseFile), sqlite.Options{})
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			s.T.Error(err)
		}
	}()
	now := time.Now().UTC().Truncate(time.Millisecond)
	var owner mapdata.AccountID
	for i := range apps {
		if i%waitingAppsOfOwner == 0 {
			if owner, err = mapdata.NewAccountID(); err != nil {
				s.T.Fatal(err)
			}
			account := &mapdata.Account{ID: owner, Email: fmt.Sprintf("%s%d@example.org", state, i), CreatedAt: now}
			if err := db.CreateAccount(ctx, account); err != nil {
				s.T.Fatal(err)
			}
		}
		id, err := mapdata.NewAppID()
		if err != nil {
			s.T.Fatal(err)
		}
		icon := &mapdata.AppIcon{Name: fmt.Sprintf("%032x.png", i), Image: make([]byte, iconBytes)}
		if _, err := rand.Read(icon.Image); err != nil {
			s.T.Fatal(err)
		}
		app := &mapdata.App{
			ID: id, Slug: fmt.Sprint(state, "-", i), Owner: owner, CreatedAt: now, UpdatedAt: now, NewIcon: icon,
			Versions: []mapdata.AppVersion{{
				Number: 1, State: state, SubmittedAt: now,
				Fields: mapdata.AppFields{
					Name: fmt.Sprint("App ", i), Summary: "s", Description: strings.Repeat("d", 4000), Icon: icon.Name,
					Kinds: []mapdata.AppKind{mapdata.AppWidget}, WidgetURL: "https://apps.example.org/", Cost: mapdata.AppCost{Model: "free"},
				},
			}},
		}
		if err := db.CreateApp(ctx, app, mapdata.AppLimits{PerOwner: waitingAppsOfOwner, Waiting: apps + 1, WaitingPerOwner: waitingAppsOfOwner}, mapdata.Side{}); err != nil {
			s.T.Fatal(err)
		}
	}
}
