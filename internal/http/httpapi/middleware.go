package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// Caller is the identified sender of a request.
type Caller struct {
	Account *mapdata.Account // nil: a guest
	Session *mapdata.Session // nil: a guest or an API token
	Client  netip.Addr
}

// ID returns the caller's account id; zero for a guest.
func (c *Caller) ID() mapdata.AccountID {
	if c.Account == nil {
		return mapdata.AccountID{}
	}
	return c.Account.ID
}

// Tier returns the caller's tier.
func (c *Caller) Tier() mapdata.Tier {
	if c.Account == nil {
		return mapdata.TierGuest
	}
	return c.Account.Tier
}

// IsCurator reports whether the caller sees entities that votes hide (D9.5).
func (c *Caller) IsCurator() bool { return c.Account != nil && c.Account.MayReview() }

// TenantName returns the name from which upstreams' tenant keys are derived (D8.2). It is different for each caller.
func (c *Caller) TenantName() string {
	switch {
	case c.Session != nil:
		return "session " + c.Session.ID
	case c.Account != nil:
		return "account " + c.Account.ID.String()
	}
	return "client " + c.Client.String()
}

// wrap makes an http.HandlerFunc of a route: it admits the caller, calls the handler, writes its error, and recovers a panic.
func (a *API) wrap(r Route) http.HandlerFunc {
	deprecated := a.deprecationsOf(r)
	return func(w http.ResponseWriter, req *http.Request) {
		start := a.Now()
		if len(deprecated) > 0 {
			announceDeprecations(w.Header(), req, deprecated)
		}
		rec := Recorder{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			rec.EndTurn()
			rec.hold.Release()
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p) // net/http aborts the response on this value
				}
				a.Log.Error("handler failed", "route", r.Path, "panic", p, "stack", string(debug.Stack()))
				if !rec.wrote {
					writeProblem(&rec, req, internalProblem())
				}
			}
			if a.Observe != nil {
				a.Observe(r.Path, rec.status, a.Now().Sub(start))
			}
		}()
		body := watchBody(req)
		c, err := a.admit(&rec, req, r)
		if err == nil {
			err = r.Handle(&rec, withAuditVia(req, r.Class), c)
		}
		if err = body.refusal(err); err != nil {
			a.writeError(&rec, req, r, err)
		}
	}
}

// withAuditVia marks the context with the way a request came in, for the audit log. Reads write no audit entries.
func withAuditVia(r *http.Request, c Class) *http.Request {
	switch c {
	case ClassAccount, ClassSignIn:
		return r.WithContext(mapdata.WithVia(r.Context(), mapdata.ViaAPI))
	case ClassPage:
		return r.WithContext(mapdata.WithVia(r.Context(), mapdata.ViaPage))
	case ClassOpen, ClassRead, ClassPageRead, ClassRoute, ClassDrive, ClassNode, ClassVote, ClassReport, ClassPush:
	}
	return r
}

// admit identifies the caller and checks the route's class and Who.
func (a *API) admit(w http.ResponseWriter, r *http.Request, rt Route) (*Caller, error) {
	c := &Caller{Client: a.callerAddr(r, rt)}
	switch rt.Class {
	case ClassOpen, ClassPush, ClassPage, ClassNode:
		return c, nil
	case ClassDrive:
		a.allowOrigin(w, r)
		return c, nil
	case ClassRead, ClassPageRead, ClassRoute:
		if rt.Class != ClassPageRead {
			a.allowOrigin(w, r)
		}
		if a.Loaded != nil && !a.Loaded() { // an answer from an empty index would be wrong
			return nil, loadingProblem()
		}
		if err := a.Identify(r, c, true); err != nil {
			return nil, err
		}
		if rt.Path == DrivesPath {
			return c, nil // a session that continues a lost one is not refused: boundDrive checks that
		}
		if rt.Class == ClassRoute {
			return c, a.PeekRoutes(c)
		}
		if err := a.limitReads(w, c); err != nil {
			return nil, err
		}
		if c.Session != nil {
			a.awaitVote(r)
		}
		return c, nil
	}
	if err := a.crossOrigin.Check(r); err != nil {
		return nil, CrossOriginError()
	}
	if err := a.Identify(r, c, false); err != nil {
		return nil, err
	}
	if rt.Class == ClassSignIn {
		return c, nil
	}
	if c.Session == nil {
		return nil, mapdata.Describe(mapdata.ErrUnauthenticated, "Sign in first: POST /v2/auth/email, then /v2/auth/verify.")
	}
	if err := rt.Who.Admit(c.Account, c.Session); err != nil {
		return nil, err
	}
	if rt.Class == ClassReport {
		if a.Loaded != nil && !a.Loaded() { // an entity that is on the map already would be reported again
			return nil, loadingProblem()
		}
		return c, a.LimitAccount(c, ratelimit.Reports, a.Limits.Reports, "reports of this account")
	}
	if rt.Class == ClassVote {
		return c, a.LimitAccount(c, ratelimit.Votes, a.Limits.Votes, "votes of this account")
	}
	return c, a.LimitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account")
}

// CrossOriginError returns the error for a write from another site's page.
func CrossOriginError() error {
	return mapdata.Describe(mapdata.ErrForbidden, "This request comes from another site's page and is refused.")
}

// Identify looks up the session of the cookie, or the API token if the route accepts tokens. An invalid cookie makes the
// caller a guest; an invalid token is an error, because a program would not notice that it is treated as a guest.
func (a *API) Identify(r *http.Request, c *Caller, tokens bool) error {
	if header := r.Header.Get("Authorization"); header != "" && tokens {
		token, ok := strings.CutPrefix(header, "Bearer ")
		if !ok {
			return mapdata.Describe(mapdata.ErrUnauthenticated, "Authorization takes «Bearer» and an API token (wsk_…).")
		}
		account, err := a.Accounts.AuthenticateToken(r.Context(), token)
		if errors.Is(err, mapdata.ErrNotFound) || errors.Is(err, mapdata.ErrUnauthenticated) {
			return mapdata.Describe(mapdata.ErrUnauthenticated, "This API token is unknown or revoked.")
		}
		c.Account = account
		return err
	}
	cookie, err := r.Cookie(a.cookieName())
	if err != nil {
		return nil //nolint:nilerr // no cookie: a guest
	}
	session, account, err := a.Accounts.Authenticate(r.Context(), cookie.Value)
	if errors.Is(err, mapdata.ErrNotFound) || errors.Is(err, mapdata.ErrUnauthenticated) {
		return nil
	}
	c.Session, c.Account = session, account
	return err
}

// cookieName returns the name of the session cookie. Browsers accept the prefix __Host- only from this host over HTTPS (D11.2).
func (a *API) cookieName() string { return a.hostCookie("wayside_session") }

// signInCookieName returns the name of the cookie that binds codes to the browser that requested them (D11.10).
func (a *API) signInCookieName() string { return a.hostCookie("wayside_sign_in") }

func (a *API) hostCookie(name string) string {
	if a.https {
		return "__Host-" + name
	}
	return name
}

// callerAddr returns the address that limits count for a request to a route: another node names the client for which it asks.
func (a *API) callerAddr(r *http.Request, rt Route) netip.Addr {
	if rt.Class == ClassNode {
		return clientOf(r)
	}
	return a.clientAddr(r)
}

// clientAddr returns the address that limits count: the peer's, or the rightmost one in X-Forwarded-For that is not a trusted
// proxy.
func (a *API) clientAddr(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap()
	if len(a.TrustedProxies) == 0 || !a.trusted(addr) {
		return addr
	}
	header := r.Header.Values("X-Forwarded-For")
	if len(header) == 0 {
		return addr // a request of the proxy itself, such as a health check
	}
	hops := strings.Split(strings.Join(header, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			a.warnOfHop()
			return addr
		}
		addr = hop
		if !a.trusted(addr) {
			return addr
		}
	}
	return addr
}

// parseHop parses one address of X-Forwarded-For. Some proxies add the port, brackets or a zone.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		var withPort netip.AddrPort
		if withPort, err = netip.ParseAddrPort(text); err != nil {
			return netip.Addr{}, false
		}
		addr = withPort.Addr()
	}
	return addr.Unmap().WithZone(""), true
}

// warnOfHop logs once that a trusted proxy sent an unreadable X-Forwarded-For, because all its clients then share the proxy's
// limits.
func (a *API) warnOfHop() {
	a.hopWarning.Do(func() {
		a.Log.Warn("a trusted proxy sends an X-Forwarded-For that cannot be read: its clients share one limit. It must be a list of addresses")
	})
}

func (a *API) trusted(addr netip.Addr) bool {
	for _, p := range a.TrustedProxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// writeError writes an error as a problem document, and logs it if it is the service's own failure.
func (a *API) writeError(w *Recorder, r *http.Request, rt Route, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the client is gone
	}
	p := problemOf(err)
	switch {
	case p.Expected: // strangers could fill the log
	case p.Status == http.StatusServiceUnavailable:
		a.Log.Warn("request put off", "route", rt.Path, "method", r.Method, "error", err)
	case p.Status >= http.StatusInternalServerError:
		a.Log.Error("request failed", "route", rt.Path, "method", r.Method, "error", err)
	}
	if p.Status == http.StatusTooManyRequests && !w.wrote {
		a.slowRefusal(w, r, rt)
	}
	if !w.wrote {
		writeProblem(w, r, p)
	}
}

// Recorder records the status of a response.
type Recorder struct {
	http.ResponseWriter
	status int
	wrote  bool
	hold   *budget.Hold // memory of the request; nil: none that counts
	turn   func()       // ends the request's turn; nil: it has none
}

// EndTurn ends the request's turn, so that the next request can work.
func (w *Recorder) EndTurn() {
	if w.turn != nil {
		w.turn()
		w.turn = nil
	}
}

// WriteHeader records the status, and ends the request's turn.
func (w *Recorder) WriteHeader(status int) {
	w.EndTurn() // from now on the handler waits for the client
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

// Write ends the request's turn.
func (w *Recorder) Write(p []byte) (int, error) {
	w.EndTurn()
	w.wrote = true
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the underlying writer, so that http.ResponseController reaches the connection.
func (w *Recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ClientHeader contains the client's address for another node, whose limits count it. It is believed only from nodes.
const ClientHeader = "Wayside-Client"

// clientOf returns the address of the client whose request another node forwards.
func clientOf(r *http.Request) netip.Addr {
	addr, _ := netip.ParseAddr(r.Header.Get(ClientHeader)) // zero: all such clients are counted together
	return addr
}
