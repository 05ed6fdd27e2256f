package navigation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/nodes/cluster/forward"
)

// Nodes sends requests to the node that has a session.
type Nodes interface {
	// Ask sends a request to the node at an address. It fails with forward.ErrGone if there is none, and with forward.ErrStopping
	// if the node does not answer now.
	Ask(ctx context.Context, to netip.AddrPort, method, path string, header http.Header, body io.Reader, streams bool) (*http.Response, error)
}

const (
	maxForwards    = 20_000    // requests and streams that other nodes answer at a time: the drives of a node
	maxForwardBody = 16 << 20  // bytes of an answer that is no stream: a route across a continent has some megabytes
	forwardBuffer  = 2 << 10   // bytes: each forwarded stream holds it all the time
	aheadPath      = "/ahead/" // of the roads ahead of a drive, for other nodes alone
)

// forwards counts the requests that other nodes answer for this one.
type forwards struct{ open atomic.Int64 }

// begin counts one more request; false: there are as many as there may be.
func (f *forwards) begin() bool {
	if f.open.Add(1) <= maxForwards {
		return true
	}
	f.open.Add(-1)
	return false
}

func (f *forwards) end() { f.open.Add(-1) }

// atOwner returns a handler with which the node that a session's id names answers the request.
func (a *api) atOwner(h httpapi.Handler) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
		if a.Nodes != nil && a.Drives != nil {
			if owner, ok := a.Drives.Owner(r.PathValue("id")); ok {
				return a.forwardDrive(w, r, c, owner)
			}
		}
		return h(w, r, c)
	}
}

// nodeRoutes returns the routes for other nodes. None is forwarded again: a request is forwarded once at most. The driver's request is
// counted by the node that received it.
func (a *api) nodeRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.NewNodeRoute(http.MethodGet, httpapi.DrivesPath+"/{id}/events", a.getDriveEvents),
		httpapi.NewNodeRoute(http.MethodPut, httpapi.DrivesPath+"/{id}/position", a.putDrivePosition),
		httpapi.NewNodeRoute(http.MethodDelete, httpapi.DrivesPath+"/{id}", a.deleteDrive),
		httpapi.NewNodeRoute(http.MethodGet, aheadPath+"{id}", a.getAhead),
	}
}

// forwardDrive lets another node answer a request, and passes the answer on.
func (a *api) forwardDrive(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, owner netip.AddrPort) error {
	body, err := readForwarded(w, r) // before the request is counted, because a client that sends slowly must not take the place of others
	if err != nil {
		return err
	}
	if !a.Ways.forwards.begin() {
		return nodeBusy()
	}
	defer a.Ways.forwards.end()
	streams := r.Method == http.MethodGet
	resp, err := a.Nodes.Ask(r.Context(), owner, r.Method, r.URL.Path, forwardHeader(r, c), bytes.NewReader(body), streams)
	if err != nil {
		return forwardError(err)
	}
	defer func() { _ = resp.Body.Close() }() // read only
	for _, name := range []string{"Content-Type", "Cache-Control", "Retry-After", "X-Accel-Buffering", "X-Content-Type-Options"} {
		if values := resp.Header.Values(name); len(values) > 0 {
			w.Header()[name] = slices.Clone(values)
		}
	}
	w.Header()["Vary"] = []string{a.Vary()}
	if streams && resp.StatusCode == http.StatusOK {
		return a.passStream(w, r, resp.Body)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxForwardBody))
	if err != nil {
		return forwardError(forward.ErrStopping)
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(answer) // the client may be gone
	return nil
}

// readForwarded reads the body of a request, which the other node bounds by the same limit.
func readForwarded(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPut {
		return nil, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPositionBody+1))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return nil, mapdata.Describe(mapdata.ErrTooLarge, "The body is larger than "+strconv.Itoa(maxPositionBody>>10)+" KiB.")
	}
	if err != nil {
		return nil, mapdata.Describe(mapdata.ErrMalformed, "The body cannot be read.")
	}
	return body, nil
}

// forwardHeader returns the part of a request's header that another node needs.
func forwardHeader(r *http.Request, c *httpapi.Caller) http.Header {
	h := http.Header{httpapi.ClientHeader: {c.Client.String()}}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		h["Content-Type"] = []string{kind}
	}
	return h
}

// forwardError converts the failure of another node to an error for the driver.
func forwardError(err error) error {
	switch {
	case errors.Is(err, forward.ErrGone):
		return lostDrive()
	case errors.Is(err, forward.ErrStopping):
		return nodeBusy()
	}
	return err
}

// lostDrive returns the error for a session that no longer exists.
func lostDrive() error {
	return mapdata.Describe(mapdata.ErrNotFound, "There is no such session: it ended, or its node stopped. POST "+httpapi.DrivesPath+" with its id as resumes begins another one.")
}

func nodeBusy() error {
	return &httpapi.Problem{Type: "unavailable", Status: http.StatusServiceUnavailable, Detail: "The node that leads this driver does not answer now. Try again.", RetryAfter: time.Second}
}

// passStream passes the events of another node on until the client or the other node leaves. As for a session of this node, it
// takes the connection over, so that net/http keeps no memory for it.
func (a *api) passStream(w http.ResponseWriter, r *http.Request, events io.Reader) error {
	if r.ProtoMajor == 1 {
		w.Header()["Connection"] = []string{"close"}
	}
	w.WriteHeader(http.StatusOK)
	client := a.NewEventWriter(w)
	if err := client.Control.Flush(); err != nil {
		return nil // the client is gone
	}
	write := func(part []byte) error { return client.Send(r.Context(), part) }
	if conn, _, err := client.Control.Hijack(); err == nil {
		d := &driveConn{conn: conn, timeout: a.StreamWriteTimeout, chunked: r.ProtoAtLeast(1, 1)}
		write = func(part []byte) error { return d.write(part, d.timeout) }
		defer d.close(nil, false)
	}
	buffer := make([]byte, forwardBuffer)
	for {
		n, err := events.Read(buffer)
		if n > 0 && write(buffer[:n]) != nil || err != nil {
			return nil // the client or the other node left; the driver reads again
		}
	}
}
