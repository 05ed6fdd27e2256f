package httpapi

import "net/http"

// overlayConfig is what the page for cars must know of this service before its first read.
type overlayConfig struct {
	Version        string          `json:"version"`
	BaseMap        *overlayBaseMap `json:"base_map"` // null: there is none
	PrimaryNetwork string          `json:"primary_network"`
}

type overlayBaseMap struct {
	StyleURL    string `json:"style_url"`
	Attribution string `json:"attribution"`
}

// getOverlay answers GET / with the page for cars; a service without it redirects to the page about the service.
func (a *api) getOverlay(w http.ResponseWriter, r *http.Request, _ *caller) error {
	if a.Overlay == nil {
		http.Redirect(w, r, "/about", http.StatusSeeOther)
		return nil
	}
	return a.overlay.ServePage(w, r)
}

// getOverlayConfig answers GET /v2/overlay/config.
func (a *api) getOverlayConfig(w http.ResponseWriter, r *http.Request, _ *caller) error {
	config := overlayConfig{Version: a.Version, PrimaryNetwork: a.PrimaryNetwork}
	if a.BaseMap != nil {
		config.BaseMap = &overlayBaseMap{StyleURL: a.BaseMap.StyleURL, Attribution: a.BaseMap.Attribution}
	}
	w.Header().Set("Cache-Control", cacheListing)
	return writeJSON(w, r, http.StatusOK, config)
}
