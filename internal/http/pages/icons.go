package pages

import (
	"embed"
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
)

// icons holds the kinds' drawings, one file for each icon name of the list of kinds.
//
//go:embed icons/*.svg
var icons embed.FS

// ServeIcon answers with the drawing of a kind (D2.5).
func ServeIcon(w http.ResponseWriter, r *http.Request, kind mapdata.Kind) error {
	drawing, err := icons.ReadFile("icons/" + kind.Info().Icon + ".svg")
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	response.Write(w, r, http.StatusOK, "image/svg+xml", drawing)
	return nil
}
