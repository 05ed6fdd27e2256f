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

// Attribution is what must stand wherever anything of a region is shown that is made of OpenStreetMap's data, and Licence the licence of its data (D15.24).
const (
	Attribution    = "© OpenStreetMap contributors"
	AttributionURL = "https://www.openstreetmap.org/copyright" // what it links to
	Licence        = "ODbL-1.0"
)

// About is what a region says of itself. It is made of the input alone.
type About struct {
	ID           string         `json:"id"`           // digest of the extracts, the car's figures and the format
	DataVersion  string         `json:"data_version"` // digest of what was made of them
	AsOf         time.Time      `json:"data_as_of,omitzero"`
	Bounds       [4]float64     `json:"bounds"` // west, south, east, north in degrees
	Nodes        int64          `json:"nodes"`  // of the extracts, as ways and relations
	Ways         int64          `json:"ways"`
	Relations    int64          `json:"relations"`
	Junctions    int64          `json:"junctions"`
	Arcs         int64          `json:"arcs"`
	Turns        int64          `json:"turns"`
	RoadMetres   int64          `json:"road_metres"` // of arcs, each direction for itself
	Restrictions Restrictions   `json:"restrictions"`
	Islands      int64          `json:"islands"`
	Places       int64          `json:"places"`
	Addresses    int64          `json:"addresses"`
	Cameras      int64          `json:"cameras"`
	Chargers     int64          `json:"chargers"`
	LeftOut      map[string]int `json:"left_out"` // counts by reason
	Inputs       []Input        `json:"inputs"`
	Products     []ProductSize  `json:"products,omitempty"` // what the file holds; none: it is of a version that made roads alone
	Attribution  string         `json:"attribution"`
	Licence      string         `json:"licence"`
}

// Restrictions counts relations that forbid turns.
type Restrictions struct {
	Applied int `json:"applied"`
	Ignored int `json:"ignored"`
}

// Input is an extract that a region was made of. Its name is not kept, because the same input gives the same bytes.
type Input struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ProductSize is how large something that an import made is.
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

// ValidID reports whether a region can have the ID.
func ValidID(id string) bool { return idPattern.MatchString(id) }

// CompareVersions orders data versions by the day of the data, which they begin with where the extract says it: those that do not say come
// first, and the empty one before them.
func CompareVersions(a, b string) int {
	dated := func(version string) int { return strings.Count(version, "-") }
	return cmp.Or(cmp.Compare(dated(a), dated(b)), cmp.Compare(a, b))
}

// parseAbout reads the section. What it says may have been forged: texts that are shown or become names of files are checked.
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
