package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
)

// keyTest is a data directory with feeds that have auth headers.
type keyTest struct {
	*testing.T
	options AdminOptions
	feeds   map[mapdata.FeedID]string // their headers
}

func newKeyTest(t *testing.T) *keyTest {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	k := &keyTest{t, AdminOptions{Config: cfg, Log: slog.New(slog.DiscardHandler), Now: time.Now, Make: true}, make(map[mapdata.FeedID]string)}
	admin := k.open()
	defer k.close(admin)
	owner, err := admin.Accounts.Create(t.Context(), "owner@example.org")
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"Authorization: one", "", "X-Key: two"} {
		name, target, interval := "Feed "+header, "https://feeds.example.org/", 300.0
		settings := feed.Settings{Name: &name, PullURL: &target, PullIntervalSeconds: &interval}
		if header != "" {
			settings.PullAuthHeader = &header
		}
		registered, _, err := admin.Feeds.Register(t.Context(), mapdata.ActorOf(owner), &feed.Registration{Direction: "pull", Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		k.feeds[registered.ID] = header
	}
	return k
}

func (k *keyTest) open() *Admin {
	k.Helper()
	admin, err := OpenAdmin(context.Background(), k.options)
	if err != nil {
		k.Fatal(err)
	}
	return admin
}

func (k *keyTest) close(a *Admin) {
	k.Helper()
	if err := a.Close(); err != nil {
		k.Error(err)
	}
}

func (k *keyTest) path(name string) string { return filepath.Join(k.options.Config.DataDir, name) }

func (k *keyTest) key() string {
	k.Helper()
	text, err := os.ReadFile(k.path(datadir.KeyFile))
	if err != nil {
		k.Fatal(err)
	}
	return string(text)
}

// wantHeaders opens every header with the key in the data directory.
func (k *keyTest) wantHeaders(want map[mapdata.FeedID]string) {
	k.Helper()
	admin := k.open()
	defer k.close(admin)
	for id, header := range want {
		f, err := admin.Store.Feed(k.Context(), id)
		if err != nil {
			k.Fatal(err)
		}
		got := ""
		if f.PullAuthSealed != nil {
			plain, err := admin.box.Open(f.PullAuthSealed, id)
			if err != nil {
				k.Fatalf("%q cannot be opened: %v", header, err)
			}
			got = string(plain)
		}
		if got != header {
			k.Errorf("header %q, want %q", got, header)
		}
	}
}

func (k *keyTest) rotate(lost bool) (Rotated, error) {
	return RotateKey(mapdata.WithVia(k.Context(), mapdata.ViaCommandLine), k.options, lost)
}

// TestRotateKeySealsConfigsOfApps checks that drivers' configs of apps are opened with the new key, and are dropped if the old key
// is lost.
func TestRotateKeySealsConfigsOfApps(t *testing.T) {
	k := newKeyTest(t)
	admin := k.open()
	owner, err := admin.Accounts.Create(t.Context(), "driver@example.org")
	if err != nil {
		t.Fatal(err)
	}
	id, err := mapdata.NewAppID()
	if err != nil {
		t.Fatal(err)
	}
	app := &mapdata.App{ID: id, Slug: "trip", Owner: owner.ID, CreatedAt: time.Now(), UpdatedAt: time.Now()}
	if err := admin.Store.CreateApp(t.Context(), app, mapdata.AppLimits{PerOwner: 1, Waiting: 1, WaitingPerOwner: 1}, mapdata.Side{}); err != nil {
		t.Fatal(err)
	}
	_, err = admin.Store.EditInstall(t.Context(), owner.ID, id, 1, func(i *mapdata.AppInstall, _ bool) error {
		i.Config, i.InstalledAt = admin.box.SealConfig([]byte("s3cret"), owner.ID, id), time.Now()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	k.close(admin)
	if done, err := k.rotate(false); err != nil || done != (Rotated{Resealed: 3}) {
		t.Fatalf("%+v, %v", done, err)
	}
	admin = k.open()
	i, err := admin.Store.Install(t.Context(), owner.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := admin.box.OpenConfig(i.Config, owner.ID, id); err != nil || string(plain) != "s3cret" {
		t.Errorf("the config is %q, %v", plain, err)
	}
	if _, err := admin.box.OpenConfig(i.Config, owner.ID, mapdata.AppID{1}); err == nil {
		t.Error("the config opens for another app")
	}
	k.close(admin)
	if err := os.WriteFile(k.path(datadir.KeyFile), []byte(strings.Repeat("0", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	if done, err := k.rotate(true); err != nil || done.Removed != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	admin = k.open()
	defer k.close(admin)
	if all, err := admin.Store.Installs(t.Context(), owner.ID); err != nil || len(all) > 0 {
		t.Errorf("what no key opens is still there: %v, %v", all, err)
	}
}

func TestRotateKey(t *testing.T) {
	k := newKeyTest(t)
	before := k.key()
	done, err := k.rotate(false)
	if err != nil || done != (Rotated{Resealed: 2}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if k.key() == before {
		t.Error("the key is the same")
	}
	k.wantHeaders(k.feeds)
	admin := k.open()
	defer k.close(admin)
	entries, err := admin.Store.Audit(t.Context(), &mapdata.AuditQuery{Actions: []string{mapdata.AuditKeyRotate}, Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Via != mapdata.ViaCommandLine {
		t.Errorf("audit log: %+v, %v", entries, err)
	}
}

// TestRotateKeyKeepsPlaces checks that saved places are sealed with the new key, and dropped with a lost key, as headers are.
func TestRotateKeyKeepsPlaces(t *testing.T) {
	k := newKeyTest(t)
	use := func(what func(a *Admin, id mapdata.AccountID)) {
		t.Helper()
		admin := k.open()
		defer k.close(admin)
		owner, err := admin.Store.AccountByEmail(t.Context(), "owner@example.org")
		if err != nil {
			t.Fatal(err)
		}
		what(admin, owner.ID)
	}
	want := &account.SavedPlaces{Home: &account.Destination{Lat: 52, Lng: 5, Name: "Home"}, Recent: []account.Destination{}}
	wantPlaces := func(want *account.SavedPlaces) {
		t.Helper()
		use(func(a *Admin, id mapdata.AccountID) {
			if got, err := a.Accounts.SavedPlaces(t.Context(), id); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("the places are %+v, %v", got, err)
			}
		})
	}
	use(func(a *Admin, id mapdata.AccountID) {
		if err := a.Accounts.SetSavedPlaces(t.Context(), id, want); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := k.rotate(false); err != nil {
		t.Fatal(err)
	}
	wantPlaces(want)
	if err := os.Remove(k.path(datadir.KeyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := k.rotate(true); err != nil {
		t.Fatal(err)
	}
	wantPlaces(nil)
}

// TestRotateKeyInterrupted stops a rotation at each of its steps, and checks that nothing starts with a key that does not fit, and
// that another call completes the rotation.
func TestRotateKeyInterrupted(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		k := newKeyTest(t)
		before := k.key()
		_, next, _, err := datadir.BeginRotation(k.options.Config.DataDir) // and then the power fails
		if err != nil {
			t.Fatal(err)
		}
		if sealed { // or it fails after the transaction
			if _, err := k.rotate(false); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Rename(k.path(datadir.KeyFile), k.path(datadir.NextKeyFile)), os.WriteFile(k.path(datadir.KeyFile), []byte(before), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := OpenAdmin(t.Context(), k.options); err == nil || !strings.Contains(err.Error(), "run wayside key rotate once more") {
			t.Errorf("sealed %v: opened during a rotation: %v", sealed, err)
		}
		if done, err := k.rotate(false); err != nil || done.Resealed != 2 {
			t.Errorf("sealed %v: %+v, %v", sealed, done, err)
		}
		if got, err := datadir.SecretKey(k.options.Config.DataDir); err != nil || string(got) != string(next) {
			t.Errorf("sealed %v: the key is not the one that was made: %v", sealed, err)
		}
		k.wantHeaders(k.feeds)
	}
}

// TestMissingAndWrongKeys checks that no new key is made while headers are sealed, that a wrong key is refused, and that a lost one
// can be replaced.
func TestMissingAndWrongKeys(t *testing.T) {
	k := newKeyTest(t)
	k.wantHeaders(k.feeds)
	right := k.key()
	if err := os.Remove(k.path(datadir.KeyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAdmin(t.Context(), k.options); err == nil || !strings.Contains(err.Error(), "secret.key is missing in ") {
		t.Errorf("without a key: %v", err)
	}
	if datadir.HasKey(k.options.Config.DataDir) {
		t.Error("a key was made that opens nothing")
	}
	if err := os.WriteFile(k.path(datadir.KeyFile), []byte(strings.Repeat("0", 2*datadir.KeyBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAdmin(t.Context(), k.options); err == nil || !strings.Contains(err.Error(), "is not the key that") {
		t.Errorf("with another key: %v", err)
	}
	if _, err := k.rotate(false); err == nil || !strings.Contains(err.Error(), "--lost") {
		t.Errorf("rotated with another key: %v", err)
	}
	if err := os.WriteFile(k.path(datadir.KeyFile), []byte(right), 0o600); err != nil {
		t.Fatal(err)
	}
	k.wantHeaders(k.feeds) // a refused rotation has changed nothing
	if err := os.Remove(k.path(datadir.KeyFile)); err != nil {
		t.Fatal(err)
	}
	if done, err := k.rotate(true); err != nil || done != (Rotated{Removed: 2}) {
		t.Errorf("with a lost key: %+v, %v", done, err)
	}
	for id := range k.feeds {
		k.feeds[id] = ""
	}
	k.wantHeaders(k.feeds)
}

// TestRotateKeyOfARunningService checks that RotateKey refuses a data directory in use, because the service would go on sealing
// with the old key.
func TestRotateKeyOfARunningService(t *testing.T) {
	k := newKeyTest(t)
	release, err := datadir.Lock(k.options.Config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := k.rotate(false); err == nil || !strings.Contains(err.Error(), "in use by another wayside serve") {
		t.Errorf("rotated: %v", err)
	}
}
