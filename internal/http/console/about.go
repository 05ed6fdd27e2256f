package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// stylePath is the path of the pages' only style sheet.
const stylePath = "/docs/style.css"

func (c *Console) aboutRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: "/about", Who: account.ForGuests, Handle: c.getAbout},
		{Method: http.MethodGet, Path: stylePath, Who: account.ForGuests, Counts: CountsNothing, Handle: getStyle},
	}
}

// aboutPage is what the page about the service shows.
type aboutPage struct {
	Base    string
	At      string // place of the example, as parameters of a query
	Sources string // path of the list of sources
	Publish string // path at which publishing begins
	Groups  []kindGroup
}

// kindGroup holds the kinds of one group, for the legend of pins.
type kindGroup struct {
	Name  string
	Kinds []mapdata.KindInfo
}

// getAbout answers GET /about.
func (c *Console) getAbout(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page := aboutPage{Base: c.BaseURL, At: c.examplePlace(), Sources: "/v2/sources", Publish: "/docs#group-feeds"}
	if c.hasPage("/sources") {
		page.Sources = "/sources"
	}
	if c.hasPage("/feeds/new") {
		page.Publish = "/feeds/new"
	}
	for _, k := range mapdata.Kinds() {
		if n := len(page.Groups); n == 0 || page.Groups[n-1].Name != k.Group {
			page.Groups = append(page.Groups, kindGroup{Name: k.Group})
		}
		last := &page.Groups[len(page.Groups)-1]
		last.Kinds = append(last.Kinds, k)
	}
	return c.show(w, r, v, &Page{Name: "about", Data: page, Wide: true, Scripts: []string{PageScript}})
}

// examplePlace returns the query parameters of the example's place, which lies on this service's map so that the example finds
// something.
func (c *Console) examplePlace() string {
	at := c.Home
	if at == (geo.Point{}) {
		at = geo.Point{Lat: 52.37, Lng: 4.9}
	}
	return fmt.Sprintf("lat=%.2f&lng=%.2f", at.Lat, at.Lng)
}

// getStyle answers with the style sheet of every page.
func getStyle(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	style, err := files.ReadFile("pages/style.css")
	if err != nil {
		return fmt.Errorf("read style sheet: %w", err)
	}
	w.Header().Set("Cache-Control", "public, max-age=300")
	v.Write(w, r, http.StatusOK, "text/css; charset=utf-8", style)
	return nil
}

// styleVersion returns a version that changes with the style sheet, so that browsers never use an old one from their cache.
func styleVersion() (string, error) {
	style, err := files.ReadFile("pages/style.css")
	if err != nil {
		return "", fmt.Errorf("read style sheet: %w", err)
	}
	sum := sha256.Sum256(style)
	return hex.EncodeToString(sum[:6]), nil
}
