package imports

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Extract is a file that can be imported.
type Extract struct {
	Name     string
	Bytes    int64
	Modified time.Time
}

const (
	extractSuffix = ".pbf"
	maxExtracts   = 200 // that are listed
	maxName       = 255 // bytes
)

// errNoExtract is returned for a name that is not that of a file in the folder.
var errNoExtract = errors.New("there is no such extract")

// ListExtracts lists the extracts in the folder itself. It leaves out links, because they may lead outside it.
func (s *Service) ListExtracts() ([]Extract, error) {
	entries, err := os.ReadDir(s.Extracts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Extract
	for _, entry := range entries {
		if len(all) == maxExtracts {
			break
		}
		if one, err := s.extract(entry.Name()); err == nil {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Extract) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// extract finds a file of the folder by its name.
func (s *Service) extract(name string) (Extract, error) {
	if !isExtractName(name) {
		return Extract{}, errNoExtract
	}
	info, err := os.Lstat(filepath.Join(s.Extracts, name))
	if err != nil || !info.Mode().IsRegular() {
		return Extract{}, errNoExtract
	}
	return Extract{name, info.Size(), info.ModTime()}, nil
}

// isExtractName reports whether a text is the name of a file in a folder, and not a path or a flag.
func isExtractName(name string) bool {
	return len(name) <= maxName && strings.HasSuffix(name, extractSuffix) && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '/' || r == '\\' || r == 0x7f }) && filepath.Base(name) == name
}
