package httpapi

import (
	"math"
	"net/http"

	"wayside/internal/ground/geo"
	"wayside/internal/http/pages"
)

// overlayConfig is what the page for cars must know about this service before its first read.
type overlayConfig struct {
	Version        string          `json:"version"`
	BaseMap        *overlayBaseMap `json:"base_map"` // null: there is none
	PrimaryNetwork string          `json:"primary_network"`
	Demo           bool            `json:"demo"`   // there is a drive at /demo/drive.json
	Extent         *overlayExtent  `json:"extent"` // null: there is nothing to show
}

// overlayExtent is the smallest box around the entities that guests may read, in degrees. It lies over the antimeridian if its west
// is east of its east.
type overlayExtent struct {
	West  float64 `json:"west"`
	South float64 `json:"south"`
	East  float64 `json:"east"`
	North float64 `json:"north"`
}

type overlayBaseMap struct {
	StyleURL    string `json:"style_url"`
	Attribution string `json:"attribution"`
}

// getOverlay answers GET / with the page for cars; a service without it redirects to the page about the service.
func (a *API) getOverlay(w http.ResponseWriter, r *http.Request, c *Caller) error {
	if a.Overlay == nil {
		http.Redirect(w, r, "/about", http.StatusSeeOther)
		return nil
	}
	return a.overlay.ServePage(w, r, a.appsOfDriver(r, c))
}

// appsOfDriver describes the driver and the apps for the page; nil: there are no apps here, and the driver is a guest. Only a
// browser with a session costs a query of the store. If that fails, the page opens as for a guest.
func (a *API) appsOfDriver(r *http.Request, c *Caller) *pages.AppsOfDriver {
	shown := &pages.AppsOfDriver{None: a.Apps == nil}
	err := a.Identify(r, c, false)
	if err == nil && c.Session != nil {
		shown.SignedIn = true
		if a.Apps != nil {
			shown.Origins, err = a.Apps.Origins(r.Context(), c.ID())
		}
	}
	if err != nil {
		a.Log.Warn("the page for cars is served without apps: the store does not answer", "error", err)
	}
	if shown.None && !shown.SignedIn {
		return nil
	}
	return shown
}

// extentOf rounds a box outwards, to about ten metres.
func extentOf(b geo.Box) *overlayExtent {
	const steps = 1e4 // in a degree
	if b.East > 180 {
		b.East -= 360
	}
	return &overlayExtent{
		West: max(-180, math.Floor(b.West*steps)/steps), South: max(-90, math.Floor(b.South*steps)/steps),
		East: min(180, math.Ceil(b.East*steps)/steps), North: min(90, math.Ceil(b.North*steps)/steps),
	}
}

// getOverlayConfig answers GET /v2/overlay/config.
func (a *API) getOverlayConfig(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	config := overlayConfig{Version: a.Version, PrimaryNetwork: a.PrimaryNetwork, Demo: a.Demo != nil}
	if m := a.BaseMap(); m != nil {
		config.BaseMap = &overlayBaseMap{StyleURL: m.StyleURL, Attribution: m.Attribution}
	}
	w.Header().Set("Cache-Control", CacheListing)
	if a.Demo != nil && a.Demo.Extent != nil {
		config.Extent = extentOf(*a.Demo.Extent)
	} else if box, found := a.Nearby.Extent(); found {
		config.Extent = extentOf(box)
	} else {
		w.Header().Set("Cache-Control", "no-cache") // the first data may arrive at any moment
	}
	return WriteJSON(w, r, http.StatusOK, config)
}
