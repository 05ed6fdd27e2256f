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

// caller is the identified sender of a request.
type caller struct {
	account *mapdata.Account // nil: a guest
	session *mapdata.Session // nil: a guest or an API token
	client  netip.Addr
}

// id returns the caller's account id; zero for a guest.
func (c *caller) id() mapdata.AccountID {
	if c.account == nil {
		return mapdata.AccountID{}
	}
	return c.account.ID
}

func (c *caller) tier() mapdata.Tier {
	if c.account == nil {
		return mapdata.TierGuest
	}
	return c.account.Tier
}

// isCurator reports whether the caller sees entities that votes hide (D9.5).
func (c *caller) isCurator() bool { return c.account != nil && c.account.MayReview() }

// tenantName returns the name from which upstreams' tenant keys are derived (D8.2). It is different for each caller.
func (c *caller) tenantName() string {
	switch {
	case c.session != nil:
		return "session " + c.session.ID
	case c.account != nil:
		return "account " + c.account.ID.String()
	}
	return "client " + c.client.String()
}

// wrap makes an http.HandlerFunc of a route: it admits the caller, calls the handler, writes its error, and recovers a panic.
func (a *api) wrap(r route) http.HandlerFunc {
	deprecated := a.deprecationsOf(r)
	return func(w http.ResponseWriter, req *http.Request) {
		start := a.Now()
		if len(deprecated) > 0 {
			announceDeprecations(w.Header(), req, deprecated)
		}
		rec := recorder{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			rec.endTurn()
			rec.hold.Release()
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p) // net/http aborts the response on this value
				}
				a.Log.Error("handler failed", "route", r.path, "panic", p, "stack", string(debug.Stack()))
				if !rec.wrote {
					writeProblem(&rec, req, internalProblem())
				}
			}
			if a.Observe != nil {
				a.Observe(r.path, rec.status, a.Now().Sub(start))
			}
		}()
		body := watchBody(req)
		c, err := a.admit(&rec, req, r)
		if err == nil {
			err = r.handle(&rec, withAuditVia(req, r.class), c)
		}
		if err = body.refusal(err); err != nil {
			a.writeError(&rec, req, r, err)
		}
	}
}

// withAuditVia marks the context with the way a request came in, for the audit log. Reads write no audit entries.
func withAuditVia(r *http.Request, c class) *http.Request {
	switch c {
	case classAccount, classSignIn:
		return r.WithContext(mapdata.WithVia(r.Context(), mapdata.ViaAPI))
	case classPage:
		return r.WithContext(mapdata.WithVia(r.Context(), mapdata.ViaPage))
	case classOpen, classRead, classPageRead, classRoute, classDrive, classNode, classVote, classReport, classPush:
	}
	return r
}

// admit identifies the caller and checks the route's class and Who.
func (a *api) admit(w http.ResponseWriter, r *http.Request, rt route) (*caller, error) {
	c := &caller{client: a.callerAddr(r, rt)}
	switch rt.class {
	case classOpen, classPush, classPage, classNode:
		return c, nil
	case classDrive:
		a.allowOrigin(w, r)
		return c, nil
	case classRead, classPageRead, classRoute:
		if rt.class != classPageRead {
			a.allowOrigin(w, r)
		}
		if a.Loaded != nil && !a.Loaded() { // an answer from an empty index would be wrong
			return nil, loadingProblem()
		}
		if err := a.identify(r, c, true); err != nil {
			return nil, err
		}
		if rt.path == drivesPath {
			return c, nil // a session that continues a lost one is not refused: boundDrive checks that
		}
		if rt.class == classRoute {
			return c, a.peekRoutes(c)
		}
		if err := a.limitReads(w, c); err != nil {
			return nil, err
		}
		if c.session != nil {
			a.awaitVote(r)
		}
		return c, nil
	}
	if err := a.crossOrigin.Check(r); err != nil {
		return nil, crossOriginError()
	}
	if err := a.identify(r, c, false); err != nil {
		return nil, err
	}
	if rt.class == classSignIn {
		return c, nil
	}
	if c.session == nil {
		return nil, mapdata.Describe(mapdata.ErrUnauthenticated, "Sign in first: POST /v2/auth/email, then /v2/auth/verify.")
	}
	if err := rt.who.Admit(c.account, c.session); err != nil {
		return nil, err
	}
	if rt.class == classReport {
		if a.Loaded != nil && !a.Loaded() { // an entity that is on the map already would be reported again
			return nil, loadingProblem()
		}
		return c, a.limitAccount(c, ratelimit.Reports, a.Limits.Reports, "reports of this account")
	}
	if rt.class == classVote {
		return c, a.limitAccount(c, ratelimit.Votes, a.Limits.Votes, "votes of this account")
	}
	return c, a.limitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account")
}

// crossOriginError returns the error for a write from another site's page.
func crossOriginError() error {
	return mapdata.Describe(mapdata.ErrForbidden, "This request comes from another site's page and is refused.")
}

// limitAccount counts one request of a signed-in caller against a limit.
func (a *api) limitAccount(c *caller, class ratelimit.Class, perMinute int, what string) error {
	if d := a.Buckets.Allow(ratelimit.AccountKey(class, c.account.ID), ratelimit.PerMinute(perMinute), 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: what}
	}
	return nil
}

// identify looks up the session of the cookie, or the API token if the route accepts tokens. An invalid cookie makes the
// caller a guest; an invalid token is an error, because a program would not notice that it is treated as a guest.
func (a *api) identify(r *http.Request, c *caller, tokens bool) error {
	if header := r.Header.Get("Authorization"); header != "" && tokens {
		token, ok := strings.CutPrefix(header, "Bearer ")
		if !ok {
			return mapdata.Describe(mapdata.ErrUnauthenticated, "Authorization takes «Bearer» and an API token (wsk_…).")
		}
		account, err := a.Accounts.AuthenticateToken(r.Context(), token)
		if errors.Is(err, mapdata.ErrNotFound) || errors.Is(err, mapdata.ErrUnauthenticated) {
			return mapdata.Describe(mapdata.ErrUnauthenticated, "This API token is unknown or revoked.")
		}
		c.account = account
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
	c.session, c.account = session, account
	return err
}

// cookieName returns the name of the session cookie. Browsers accept the prefix __Host- only from this host over HTTPS (D11.2).
func (a *api) cookieName() string { return a.hostCookie("wayside_session") }

// signInCookieName returns the name of the cookie that binds codes to the browser that requested them (D11.10).
func (a *api) signInCookieName() string { return a.hostCookie("wayside_sign_in") }

func (a *api) hostCookie(name string) string {
	if a.https {
		return "__Host-" + name
	}
	return name
}

// limitReads counts one read and sets the rate limit's headers (D4.12).
func (a *api) limitReads(w http.ResponseWriter, c *caller) error {
	limit, key := ratelimit.PerMinute(a.Limits.GuestReads), ratelimit.ClientKey(ratelimit.Reads, c.client)
	if c.account != nil {
		limit, key = ratelimit.PerMinute(a.Limits.AccountReads), ratelimit.AccountKey(ratelimit.Reads, c.account.ID)
	}
	return a.limit(w, limit, key, 1, "reads")
}

// limit counts a request against a limit, and sets the rate limit's headers.
func (a *api) limit(w http.ResponseWriter, limit ratelimit.Limit, key ratelimit.Key, cost int, what string) error {
	if limit.Count == 0 {
		return nil
	}
	decision := a.Buckets.Allow(key, limit, cost, a.Now())
	var buffer [128]byte
	policy := ratelimit.AppendPolicy(buffer[:0], limit)
	text := string(ratelimit.AppendState(policy, decision))
	values := [...]string{text[:len(policy)], text[len(policy):]}
	h := w.Header()
	h[ratelimit.PolicyHeader], h[ratelimit.StateHeader] = values[0:1:1], values[1:2:2] // of capacity 1, so that Add copies them
	if !decision.OK {
		return &mapdata.LimitError{RetryAfter: decision.RetryAfter, What: what}
	}
	return nil
}

// callerAddr returns the address that limits count for a request to a route: another node names the client for which it asks.
func (a *api) callerAddr(r *http.Request, rt route) netip.Addr {
	if rt.class == classNode {
		return clientOf(r)
	}
	return a.clientAddr(r)
}

// clientAddr returns the address that limits count: the peer's, or the rightmost one in X-Forwarded-For that is not a trusted
// proxy.
func (a *api) clientAddr(r *http.Request) netip.Addr {
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
func (a *api) warnOfHop() {
	a.hopWarning.Do(func() {
		a.Log.Warn("a trusted proxy sends an X-Forwarded-For that cannot be read: its clients share one limit. It must be a list of addresses")
	})
}

func (a *api) trusted(addr netip.Addr) bool {
	for _, p := range a.TrustedProxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// writeError writes an error as a problem document, and logs it if it is the service's own failure.
func (a *api) writeError(w *recorder, r *http.Request, rt route, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the client is gone
	}
	p := problemOf(err)
	switch {
	case p.expected: // strangers could fill the log
	case p.Status == http.StatusServiceUnavailable:
		a.Log.Warn("request put off", "route", rt.path, "method", r.Method, "error", err)
	case p.Status >= http.StatusInternalServerError:
		a.Log.Error("request failed", "route", rt.path, "method", r.Method, "error", err)
	}
	if p.Status == http.StatusTooManyRequests && !w.wrote {
		a.slowRefusal(w, r, rt)
	}
	if !w.wrote {
		writeProblem(w, r, p)
	}
}

// recorder records the status of a response.
type recorder struct {
	http.ResponseWriter
	status int
	wrote  bool
	hold   *budget.Hold // memory of the request; nil: none that counts
	turn   func()       // ends the request's turn; nil: it has none
}

// endTurn ends the request's turn, so that the next request can work.
func (w *recorder) endTurn() {
	if w.turn != nil {
		w.turn()
		w.turn = nil
	}
}

func (w *recorder) WriteHeader(status int) {
	w.endTurn() // from now on the handler waits for the client
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	w.endTurn()
	w.wrote = true
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the underlying writer, so that http.ResponseController reaches the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
