package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"
)

//go:embed apps
var appFiles embed.FS

// Apps serves the pages of two apps, Trip and Charging, as developers would: at another origin, and under another host name than
// the service's, because two ports of one host name are the same site.
type Apps struct {
	listener net.Listener
	name     string
}

// NewApps opens a loopback port. name is the host name of the pages' origin: localhost if the service is at 127.0.0.1, or the
// reverse.
func NewApps(ctx context.Context, name string) (*Apps, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the port of the demo's apps: %w", err)
	}
	return &Apps{listener: listener, name: name}, nil
}

// Origin returns the origin of the pages.
func (a *Apps) Origin() string {
	return fmt.Sprintf("http://%s:%d", a.name, a.listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // tcp
}

// Run serves the pages until ctx ends. frames is the origin that may show them in a frame.
func (a *Apps) Run(ctx context.Context, frames string) error {
	files, err := fs.Sub(appFiles, "apps")
	if err != nil {
		return errors.Join(err, a.listener.Close())
	}
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " + frames
	pages := http.FileServerFS(files)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		pages.ServeHTTP(w, r)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(a.listener) }()
	<-ctx.Done()
	err = server.Close()
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// App is a submission of one of the apps, with the config that the demo's driver sets.
type App struct {
	Submission map[string]any
	Config     map[string]any
}

// All lists the apps.
func (a *Apps) All() []App {
	return []App{
		{
			Submission: map[string]any{
				"name": "Trip", "summary": "A clock, and a log of your trip.",
				"description": "Start a trip, and tap what happens: a break, a charge, a toll.\nThe log stays in your browser. The app needs no settings, and learns nothing of where you are.",
				"kinds":       []string{"widget"}, "widget_url": a.Origin() + "/trip.html", "website_url": "https://example.org/",
				"cost": map[string]any{"model": "free"},
			},
			Config: map[string]any{},
		},
		{
			Submission: map[string]any{
				"name": "Charging", "summary": "How far a charge has come, beside the map.",
				"description": "Shows level, power and range while you charge.\nThe charge of this demo is made up: any text is a valid access key.",
				"kinds":       []string{"widget", "notifications"}, "widget_url": a.Origin() + "/charging.html", "website_url": "https://example.org/",
				"cost": map[string]any{"model": "subscription", "note": "Part of your charging contract."},
				"config_schema": []map[string]any{
					{"key": "access_key", "label": "Access key", "type": "text", "required": true, "secret": true, "help": "Of your charging contract. In this demo, any text."},
					{"key": "connector", "label": "Connector", "type": "select", "options": []string{"CCS", "Type 2", "CHAdeMO"}, "default": "CCS"},
					{"key": "limit", "label": "Stop at (%)", "type": "number", "min": 50, "max": 100, "step": 5, "default": 80},
				},
			},
			Config: map[string]any{"access_key": "demo-7421", "connector": "CCS", "limit": 80},
		},
	}
}

// Submit submits an app (POST /v2/apps) and returns its id.
func (c *Client) Submit(ctx context.Context, submission map[string]any) (id string, err error) {
	var submitted struct {
		App struct {
			ID string `json:"id"`
		} `json:"app"`
	}
	err = c.post(ctx, "/v2/apps", submission, &submitted)
	return submitted.App.ID, err
}

// Install installs an app with a config (PUT /v2/account/apps/{id}).
func (c *Client) Install(ctx context.Context, id string, config map[string]any) error {
	return c.send(ctx, http.MethodPut, "/v2/account/apps/"+id, map[string]any{"config": config}, nil)
}
