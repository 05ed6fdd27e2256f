package cli

import (
	"fmt"
	"maps"
	"slices"

	"wayside/internal/roads/region"
)

// importJSON is the output of wayside region import --json (D15.2).
type importJSON struct {
	region.About
	FileBytes int64             `json:"file_bytes"`
	Seconds   float64           `json:"seconds"`
	Steps     []stepJSON        `json:"steps"`
	Sections  []sectionSizeJSON `json:"sections"`
}

// stepJSON is a part of the work of an import.
type stepJSON struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"` // added to the file
}

// sectionSizeJSON is the size of a section of a region file.
type sectionSizeJSON struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

func newImportJSON(done *region.Imported) *importJSON {
	out := &importJSON{About: done.About, FileBytes: done.FileBytes, Seconds: done.Took.Seconds(), Sections: newSectionSizes(done.Sections)}
	for _, s := range done.Steps {
		out.Steps = append(out.Steps, stepJSON{s.Name, s.Took.Seconds(), s.Bytes})
	}
	return out
}

func newSectionSizes(all []region.SectionSize) []sectionSizeJSON {
	out := make([]sectionSizeJSON, len(all))
	for i, s := range all {
		out[i] = sectionSizeJSON(s)
	}
	return out
}

// regionsJSON is the output of wayside region list --json.
type regionsJSON struct {
	Regions []regionJSON `json:"regions"`
}

// regionJSON is one region of the list.
type regionJSON struct {
	ID          string      `json:"id"`
	DataVersion string      `json:"data_version"` // empty: the file cannot be read
	Current     bool        `json:"current"`
	AsOf        apiTime     `json:"data_as_of"`
	ImportedAt  apiTime     `json:"imported_at"`
	FileBytes   int64       `json:"file_bytes"`
	Bounds      *[4]float64 `json:"bounds"`
	RoadMetres  int64       `json:"road_metres"`
	Problem     string      `json:"problem,omitempty"` // why the file cannot be read
}

func newRegionsJSON(all []region.Listed) *regionsJSON {
	out := &regionsJSON{Regions: make([]regionJSON, len(all))}
	for i, r := range all {
		one := regionJSON{ID: r.ID, Current: r.Current, ImportedAt: apiTime{r.Imported}, FileBytes: r.Bytes}
		if r.Err != nil {
			one.Problem = r.Err.Error()
		} else {
			one.DataVersion, one.AsOf, one.Bounds, one.RoadMetres = r.About.DataVersion, apiTime{r.About.AsOf}, &r.About.Bounds, r.About.RoadMetres
		}
		out.Regions[i] = one
	}
	return out
}

// shownJSON is the output of wayside region show --json.
type shownJSON struct {
	region.About
	Current    bool              `json:"current"`
	ImportedAt apiTime           `json:"imported_at"`
	FileBytes  int64             `json:"file_bytes"`
	Sections   []sectionSizeJSON `json:"sections"`
}

func newShownJSON(s *region.Shown) *shownJSON {
	return &shownJSON{*s.About, s.Current, apiTime{s.Imported}, s.Bytes, newSectionSizes(s.Sections)}
}

// sortedCounts returns counts as text, the largest first.
func sortedCounts(counts map[string]int) []string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%d %s", counts[name], name)
	}
	return out
}
