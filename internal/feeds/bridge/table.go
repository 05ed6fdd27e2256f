package bridge

import (
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/autobahn"
	"wayside/internal/feeds/format/cifs"
	"wayside/internal/feeds/format/csv"
	"wayside/internal/feeds/format/datex2"
	"wayside/internal/feeds/format/datex2energy"
	"wayside/internal/feeds/format/digitraffic"
	"wayside/internal/feeds/format/geojson"
	"wayside/internal/feeds/format/ocm"
	"wayside/internal/feeds/format/ocpi"
	"wayside/internal/feeds/format/open511"
	"wayside/internal/feeds/format/overpass"
	"wayside/internal/feeds/format/traff"
	"wayside/internal/feeds/format/wzdx"
)

// Format is the entry of a foreign format.
type Format struct {
	Name   string
	Accept Media // the media type that is requested

	Mapping  bool // a feed needs a mapping
	Status   bool // a second document may state the status
	Zone     bool // schedules, or times without an offset, are read in the feed's time zone
	Chargers bool // charger_network determines who sees the feed's chargers
	Pages    bool // a document may be one of several

	convert format.Convert
}

// Media is the form of documents.
type Media string

// Forms of documents.
const (
	JSON Media = "application/json"
	XML  Media = "application/xml, text/xml;q=0.9"
	CSV  Media = "text/csv"
)

// Formats lists all formats, in the order in which they are shown.
func Formats() []Format {
	return []Format{
		{Name: "wzdx", convert: wzdx.Convert, Accept: JSON, Zone: true},
		{Name: "digitraffic", convert: digitraffic.Convert, Accept: JSON, Zone: true},
		{Name: "datex2", convert: datex2.Convert, Accept: XML, Zone: true},
		{Name: "ocpi", convert: ocpi.Convert, Accept: JSON, Chargers: true, Pages: true},
		{Name: "geojson", convert: geojson.Convert, Accept: JSON, Mapping: true, Zone: true, Chargers: true},
		{Name: "csv", convert: csv.Convert, Accept: CSV, Mapping: true, Zone: true, Chargers: true},
		{Name: "datex2-energy", convert: datex2energy.Convert, Accept: XML, Status: true, Chargers: true},
		{Name: "open511", convert: open511.Convert, Accept: JSON, Zone: true, Pages: true},
		{Name: "cifs", convert: cifs.Convert, Accept: JSON, Zone: true},
		{Name: "autobahn", convert: autobahn.Convert, Accept: JSON, Chargers: true},
		{Name: "overpass", convert: overpass.Convert, Accept: JSON, Chargers: true},
		{Name: "ocm", convert: ocm.Convert, Accept: JSON, Chargers: true},
		{Name: "traff", convert: traff.Convert, Accept: XML, Zone: true},
	}
}

// NextInBody reports whether the document itself names its next page; the other formats use a Link header (D17.13).
func (f Format) NextInBody() bool { return f.Name == "open511" }

// Lookup finds a format by its name.
func Lookup(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Names lists the names of all formats.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}
