package httpapi

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

// libraryPath is what the scripts of the pages for people import: the map library of the page for cars, which browsers so
// keep once. It gets the version under which that page loads it.
const libraryPath = "/overlay/map-library.js"

// consoleFiles are the scripts of the pages for people, and what they load.
type consoleFiles struct {
	version string // changes with any byte of any file, and with the library; safe in paths
	files   map[string]*overlayFile
}

// readConsole reads the scripts; none are built where built is nil.
func readConsole(built fs.FS, overlay func() (*overlayFiles, error)) (*consoleFiles, error) {
	all := &consoleFiles{files: make(map[string]*overlayFile)}
	if built == nil {
		return all, nil
	}
	library, err := overlay()
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(built, ".")
	if err != nil {
		return nil, fmt.Errorf("read the scripts of the pages: %w", err)
	}
	whole := xxhash.New()
	for _, e := range entries {
		body, err := fs.ReadFile(built, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the scripts of the pages: %w", err)
		}
		if path.Ext(e.Name()) == ".js" {
			body = bytes.ReplaceAll(body, []byte(libraryPath), []byte(path.Join("/overlay", library.version, path.Base(libraryPath))))
		}
		_, _ = whole.WriteString(e.Name()) // a hash takes everything
		_, _ = whole.Write(body)
		all.files[e.Name()] = newOverlayFile(body, typeOfFile(e.Name()))
	}
	all.version = strconv.FormatUint(whole.Sum64(), 36)
	return all, nil
}

// getConsoleFile answers GET /console/<version>/<file>, as getOverlayFile does for the page for cars.
func (a *api) getConsoleFile(w http.ResponseWriter, r *http.Request, _ *caller) error {
	all, err := a.scripts()
	if err != nil {
		return err
	}
	file := all.files[r.PathValue("file")]
	if file == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "The pages have no such file.")
	}
	w.Header().Set("Cache-Control", cacheAskAgain)
	if r.PathValue("version") == all.version {
		w.Header().Set("Cache-Control", cacheForever)
	}
	file.write(w, r)
	return nil
}

func (a *api) consoleFileRoutes() []route {
	return []route{{http.MethodGet, "/console/{version}/{file}", visiting, account.ForGuests, a.getConsoleFile}}
}

// Script is where a page finds a script of ours; empty: it was not built.
func (d door) Script(name string) (string, error) {
	all, err := d.api.scripts()
	if err != nil || all.files[name] == nil {
		return "", err
	}
	return path.Join("/console", all.version, name), nil
}
