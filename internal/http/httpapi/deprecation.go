package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Deprecation is an endpoint, a parameter or a field that clients must stop using (D12.8). While it is in the table, answers carry
// Deprecation (RFC 9745), Sunset (RFC 8594) and Link, and openapi.json marks its place with `deprecated: true`.
type Deprecation struct {
	Routes    []string // routes whose answers carry the headers, such as "GET /v2/alerts"; at least one
	Parameter string   // query parameter: only answers to requests with it carry the headers; empty: all answers of the routes
	Pointer   string   // JSON pointer into openapi.json of the deprecated operation, parameter or schema's property

	Since  time.Time // from when it is deprecated
	Sunset time.Time // from when it may be removed, at least 90 days after Since (Versioning 2)
	Link   string    // reference to the replacement, as in "/docs#op-getNearby"
}

// Deprecated returns the table of current deprecations. CONTRIBUTING.md explains how to add a line, and when to remove it.
func Deprecated() []Deprecation { return nil }

// deprecationHeaders are the headers of one Deprecation, as they are written.
type deprecationHeaders struct {
	parameter                 string
	deprecation, sunset, link []string
}

// deprecationsOf returns the headers of the deprecations on a route.
func (a *API) deprecationsOf(r Route) []deprecationHeaders {
	var all []deprecationHeaders
	for _, d := range a.Deprecated {
		if !slices.Contains(d.Routes, r.Method+" "+r.Path) {
			continue
		}
		all = append(all, deprecationHeaders{
			parameter:   d.Parameter,
			deprecation: []string{"@" + strconv.FormatInt(d.Since.Unix(), 10)},
			sunset:      []string{d.Sunset.UTC().Format(http.TimeFormat)},
			link:        []string{"<" + d.Link + `>; rel="deprecation"; type="text/html"`},
		})
	}
	return all
}

// announceDeprecations writes the headers. Deprecation and Sunset take one value each: of several deprecations on a route, the
// first in the table is announced, and each has its Link.
func announceDeprecations(h http.Header, r *http.Request, all []deprecationHeaders) {
	for i := range all {
		d := &all[i]
		if d.parameter != "" && !r.URL.Query().Has(d.parameter) {
			continue
		}
		if h["Deprecation"] == nil {
			h["Deprecation"], h["Sunset"] = d.deprecation, d.sunset
		}
		h["Link"] = append(h["Link"], d.link...)
	}
}

// markDeprecated adds `deprecated: true` and `x-sunset` to the objects of openapi.json that the table names. It fails if the table
// names a missing object.
func markDeprecated(text []byte, table []Deprecation) ([]byte, error) {
	if len(table) == 0 {
		return text, nil
	}
	var (
		out    bytes.Buffer
		dec    = jsontext.NewDecoder(bytes.NewReader(text))
		enc    = jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
		marked = make(map[string]bool)
	)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = enc.WriteToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("read openapi.json: %w", err)
		}
		if token.Kind() != '{' {
			continue
		}
		at := string(dec.StackPointer())
		i := slices.IndexFunc(table, func(d Deprecation) bool { return d.Pointer == at })
		if i < 0 {
			continue
		}
		marked[at] = true
		for _, t := range []jsontext.Token{
			jsontext.String("deprecated"), jsontext.True,
			jsontext.String("x-sunset"), jsontext.String(table[i].Sunset.UTC().Format(time.DateOnly)),
		} {
			if err := enc.WriteToken(t); err != nil {
				return nil, fmt.Errorf("mark %s as deprecated: %w", at, err)
			}
		}
	}
	for _, d := range table {
		if !marked[d.Pointer] {
			return nil, fmt.Errorf("openapi.json has no object at %s", d.Pointer)
		}
	}
	return out.Bytes(), nil
}
