package pages

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"sync"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
)

// libraryPath is the map library as the console's scripts import it. It is the overlay's own file, so that browsers cache
// it once for both; the overlay's version is put into the path.
const libraryPath = overlayFolder + "/map-library.js"

// Scripts are the scripts of the console's pages, with the files that they load. They are read on the first request.
type Scripts struct {
	files func() (*scriptFiles, error)
}

// scriptFiles are the files in memory.
type scriptFiles struct {
	version string // changes with any byte of any file, and with the library; safe in paths
	files   map[string]*response.File
}

// NewScripts returns the scripts whose files were built in web/console; with a nil file system there are none.
func NewScripts(built fs.FS, overlay *Overlay) *Scripts {
	return &Scripts{files: sync.OnceValues(func() (*scriptFiles, error) { return readScripts(built, overlay) })}
}

func readScripts(built fs.FS, overlay *Overlay) (*scriptFiles, error) {
	all := &scriptFiles{files: make(map[string]*response.File)}
	if built == nil {
		return all, nil
	}
	library, err := overlay.files()
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(built, ".")
	if err != nil {
		return nil, fmt.Errorf("read the scripts of the pages: %w", err)
	}
	content := xxhash.New()
	for _, e := range entries {
		body, err := fs.ReadFile(built, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the scripts of the pages: %w", err)
		}
		if path.Ext(e.Name()) == ".js" {
			versioned := path.Join(overlayFolder, library.version, path.Base(libraryPath))
			body = bytes.ReplaceAll(body, []byte(libraryPath), []byte(versioned))
		}
		_, _ = content.WriteString(e.Name()) // writing to a hash cannot fail
		_, _ = content.Write(body)
		all.files[e.Name()] = response.NewFile(body, contentType(e.Name()))
	}
	all.version = strconv.FormatUint(content.Sum64(), 36)
	return all, nil
}

// ServeFile answers with a file, from the path values version and file. A page of another release gets the current file too, with a
// header that forbids caching it.
func (s *Scripts) ServeFile(w http.ResponseWriter, r *http.Request) error {
	all, err := s.files()
	if err != nil {
		return err
	}
	file := all.files[r.PathValue("file")]
	if file == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "The pages have no such file.")
	}
	w.Header().Set("Cache-Control", cacheOf(r, all.version))
	file.Serve(w, r)
	return nil
}

// Path returns the path from which a page loads a script; empty: it was not built.
func (s *Scripts) Path(name string) (string, error) {
	all, err := s.files()
	if err != nil || all.files[name] == nil {
		return "", err
	}
	return path.Join("/console", all.version, name), nil
}
