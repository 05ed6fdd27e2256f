package httpapitest

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/safehttp"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/people/apps"
)

// newApps returns the use case of apps over the test's store. Pages of apps answer with d.page; the file of proofs at their origin
// has those of all accounts, unless d.unproven is set.
func newApps(t *testing.T, d *Service, base string, log *slog.Logger) *apps.Service {
	t.Helper()
	own, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	d.Page = apps.Page{Status: http.StatusOK}
	var service *apps.Service
	service = apps.New(apps.Config{
		Store: d.DB, Now: d.Time, Log: log, MailQueued: d.signals.MailQueued,
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
				return apps.NewPage(d.Page), nil
			}
			return d.proofs(ctx, service, address)
		},
		ProofKey: []byte("key of proofs"), AppsChanged: d.signals.AppsChanged,
		Seal: d.Box.SealConfig, Open: d.Box.OpenConfig,
	})
	return service
}

// proofs returns the file with the proofs of all developers of an origin.
func (d *Service) proofs(ctx context.Context, service *apps.Service, address string) (*apps.Page, error) {
	if d.Unproven {
		return &apps.Page{Status: http.StatusNotFound}, nil
	}
	accounts, err := d.DB.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	var file strings.Builder
	for i := range accounts {
		file.WriteString(service.ProofOf(accounts[i].ID, address).Code + "\r\n")
	}
	return apps.NewPage(apps.Page{Status: http.StatusOK, Body: []byte(file.String())}), nil
}

// WithApps enables apps in a service that only describes them.
func WithApps(d *public.Deps) { d.Apps = apps.New(apps.Config{}) }

// Submission returns a submission that is valid except for the given members.
func Submission(t *testing.T, change map[string]any) string {
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

// SubmitApp submits an app and returns its id.
func (b *Browser) SubmitApp(change map[string]any) string {
	b.T.Helper()
	var made struct {
		App struct{ ID string }
	}
	b.Send(http.MethodPost, "/v2/apps", Submission(b.T, change)).Want(b.T, http.StatusCreated).Decode(b.T, &made)
	return made.App.ID
}
