package tileserver

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/roads/basemap/sprite"
)

// iconsURL is where a map finds the icons: it appends the density and the ending of each file before the query.
const iconsURL = "/map/icons/sprite"

// NewIcons returns the files of the icons of points of interest, by their names.
func NewIcons() map[string]*response.File {
	files := make(map[string]*response.File)
	for density, double := range map[string]bool{"": false, "@2x": true} {
		files["sprite"+density+".png"] = response.NewFile(sprite.Picture(double), "image/png")
		files["sprite"+density+".json"] = response.NewFile(sprite.Index(double), "application/json")
	}
	return files
}

// ServeIcon answers with the file of the path value file: the icons of points of interest, or their index.
func (s *Server) ServeIcon(w http.ResponseWriter, r *http.Request) error {
	file := s.Icons[r.PathValue("file")]
	if file == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "Unknown icons: sprite.json, sprite.png, and both with @2x.")
	}
	w.Header().Set("Cache-Control", cacheDocuments)
	file.Serve(w, r)
	return nil
}
