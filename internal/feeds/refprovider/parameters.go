package refprovider

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"wayside/internal/ground/geo"
)

// Bounds of the parameters, as specified: metres, characters.
const (
	minRadius       = 100
	maxRadius       = 50_000
	maxTenantLength = 64
)

// parameters reads a query and collects all faults.
type parameters struct {
	values url.Values
	wrong  []fault
}

// readCircle reads lat, lng, radius and tenant, each required and given once. Other parameters are ignored. The tenant is
// opaque and not used.
func readCircle(query string) (circle, []fault) {
	values, err := url.ParseQuery(query)
	p := &parameters{values: values}
	if err != nil {
		p.addFault("query", "malformed", "The query cannot be read as name=value pairs.")
	}
	var center geo.Point
	center.Lat = p.number("lat", -90, 90)
	center.Lng = p.number("lng", -180, 180)
	radius := p.number("radius", minRadius, maxRadius)
	if tenant, ok := p.single("tenant"); ok && (!utf8.ValidString(tenant) || utf8.RuneCountInString(tenant) > maxTenantLength) {
		p.addFault("tenant", "invalid", fmt.Sprintf("tenant must have at most %d characters, in UTF-8.", maxTenantLength))
	}
	if p.wrong != nil {
		return circle{}, p.wrong
	}
	return circle{center: center.Vector(), chord: geo.ChordSquaredOf(radius)}, nil
}

// addFault records a fault, with a message that repeats no value.
func (p *parameters) addFault(name, code, message string) {
	p.wrong = append(p.wrong, fault{name, code, message})
}

// single returns a parameter that must be given once, and not empty.
func (p *parameters) single(name string) (string, bool) {
	switch values := p.values[name]; {
	case len(values) > 1:
		p.addFault(name, "repeated", name+" may be given once.")
	case len(values) == 0 || values[0] == "":
		p.addFault(name, "missing", name+" is required.")
	default:
		return values[0], true
	}
	return "", false
}

// number returns a decimal number within inclusive bounds.
func (p *parameters) number(name string, low, high float64) float64 {
	text, ok := p.single(name)
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	// ParseFloat also accepts NaN, Inf, hexadecimal numbers and underscores.
	if err != nil || strings.Trim(text, "0123456789+-.eE") != "" {
		p.addFault(name, "not_a_number", name+" must be a decimal number.")
		return 0
	}
	if v < low || v > high {
		p.addFault(name, "out_of_range", fmt.Sprintf("%s must be from %v to %v.", name, low, high))
	}
	return v
}
