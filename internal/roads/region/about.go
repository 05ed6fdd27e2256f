package region

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Attribution must be shown with anything of a region that is made from OpenStreetMap's data, and Licence is the licence
// of a region's data (D15.24).
const (
	Attribution    = "© OpenStreetMap contributors"
	AttributionURL = "https://www.openstreetmap.org/copyright" // the link of the attribution
	Licence        = "ODbL-1.0"
)

// About is the description that a region contains of itself. It depends only on the input.
type About struct {
	ID           string         `json:"id"`           // digest of the extracts, the car's figures and the format
	DataVersion  string         `json:"data_version"` // digest of the result
	AsOf         time.Time      `json:"data_as_of,omitzero"`
	Bounds       [4]float64     `json:"bounds"` // west, south, east, north in degrees
	Nodes        int64          `json:"nodes"`  // of the extracts, like ways and relations
	Ways         int64          `json:"ways"`
	Relations    int64          `json:"relations"`
	Junctions    int64          `json:"junctions"`
	Arcs         int64          `json:"arcs"`
	Turns        int64          `json:"turns"`
	RoadMetres   int64          `json:"road_metres"` // of arcs; each direction counts separately
	Restrictions Restrictions   `json:"restrictions"`
	Islands      int64          `json:"islands"`
	Places       int64          `json:"places"`
	Addresses    int64          `json:"addresses"`
	Cameras      int64          `json:"cameras"`
	Chargers     int64          `json:"chargers"`
	LeftOut      map[string]int `json:"left_out"` // counts by reason
	Inputs       []Input        `json:"inputs"`
	Products     []ProductSize  `json:"products,omitempty"` // contents of the file; none: a version that made only roads wrote it
	Attribution  string         `json:"attribution"`
	Licence      string         `json:"licence"`
}

// Restrictions counts relations that forbid turns.
type Restrictions struct {
	Applied int `json:"applied"`
	Ignored int `json:"ignored"`
}

// Input is an extract from which a region was made. Its name is not kept, so that the same input gives the same bytes.
type Input struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ProductSize is the size of a product of an import.
type ProductSize struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// aboutSection is the section that holds the About as JSON.
const aboutSection = "about"

var (
	idPattern      = regexp.MustCompile(`^[0-9a-f]{16}$`)
	versionPattern = regexp.MustCompile(`^[0-9A-Za-z.-]{1,64}$`)
)

// ValidID reports whether a text has the form of a region's ID.
func ValidID(id string) bool { return idPattern.MatchString(id) }

// CompareVersions orders data versions by the date of the data, with which they begin if the extract states it. Versions
// without a date come first, and the empty version before them.
func CompareVersions(a, b string) int {
	dated := func(version string) int { return strings.Count(version, "-") }
	return cmp.Or(cmp.Compare(dated(a), dated(b)), cmp.Compare(a, b))
}

// parseAbout parses the section. It checks the texts that are shown or become names of files, because the section may be
// forged.
func parseAbout(text []byte) (*About, error) {
	a := new(About)
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(a); err != nil {
		return nil, fmt.Errorf("section %q: %w", aboutSection, err)
	}
	if !ValidID(a.ID) || !versionPattern.MatchString(a.DataVersion) {
		return nil, fmt.Errorf("section %q: id or data_version is not one", aboutSection)
	}
	return a, nil
}
