package navigation

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

const (
	maxNavigationBody = 512 << 10        // bytes: 10 001 coordinates fit
	navigationTimeout = 10 * time.Second // for the work on one request
)

// profiles returns the names of the only profile.
func profiles() []string {
	return []string{"driving", "car", "driving-traffic", "mapbox/driving-traffic"}
}

// Engine finds routes: the embedded one, or one at a URL that the operator configured. Each method appends an answer in the shape
// of OSRM's, or fails with a *nav.Error.
type Engine interface {
	// Route finds routes that leave out places.
	Route(ctx context.Context, q *osrm.Request, places nav.Avoid, dst []byte) ([]byte, error)
	Nearest(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error)
	Table(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error)
	Match(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error)
}

// navigationScratch is reusable memory for one response.
type navigationScratch struct{ body []byte }

// navigationPool reuses memory between requests; it holds no state of the service.
var navigationPool = sync.Pool{New: func() any { return new(navigationScratch) }}

func takeNavigationScratch() *navigationScratch {
	scratch, ok := navigationPool.Get().(*navigationScratch)
	if !ok {
		scratch = new(navigationScratch)
	}
	scratch.body = scratch.body[:0]
	return scratch
}

func (s *navigationScratch) giveBack() {
	if cap(s.body) <= httpapi.MaxPooledBody {
		navigationPool.Put(s)
	}
}

// navigate answers a request to one of OSRM's services: it reads the request, counts it, calls answer, and writes the answer or the
// error in OSRM's form. Neither may be logged, because the path of a GET consists of places.
func (a *api) navigate(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, service osrm.Service, answer func(ctx context.Context, q *osrm.Request, s *navigationScratch) error) error {
	q, err := readNavigation(w, r, service)
	return a.answerNavigation(w, r, c, q, err, answer)
}

// answerNavigation counts a request that was read, or refused with an error, calls answer, and writes the answer.
func (a *api) answerNavigation(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, q *osrm.Request, err error, answer func(ctx context.Context, q *osrm.Request, s *navigationScratch) error) error {
	cost := 1
	if err == nil {
		cost = q.Cost()
	}
	if err := a.LimitRoutes(w, c, cost); err != nil {
		return err
	}
	if err == nil {
		if err := a.holdRoute(w, r, c, q); err != nil {
			return err
		}
	}
	scratch := takeNavigationScratch()
	defer scratch.giveBack()
	if err == nil {
		err = a.answerInTime(r.Context(), c, q, scratch, answer)
	}
	if err == nil {
		a.countAnswer(c, q, len(scratch.body))
	}
	return a.writeNavigation(w, r, http.StatusOK, scratch.body, err)
}

// writeNavigation writes an answer, or the error in its place in OSRM's form.
func (a *api) writeNavigation(w http.ResponseWriter, r *http.Request, status int, body []byte, err error) error {
	w.Header()["Vary"] = []string{a.Vary()}
	w.Header()["Cache-Control"] = []string{httpapi.NoStore}
	if refused := new(nav.Error); errors.As(err, &refused) {
		switch status = http.StatusBadRequest; refused.Code {
		case nav.NoRegion:
			status = http.StatusServiceUnavailable
		case nav.NoEngine:
			status = http.StatusServiceUnavailable
			w.Header()["Retry-After"] = []string{strconv.Itoa(int(httpapi.UnavailableRetryAfter.Seconds()))}
		}
		body = osrm.AppendError(body[:0], refused)
	} else if err != nil {
		return err
	}
	httpapi.HoldBody(w, body)
	response.Write(w, r, status, "application/json", body)
	return nil
}

var errNavigationTimeout = errors.New("a route took too long")

// answerInTime calls answer when it is the caller's turn, unless the client leaves or it takes too long.
func (a *api) answerInTime(parent context.Context, c *httpapi.Caller, q *osrm.Request, s *navigationScratch, answer func(ctx context.Context, q *osrm.Request, s *navigationScratch) error) error {
	if a.Engine == nil {
		return &nav.Error{Code: nav.NoRegion, Message: "Navigation is off at this service."}
	}
	a.offerClips(q)
	ctx, cancel := context.WithTimeoutCause(parent, navigationTimeout, errNavigationTimeout)
	defer cancel()
	leave, err := a.searchTurn(ctx, c, q.Cost())
	if err == nil {
		err = answer(ctx, q, s)
		leave()
	}
	if errors.Is(err, errNavigationTimeout) {
		return &httpapi.Problem{Type: "unavailable", Status: http.StatusServiceUnavailable, Detail: "This takes too long to compute now. Ask for less, or later.", RetryAfter: httpapi.UnavailableRetryAfter}
	}
	return err
}

// readNavigation reads the options of a request from its URL or its body.
func readNavigation(w http.ResponseWriter, r *http.Request, service osrm.Service) (*osrm.Request, error) {
	head, tail := splitNavigation(r)
	if !slices.Contains(profiles(), head[2]) {
		return nil, &nav.Error{Code: nav.InvalidValue, Message: "The profile must be driving: routes are for cars."}
	}
	if r.Method == http.MethodPost {
		if tail != "" {
			return nil, &nav.Error{Code: nav.InvalidURL, Message: "A POST has its coordinates in its body: its URL ends with the profile."}
		}
		return readNavigationBody(w, r, service)
	}
	before := 1 + len(head[0]) + 1 + len(head[1]) + 1 + len(head[2]) + 1 // in OSRM's counting, without the prefix of this service
	if r.URL.RawQuery != "" {
		tail += "?" + r.URL.RawQuery
	}
	text, err := url.PathUnescape(tail)
	if err != nil || text == "" {
		return nil, &nav.Error{Code: nav.InvalidURL, Message: "URL string malformed close to position " + strconv.Itoa(before)}
	}
	return osrm.ParseURL(service, text, before)
}

// readNavigationBody reads the body of a POST.
func readNavigationBody(w http.ResponseWriter, r *http.Request, service osrm.Service) (*osrm.Request, error) {
	body, err := readNavigationJSON(w, r)
	if err != nil {
		return nil, err
	}
	return osrm.ParseBody(service, body)
}

func readNavigationJSON(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !httpapi.IsJSON(r) {
		return nil, httpapi.UnsupportedMedia("Send the body as Content-Type: application/json.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNavigationBody))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return nil, mapdata.Describe(mapdata.ErrTooLarge, "The body is larger than "+strconv.Itoa(maxNavigationBody>>10)+" KiB.")
	}
	if err != nil {
		return nil, mapdata.Describe(mapdata.ErrMalformed, "The body cannot be read.")
	}
	return body, nil
}

// splitNavigation splits the service, the version and the profile off the path of a request. The tail is still escaped.
func splitNavigation(r *http.Request) (head [3]string, tail string) {
	tail = strings.TrimPrefix(r.URL.EscapedPath(), httpapi.NavigationPath)
	for i := range head {
		if head[i], tail, _ = strings.Cut(tail, "/"); i == 2 && head[i] == "mapbox" {
			var name string
			name, tail, _ = strings.Cut(tail, "/")
			head[i] += "/" + name
		}
		if plain, err := url.PathUnescape(head[i]); err == nil {
			head[i] = plain
		}
	}
	return head, tail
}

// otherRoutes returns the routes of paths that no other line of the table has.
func (a *api) otherRoutes() []httpapi.Route {
	other := make([]httpapi.Route, 2)
	for i, method := range []string{http.MethodGet, http.MethodPost} {
		other[i] = httpapi.NewRoute(method, httpapi.NavigationPath+"{other}", httpapi.ClassRoute, account.ForGuests, a.otherNavigation)
		other[i].Pattern = httpapi.NavigationPath
	}
	return other
}

// otherNavigation answers requests to paths that no other line of the table has: names of profiles with a slash, and OSRM's errors
// for unknown services.
func (a *api) otherNavigation(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	head, tail := splitNavigation(r)
	services := map[string]httpapi.Handler{"route": a.getRoute, "nearest": a.getNearestRoads, "table": a.getTable, "match": a.getMatch}
	serve := services[head[0]]
	var err *nav.Error
	switch {
	case head[0] == "" || head[1] == "" || head[2] == "" || tail == "" && r.Method != http.MethodPost:
		err = &nav.Error{Code: nav.InvalidURL, Message: "The URL must be /{service}/v1/{profile}/{coordinates}."}
	case serve == nil:
		err = &nav.Error{Code: nav.InvalidService, Message: "Service " + httpapi.Truncate(head[0]) + " not found!"}
	case head[1] != "v1":
		err = &nav.Error{Code: nav.InvalidVersion, Message: "Service " + head[0] + " has no version " + httpapi.Truncate(head[1]) + "; it has v1."}
	default:
		return serve(w, r, c)
	}
	if err := a.LimitRoutes(w, c, 1); err != nil {
		return err
	}
	w.Header()["Cache-Control"] = []string{httpapi.NoStore}
	response.Write(w, r, http.StatusBadRequest, "application/json", osrm.AppendError(nil, err))
	return nil
}
