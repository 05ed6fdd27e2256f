// Package openfeeds lists feeds that authorities and operators publish openly (D17.19), from a data file in the program and from the
// operator's own file.
package openfeeds

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"wayside/internal/ground/safehttp"
)

//go:embed feeds.json
var builtIn []byte

// Who may fetch a feed.
const (
	AuthNone      = "none"
	AuthHeader    = "header"    // the publisher requires a header, which AuthHint describes
	AuthKey       = "key"       // a key of the publisher's is required
	AuthAgreement = "agreement" // with the publisher, or a private server
)

// Feed is an open feed, with the members of its entry.
type Feed struct {
	ID              string          `json:"id"`
	Name            string          `json:"name"`
	URL             string          `json:"url"`
	StatusURL       string          `json:"status_url,omitempty"`
	Format          string          `json:"format"`
	Mapping         json.RawMessage `json:"mapping,omitempty"`
	TimeZone        string          `json:"time_zone,omitempty"`
	ChargerNetwork  string          `json:"charger_network,omitempty"`
	Attribution     string          `json:"attribution"`
	Licence         string          `json:"licence"`
	LicenceURL      string          `json:"licence_url"`
	Area            []float64       `json:"area,omitempty"` // west, south, east, north
	Country         string          `json:"country"`        // ISO 3166-1 alpha-2; empty: of several countries
	Auth            string          `json:"auth"`
	AuthHint        string          `json:"auth_hint,omitempty"`
	IntervalSeconds int             `json:"interval_seconds"`
	Homepage        string          `json:"homepage"`
	Checked         *string         `json:"checked"` // date on which its terms were read at the publisher's; nil: they are known only from Evidence
	Evidence        string          `json:"evidence,omitempty"`
}

const maxFile = 4 << 20 // bytes of an operator's own file

// Load returns the open feeds of the program, and those of an operator's file (empty: none), whose entries replace those with the same id,
// sorted by country and name.
func Load(file string) ([]Feed, error) {
	all, err := parse(builtIn)
	if err != nil {
		return nil, fmt.Errorf("built-in open feeds: %w", err)
	}
	if file != "" {
		info, err := os.Stat(file)
		if err != nil {
			return nil, fmt.Errorf("catalogue.file: %w", err)
		}
		if info.Size() > maxFile {
			return nil, fmt.Errorf("catalogue.file: %s has more than %d bytes", file, maxFile)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("catalogue.file: %w", err)
		}
		own, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("catalogue.file: %s: %w", file, err)
		}
		all = slices.DeleteFunc(all, func(f Feed) bool {
			return slices.ContainsFunc(own, func(o Feed) bool { return o.ID == f.ID })
		})
		all = append(all, own...)
	}
	slices.SortStableFunc(all, func(a, b Feed) int {
		if a.Country != b.Country && (a.Country == "") != (b.Country == "") {
			return strings.Compare(b.Country, a.Country) // those of no country last
		}
		return strings.Compare(a.Country+"\n"+a.Name, b.Country+"\n"+b.Name)
	})
	return all, nil
}

// parse reads entries, and returns an error that describes the first invalid one.
func parse(text []byte) ([]Feed, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var all []Feed
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("not an array of open feeds: %w", err)
	}
	seen := make(map[string]bool, len(all))
	for i := range all {
		f := &all[i]
		switch {
		case f.ID == "" || seen[f.ID]:
			return nil, fmt.Errorf("entry %d: id is missing or stands twice", i)
		case f.Name == "" || f.Format == "":
			return nil, fmt.Errorf("entry %s: name and format are required", f.ID)
		case !slices.Contains([]string{AuthNone, AuthHeader, AuthKey, AuthAgreement}, f.Auth):
			return nil, fmt.Errorf("entry %s: auth must be none, header, key or agreement", f.ID)
		case len(f.Area) != 0 && len(f.Area) != 4:
			return nil, fmt.Errorf("entry %s: area must be west, south, east, north", f.ID)
		}
		if err := f.checkAddresses(); err != nil {
			return nil, fmt.Errorf("entry %s: %w", f.ID, err)
		}
		seen[f.ID] = true
	}
	return all, nil
}

// checkAddresses checks that a feed may have these URLs (D6.5), because all providers see them, and copy them to their own feeds.
func (f *Feed) checkAddresses() error {
	if _, err := safehttp.CheckURL(f.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if f.StatusURL == "" {
		return nil
	}
	if _, err := safehttp.CheckURL(f.StatusURL); err != nil {
		return fmt.Errorf("status_url: %w", err)
	}
	return nil
}

// Find finds an open feed by its id.
func Find(all []Feed, id string) (*Feed, bool) {
	at := slices.IndexFunc(all, func(f Feed) bool { return f.ID == id })
	if at < 0 {
		return nil, false
	}
	return &all[at], true
}

// CheckedOn returns the date on which its terms were read at the publisher's, or an empty string if they were not.
func (f *Feed) CheckedOn() string {
	if f.Checked == nil {
		return ""
	}
	return *f.Checked
}
