package region

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"wayside/internal/mapdata"
	"wayside/internal/roads/osmpbf"
)

// Sections of the rows that the built-in sources of a region are made of (D15.24).
const (
	camerasSection  = "cameras"
	chargersSection = "chargers"
)

// Rows are the rows of a built-in source: a JSON array of v1 rows, one a line, ordered by type and id of their objects.
type Rows struct{ json []byte }

// JSON is the array. It lies in the mapped file: keep the Region for as long as it is read.
func (r *Rows) JSON() []byte { return r.json }

// newRows finds the rows of a section; nil: the region has none.
func newRows(m *mapping, section string) *Rows {
	if m.table.find(section) == nil {
		return nil
	}
	return &Rows{m.section(section)}
}

// row is a v1 row.
type row struct {
	ExternalID string         `json:"external_id"`
	Kind       string         `json:"kind"`
	Lat        float64        `json:"lat"`
	Lng        float64        `json:"lng"`
	Properties map[string]any `json:"properties"`
}

// encodeRows writes rows as a section.
func encodeRows(rows []row) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('[')
	for i := range rows {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		text, err := json.Marshal(&rows[i])
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	out.WriteString("\n]\n")
	return out.Bytes(), nil
}

// makeCameras finds the cameras of the extracts.
func makeCameras(ctx context.Context, s *source) ([]content, error) {
	rows, err := s.nodesWith(ctx, "highway", "speed_camera", mapdata.SpeedCamera)
	if err != nil {
		return nil, err
	}
	s.about.Cameras = int64(len(rows))
	text, err := encodeRows(rows)
	return []content{{section: camerasSection, data: text}}, err
}

// makeChargers finds the charging stations of the extracts.
func makeChargers(ctx context.Context, s *source) ([]content, error) {
	rows, err := s.nodesWith(ctx, "amenity", "charging_station", mapdata.SlowCharger)
	if err != nil {
		return nil, err
	}
	s.about.Chargers = int64(len(rows))
	text, err := encodeRows(rows)
	return []content{{section: chargersSection, data: text}}, err
}

// nodesWith makes a row of each node with a tag.
func (s *source) nodesWith(ctx context.Context, key, value string, kind mapdata.Kind) ([]row, error) {
	var rows []row
	known := map[int64]bool{}
	for _, f := range s.files {
		err := f.Scan(ctx, osmpbf.Options{Want: osmpbf.Nodes}, func(b *osmpbf.Block) error {
			for i := range b.Nodes {
				n := &b.Nodes[i]
				if has, _ := n.Tags.Get(key); has != value || known[n.ID] || !n.Point().Valid() {
					continue
				}
				known[n.ID] = true
				rows = append(rows, row{"node/" + strconv.FormatInt(n.ID, 10), kind.ID(), n.Point().Lat, n.Point().Lng, map[string]any{}})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}
