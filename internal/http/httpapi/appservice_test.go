package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/apps"
)

// newApps returns the use case of apps over the test's store. Pages of apps answer with d.page; the file of proofs at their origin
// has those of all accounts, unless d.unproven is set.
func newApps(t *testing.T, d *testService, base string, log *slog.Logger) *apps.Service {
	t.Helper()
	own, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	d.page = apps.Page{Status: http.StatusOK}
	var service *apps.Service
	service = apps.New(apps.Config{
		Store: d.db, Now: d.time, Log: log, MailQueued: d.signals.MailQueued,
		Rules: apps.Rules{
			BaseURL: own, DevOrigins: []string{"http://localhost:9000"}, CheckHost: safehttp.CheckHost,
			CheckURL: func(text string) (string, error) {
				u, err := safehttp.CheckURL(text)
				if err != nil {
					return "", err
				}
				return u.String(), nil
			},
		},
		Look: func(ctx context.Context, address string) (*apps.Page, error) {
			if !strings.HasSuffix(address, "/.well-known/wayside-app.txt") {
				return apps.NewPage(d.page), nil
			}
			return d.proofs(ctx, service, address)
		},
		ProofKey: []byte("key of proofs"), AppsChanged: d.signals.AppsChanged,
		Seal: d.box.SealConfig, Open: d.box.OpenConfig,
	})
	return service
}

// proofs returns the file with the proofs of all developers of an origin.
func (d *testService) proofs(ctx context.Context, service *apps.Service, address string) (*apps.Page, error) {
	if d.unproven {
		return &apps.Page{Status: http.StatusNotFound}, nil
	}
	accounts, err := d.db.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	var file strings.Builder
	for i := range accounts {
		file.WriteString(service.ProofOf(accounts[i].ID, address).Code + "\r\n")
	}
	return apps.NewPage(apps.Page{Status: http.StatusOK, Body: []byte(file.String())}), nil
}

// withApps enables apps in a service that only describes them.
func withApps(d *httpapi.Deps) { d.Apps = apps.New(apps.Config{}) }

// submission returns a submission that is valid except for the given members.
func submission(t *testing.T, change map[string]any) string {
	t.Helper()
	all := map[string]any{
		"name": "Charging", "summary": "Prices of chargers", "description": "Shows prices.", "kinds": []string{"widget"},
		"widget_url": "https://apps.example.org/charging?x=1", "website_url": "https://example.org/", "domains": []string{"api.example.org"},
		"config_schema": []map[string]any{
			{"key": "token", "label": "Token", "type": "text", "secret": true, "required": true},
			{"key": "plug", "label": "Plug", "type": "select", "options": []string{"ccs", "type2"}, "default": "ccs"},
			{"key": "note", "label": "Note", "type": "text"},
		},
		"cost": map[string]any{"model": "free"},
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// submitApp submits an app and returns its id.
func (b *browser) submitApp(change map[string]any) string {
	b.t.Helper()
	var made struct {
		App struct{ ID string }
	}
	b.send(http.MethodPost, "/v2/apps", submission(b.t, change)).want(b.t, http.StatusCreated).decode(b.t, &made)
	return made.App.ID
}

// appValue returns the value of a path parameter of apps; for a decision, that is a version that waits for one.
func (c *roleTest) appValue(t *testing.T, rt httpapi.RouteLine, part string, s *roleFixture) string {
	t.Helper()
	if part == "{id}" || rt.Method == http.MethodGet {
		return s.app
	}
	var made struct {
		Version struct{ Number json.Number }
	}
	s.owner.send(http.MethodPost, "/v2/apps/"+s.app+"/versions", submission(t, nil)).want(t, http.StatusCreated).decode(t, &made)
	return made.Version.Number.String()
}

// installs makes the browser's account install the app.
func (c *roleTest) installs(t *testing.T, b *browser, app string) {
	t.Helper()
	var who struct {
		Account struct{ Email string }
	}
	b.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK).decode(t, &who)
	id, _ := mapdata.ParseAppID(app)
	_, err := c.apps.Configure(t.Context(), c.account(who.Account.Email).ID, id, apps.Change{Config: []byte(`{"token":"t"}`)})
	if err != nil {
		t.Fatal(err)
	}
}
