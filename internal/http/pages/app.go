package pages

import (
	"embed"
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
)

// app are the files by which browsers, phones and search engines know the service: icons, the manifest of the application
// and robots.txt. The pictures are made of icon.svg by web/build/appicons.mjs.
//
//go:embed app
var app embed.FS

// ServeAppFile answers with an icon of the application, from the path value file.
func ServeAppFile(w http.ResponseWriter, r *http.Request) error {
	return serveApp(w, r, r.PathValue("file"))
}

// ServeApp returns a handler that answers with one file of the application, which browsers request at a fixed address.
func ServeApp(name string) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error { return serveApp(w, r, name) }
}

func serveApp(w http.ResponseWriter, r *http.Request, name string) error {
	body, err := app.ReadFile("app/" + name)
	if err != nil {
		return mapdata.Describe(mapdata.ErrNotFound, "The application has no such file.")
	}
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	response.Write(w, r, http.StatusOK, contentType(name), body)
	return nil
}
