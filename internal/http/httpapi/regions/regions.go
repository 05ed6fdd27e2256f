package regions

import (
	"net/http"

	"wayside/internal/http/httpapi"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
)

// regionItem is the region from which routes are served.
type regionItem struct {
	ID             string               `json:"id"`
	DataVersion    string               `json:"data_version"`
	AsOf           httpapi.Timestamp    `json:"data_as_of"` // null: the extract does not say
	Imported       httpapi.Timestamp    `json:"imported_at"`
	Bounds         [4]float64           `json:"bounds"`
	FileBytes      int64                `json:"file_bytes"`
	Products       []region.ProductSize `json:"products"`
	RoadMetres     int64                `json:"road_metres"`
	Junctions      int64                `json:"junctions"`
	Places         int64                `json:"places"`
	Addresses      int64                `json:"addresses"`
	Cameras        int64                `json:"cameras"`
	Chargers       int64                `json:"chargers"`
	Attribution    string               `json:"attribution"`
	AttributionURL *string              `json:"attribution_url"` // null: it has none
	Licence        string               `json:"licence"`
}

func newRegionItem(r *region.Region) regionItem {
	item := regionItem{
		ID: r.ID, DataVersion: r.DataVersion, AsOf: httpapi.Timestamp(r.AsOf), Imported: httpapi.Timestamp(r.Imported), Bounds: r.Bounds, FileBytes: r.Bytes,
		Products: r.Products, RoadMetres: r.RoadMetres, Junctions: r.Junctions, Places: r.Places, Addresses: r.Addresses,
		Cameras: r.Cameras, Chargers: r.Chargers, Attribution: r.Attribution, Licence: r.Licence,
	}
	if item.Products == nil {
		item.Products = []region.ProductSize{}
	}
	if r.Attribution == region.Attribution {
		address := region.AttributionURL
		item.AttributionURL = &address
	}
	return item
}

// getRegions answers GET /v2/regions with the region that this node serves, if there is one.
func (a *api) getRegions(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	items := []regionItem{}
	if served := a.Regions(); served != nil {
		items = append(items, newRegionItem(served))
	}
	w.Header().Set("Cache-Control", httpapi.CacheListing)
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"regions": items})
}

// importItem is an import that an admin started.
type importItem struct {
	State    string            `json:"state"`
	Files    []string          `json:"files"`
	Without  []string          `json:"without"`
	Began    httpapi.Timestamp `json:"began_at"`
	Ended    httpapi.Timestamp `json:"ended_at"` // null: it is under way
	Step     string            `json:"step"`
	Number   int               `json:"step_number"`
	Of       int               `json:"steps"`
	RegionID *string           `json:"region_id"` // null: it made none
	Problem  *string           `json:"problem"`   // null: there is none
}

// States of an import.
const (
	importRunning   = "running"
	importDone      = "done"
	importCancelled = "cancelled"
	importFailed    = "failed"
)

func newImportItem(i *imports.Import) *importItem {
	if i == nil {
		return nil
	}
	item := &importItem{
		State: importRunning, Files: i.Files, Without: append([]string{}, i.Without...), Began: httpapi.Timestamp(i.Began), Ended: httpapi.Timestamp(i.Ended),
		Step: i.Step, Number: i.Number, Of: i.Of,
	}
	switch {
	case i.Running():
	case i.Region != "":
		item.State, item.RegionID = importDone, &i.Region
	case i.Cancelled:
		item.State = importCancelled
	default:
		item.State, item.Problem = importFailed, &i.Problem
	}
	return item
}

// extractItem is a file that can be imported.
type extractItem struct {
	Name     string            `json:"name"`
	Bytes    int64             `json:"bytes"`
	Modified httpapi.Timestamp `json:"modified_at"`
}

// regionFileItem is a region file of this node.
type regionFileItem struct {
	ID          string            `json:"id"`
	Current     bool              `json:"current"`
	Imported    httpapi.Timestamp `json:"imported_at"`
	FileBytes   int64             `json:"file_bytes"`
	DataVersion *string           `json:"data_version"` // null: the file cannot be read
}

// getRegionImports answers GET /v2/regions/imports with the import under way or the last one, the extracts that can be imported,
// and the region files. Admins only.
func (a *api) getRegionImports(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	extracts, err := a.Imports.ListExtracts()
	if err != nil {
		return err
	}
	listed, err := a.Imports.List(r.Context())
	if err != nil {
		return err
	}
	files, regions := make([]extractItem, len(extracts)), make([]regionFileItem, len(listed))
	for i, e := range extracts {
		files[i] = extractItem{e.Name, e.Bytes, httpapi.Timestamp(e.Modified)}
	}
	for i, l := range listed {
		regions[i] = regionFileItem{ID: l.ID, Current: l.Current, Imported: httpapi.Timestamp(l.Imported), FileBytes: l.Bytes}
		if l.About != nil {
			regions[i].DataVersion = &l.About.DataVersion
		}
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{
		"import": newImportItem(a.Imports.Last()), "extracts": files, "regions": regions, "products": region.ProductNames(),
	})
}

// postRegionImport answers POST /v2/regions/imports. Admins only.
func (a *api) postRegionImport(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	files, without := f.Texts("files"), f.Texts("without")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	if err := a.Imports.Start(r.Context(), c.Account, files, without); err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusAccepted, map[string]any{"import": newImportItem(a.Imports.Last())})
}

// deleteRegionImport answers DELETE /v2/regions/imports, which cancels the import under way. Admins only.
func (a *api) deleteRegionImport(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.decided(w, r, c, func() error { return a.Imports.Cancel(r.Context(), c.Account) })
}

// deleteRegion answers DELETE /v2/regions/{id}. Admins only.
func (a *api) deleteRegion(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.decided(w, r, c, func() error { return a.Imports.Remove(r.Context(), c.Account, r.PathValue("id")) })
}

// decided carries out a decision that is answered without a body.
func (a *api) decided(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, do func() error) error {
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
