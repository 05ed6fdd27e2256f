// Package web holds the pages that run in browsers, as they were built: `make web` makes dist from the sources beside it.
// dist is committed, so that building the service needs no Node.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist/overlay dist/console
var dist embed.FS

// Overlay is the page that a driver opens in the car: index.html and the files that it loads, all in one folder.
func Overlay() (fs.FS, error) { return fs.Sub(dist, "dist/overlay") }

// Console holds the scripts of the console's pages, one for each page that needs one, and their style sheets.
func Console() (fs.FS, error) { return fs.Sub(dist, "dist/console") }
