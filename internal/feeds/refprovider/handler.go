package refprovider

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strconv"

	"wayside/internal/ground/geo"
)

// The endpoints, and the header that carries the secret, as specified.
const (
	PathIncidents    = "/relay/incidents"
	PathIncidentsRaw = "/relay/incidents-raw"
	AuthHeader       = "X-Service-Auth"
)

// retryAfter is after how many seconds a provider without a snapshot may be asked again.
const retryAfter = 5

// Handler answers GET (and HEAD) at both endpoints, from the rows of the last Set:
//
//   - 404 and 405 for other paths and methods,
//   - 503 while the secret is unset,
//   - 401 without the secret, before anything else is checked,
//   - 400 with every parameter that is missing or wrong,
//   - 503 with Retry-After while there is no snapshot, or none that is young enough (MaxAge).
//
// Errors are problem+json and repeat nothing of the request.
func (p *Provider) Handler() http.Handler { return http.HandlerFunc(p.serve) }

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	var shape func(*snapshot, circle) []byte
	switch r.URL.Path {
	case PathIncidents:
		shape = (*snapshot).incidents
	case PathIncidentsRaw:
		shape = (*snapshot).incidentsRaw
	default:
		writeProblem(w, http.StatusNotFound, "There are "+PathIncidents+" and "+PathIncidentsRaw+" here.", nil)
		return
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		writeProblem(w, http.StatusMethodNotAllowed, "The endpoint answers GET.", nil)
		return
	case p.unset:
		writeProblem(w, http.StatusServiceUnavailable, "The provider has no secret configured.", nil)
		return
	case !p.known(r.Header.Values(AuthHeader)):
		writeProblem(w, http.StatusUnauthorized, AuthHeader+" is missing or wrong.", nil)
		return
	}
	around, wrong := readCircle(r.URL.RawQuery)
	if wrong != nil {
		writeProblem(w, http.StatusBadRequest, "Some parameters are missing or wrong; errors lists them all.", wrong)
		return
	}
	s := p.current()
	if s == nil {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		writeProblem(w, http.StatusServiceUnavailable, "The provider has nothing that is fresh enough to answer with.", nil)
		return
	}
	write(w, http.StatusOK, "application/json", shape(s, around))
}

// known reports whether the caller's secret is right. It compares in constant time, so that neither the secret nor its length can
// be measured.
func (p *Provider) known(given []string) bool {
	if len(given) != 1 {
		return false
	}
	sum := sha256.Sum256([]byte(given[0]))
	return subtle.ConstantTimeCompare(sum[:], p.secret[:]) == 1
}

// circle is the area that a caller asks for.
type circle struct {
	center geo.Vector
	chord  float64 // squared, of the radius
}

func (c circle) holds(row *Row) bool { return row.place.ChordSquared(c.center) <= c.chord }

// incidents returns the answer in v1 entities, in the order of the rows.
func (s *snapshot) incidents(c circle) []byte {
	b := append([]byte(nil), `{"entities":[`...)
	b = s.list(b, c, func(row *Row) []byte { return row.entity })
	return s.finish(append(b, ']'))
}

// incidentsRaw returns the answer in the raw form, whose users are always empty.
func (s *snapshot) incidentsRaw(c circle) []byte {
	items := func(jam bool) func(*Row) []byte {
		return func(row *Row) []byte {
			if row.jam != jam {
				return nil
			}
			return row.raw
		}
	}
	b := append([]byte(nil), `{"alerts":[`...)
	b = s.list(b, c, items(false))
	b = append(b, `],"jams":[`...)
	b = s.list(b, c, items(true))
	return s.finish(append(b, `],"users":[]`...))
}

// list appends the texts of the rows in the circle, and leaves out rows for which text returns nil.
func (s *snapshot) list(b []byte, c circle, text func(*Row) []byte) []byte {
	start := len(b)
	for i := range s.rows {
		row := &s.rows[i]
		if !c.holds(row) {
			continue
		}
		t := text(row)
		if t == nil {
			continue
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(b, t...)
	}
	return b
}

func (s *snapshot) finish(b []byte) []byte {
	b = append(b, `,"fetched_at_utc":"`...)
	b = s.at.AppendFormat(b, timeForm)
	return append(b, "\"}\n"...)
}

// fault is an error in one parameter.
type fault struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// problem is an error's body (RFC 9457).
type problem struct {
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Errors []fault `json:"errors,omitempty"`
}

func writeProblem(w http.ResponseWriter, status int, detail string, faults []fault) {
	body, err := json.Marshal(problem{http.StatusText(status), status, detail, faults})
	if err != nil { // strings and numbers only: cannot fail
		body = []byte(`{}`)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", AuthHeader) // required by RFC 9110
	}
	write(w, status, "application/problem+json", append(body, '\n'))
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the caller has closed the connection
}
