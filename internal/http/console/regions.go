package console

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
)

const (
	regionsPath       = "/regions"
	regionImportsPath = regionsPath + "/imports"
)

func (c *Console) regionRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: regionsPath, Who: account.ForGuests, Handle: c.getRegions},
		{Method: http.MethodPost, Path: regionImportsPath, Who: account.ForAdmins, Handle: c.postRegionImport},
		{Method: http.MethodPost, Path: regionImportsPath + "/cancel", Who: account.ForAdmins, Handle: c.postRegionCancel},
		{Method: http.MethodGet, Path: regionsPath + "/{id}/remove", Who: account.ForAdmins, Handle: c.getRegionRemoval},
		{Method: http.MethodPost, Path: regionsPath + "/{id}/remove", Who: account.ForAdmins, Handle: c.postRegionRemoval},
	}
}

// Regions holds what the page of regions needs.
type Regions struct {
	Served  func() *region.Region // that routes are served from; nil: there is none
	Imports *imports.Service
}

// regionsPage is the data of the page that shows the served region, and all regions to admins.
type regionsPage struct {
	State
	Served *servedRegion
	Admin  *regionAdmin // nil: the visitor is none
}

// servedRegion is the region that is served.
type servedRegion struct {
	*region.About
	State *Region
	Size  size
	Roads int64 // km, each direction for itself
	Parts []productSize
}

// productSize is how large a product is.
type productSize struct {
	Name string
	Size size
}

// regionAdmin is the additional data for admins.
type regionAdmin struct {
	Form     *Form
	Passkey  *passkeyNeed
	Import   *importState // nil: none since the start
	Extracts []extractLine
	Regions  []regionLine
	Products []string
	Folder   string
	Fixed    bool
}

// extractLine is a file that can be imported.
type extractLine struct {
	imports.Extract
	Size   size
	Chosen bool
}

// regionLine is a region file.
type regionLine struct {
	region.Listed
	Size size
}

// importState is an import on the page.
type importState struct {
	*imports.Import
	Names   string
	Doing   string // the step, translated
	Percent int
}

// size is a number of bytes for people.
type size struct {
	Amount string
	Unit   string // kb or mb
}

const (
	kilobyte = 1000
	megabyte = 1000 * kilobyte
)

func sizeOf(w *words.Words, bytes int64) size {
	if bytes < megabyte {
		return size{w.Number(int64(math.Ceil(float64(bytes) / kilobyte))), "kb"}
	}
	return size{w.Number(int64(math.Round(float64(bytes) / megabyte))), "mb"}
}

// getRegions answers GET /regions.
func (c *Console) getRegions(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showRegions(w, r, v, newForm(nil), http.StatusOK)
}

func (c *Console) showRegions(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, status int) error {
	page := regionsPage{State: c.State()}
	if served := c.Regions.Served(); served != nil && page.Region != nil {
		page.Served = &servedRegion{About: &served.About, State: page.Region, Size: sizeOf(v.Words, served.Bytes), Roads: served.RoadMetres / 1000}
		for _, p := range served.Products {
			page.Served.Parts = append(page.Served.Parts, productSize{p.Name, sizeOf(v.Words, p.Bytes)})
		}
	}
	p := &Page{Name: "regions", Status: status, Data: &page, Wide: true}
	if person := v.Person(); person == nil || person.Role != mapdata.Admin {
		return c.show(w, r, v, p)
	}
	var err error
	if page.Admin, err = c.regionAdmin(r, v, form); err != nil {
		return err
	}
	if i := page.Admin.Import; i != nil && i.Running() {
		w.Header().Set("Refresh", "2; url="+regionsPath) // until it ends
	}
	return c.showDecision(w, r, v, &page.Admin.Passkey, p)
}

// regionAdmin gathers the additional data for admins.
func (c *Console) regionAdmin(r *http.Request, v *Visitor, form *Form) (*regionAdmin, error) {
	admin := &regionAdmin{Form: form, Products: region.ProductNames(), Folder: c.Regions.Imports.Extracts, Fixed: c.Regions.Imports.Fixed}
	listed, err := c.Regions.Imports.List(r.Context())
	if err != nil {
		return nil, err
	}
	for _, one := range listed {
		admin.Regions = append(admin.Regions, regionLine{one, sizeOf(v.Words, one.Bytes)})
	}
	extracts, err := c.Regions.Imports.ListExtracts()
	if err != nil {
		return nil, err
	}
	chosen := form.values["files"]
	for _, e := range extracts {
		admin.Extracts = append(admin.Extracts, extractLine{e, sizeOf(v.Words, e.Bytes), slices.Contains(chosen, e.Name)})
	}
	if last := c.Regions.Imports.Last(); last != nil {
		admin.Import = newImportState(v.Words, last)
	}
	return admin, nil
}

// stepKey returns the key of a step's name.
func stepKey(step string) string { return "regions.step." + strings.ReplaceAll(step, " ", "-") }

func newImportState(w *words.Words, i *imports.Import) *importState {
	state := &importState{Import: i, Names: strings.Join(i.Files, ", "), Doing: i.Step}
	if key := stepKey(i.Step); w.Has(key) {
		state.Doing = w.Text(key)
	}
	if i.Of > 0 {
		state.Percent = 100 * (i.Number - 1) / i.Of
	}
	return state
}

// postRegionImport starts an import.
func (c *Console) postRegionImport(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := c.readDecision(w, r, v)
	if err != nil {
		return err
	}
	err = c.Regions.Imports.Start(r.Context(), v.Account, form.values["files"], form.values["without"])
	if err == nil {
		return seeOther(w, regionsPath+"?done=import-started")
	}
	if !form.addErrors(v.Words, err) {
		return err
	}
	return c.showRegions(w, r, v, form, http.StatusUnprocessableEntity)
}

// postRegionCancel cancels the import under way.
func (c *Console) postRegionCancel(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if _, err := c.readDecision(w, r, v); err != nil {
		return err
	}
	if err := c.Regions.Imports.Cancel(r.Context(), v.Account); err != nil && !errors.Is(err, mapdata.ErrConflict) { // it ended meanwhile
		return err
	}
	return seeOther(w, regionsPath+"?done=import-cancelled")
}

// regionRemoval is the data of the page that asks for confirmation before a region is removed.
type regionRemoval struct {
	regionLine
	Passkey *passkeyNeed
}

// getRegionRemoval answers GET /regions/{id}/remove.
func (c *Console) getRegionRemoval(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	listed, err := c.Regions.Imports.List(r.Context())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(listed, func(l region.Listed) bool { return l.ID == r.PathValue("id") })
	if at < 0 {
		return mapdata.ErrNotFound
	}
	page := regionRemoval{regionLine: regionLine{listed[at], sizeOf(v.Words, listed[at].Bytes)}}
	return c.showDecision(w, r, v, &page.Passkey, &Page{Name: "region-remove", Data: &page})
}

// postRegionRemoval removes a region.
func (c *Console) postRegionRemoval(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if _, err := c.readDecision(w, r, v); err != nil {
		return err
	}
	if err := c.Regions.Imports.Remove(r.Context(), v.Account, r.PathValue("id")); err != nil {
		return err
	}
	return seeOther(w, regionsPath+"?"+url.Values{"done": {"region-removed"}}.Encode())
}
