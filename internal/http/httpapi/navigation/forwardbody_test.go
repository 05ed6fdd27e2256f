package navigation

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"wayside/internal/http/httpapi"
	"wayside/internal/nodes/cluster/forward"
)

// goneNodes are other nodes that cannot be reached.
type goneNodes struct{ asked int }

func (*goneNodes) Serve(http.Handler) {}

func (n *goneNodes) Ask(context.Context, netip.AddrPort, string, string, http.Header, io.Reader, bool) (*http.Response, error) {
	n.asked++
	return nil, forward.ErrGone
}

// countedBody is a body that notes how many requests to other nodes are counted while it is read.
type countedBody struct {
	io.Reader
	forwards *forwards
	read     int
	counted  int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	b.counted = max(b.counted, b.forwards.open.Load())
	return n, err
}

// TestForwardedBodyIsReadFirst checks that a request for another node takes no place among those that wait for other nodes while its
// body arrives, and that no more than a position is read.
func TestForwardedBodyIsReadFirst(t *testing.T) {
	for text, wantAsked := range map[string]int{`{"lat":1,"lng":1}`: 1, strings.Repeat(" ", 1<<20): 0} {
		nodes := new(goneNodes)
		a := &api{Deps: Deps{Nodes: nodes, Ways: new(Ways)}}
		body := &countedBody{Reader: strings.NewReader(text), forwards: &a.Ways.forwards}
		r := httptest.NewRequest(http.MethodPut, httpapi.DrivesPath+"/x/position", body)
		if err := a.forwardDrive(httptest.NewRecorder(), r, new(httpapi.Caller), netip.MustParseAddrPort("192.0.2.1:80")); err == nil {
			t.Error("a node that is gone answered")
		}
		if body.counted > 0 || nodes.asked != wantAsked || body.read > 2*maxPositionBody {
			t.Errorf("%d bytes of %d were read while %d requests were counted; another node was asked %d times, want %d", body.read, len(text), body.counted, nodes.asked, wantAsked)
		}
		if n := a.Ways.forwards.open.Load(); n != 0 {
			t.Errorf("%d requests are still counted", n)
		}
	}
}
