package httpapi_test

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

var update = flag.Bool("update", false, "write docs/roles.md anew")

// TestRolesDocument compares docs/roles.md with the table of routes.
func TestRolesDocument(t *testing.T) {
	const name = "../../../docs/roles.md"
	want := rolesPage(httpapi.RouteTable())
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/roles.md is not the table of routes; go test ./internal/http/httpapi -run TestRolesDocument -update writes it anew")
	}
}

func rolesPage(routes []httpapi.RouteLine) []byte {
	slices.SortStableFunc(routes, func(a, b httpapi.RouteLine) int { return cmp.Compare(a.Path, b.Path) })
	var out bytes.Buffer
	out.WriteString(`# Who may do what

Made of the table of routes; a test holds this page to it, and another one tries every line as a guest, the owner, another
account, a maintainer of the owner's feed, a curator, an admin, the screen of an admin and somebody whose session was revoked.

| who | is |
| --- | --- |
| guest | anybody, signed in or not |
| push token | anyone who holds the feed's push token, which is in the address |
| account | anyone who is signed in; an API token where the API says that it takes one |
| owner | the account whose thing the address names, for a feed its maintainers too; to others there is no such thing (404) |
| author | the account that made what the address names; to others there is no such thing (404) |
| owner alone | the owner of the feed; its maintainers are refused (403) |
| owner, curator | the owner, maintainers, curators and admins; of what is public, others see what everybody may |
| curator | curators and admins; others are refused (403) |
| admin | admins; others are refused (403) |

Guests are asked to sign in (401); on a page they are led to where they do. Writes from other sites' pages are refused, except
where a push token stands in the address. Operators with a shell on the machine have the commands of ` + "`wayside account`" + ` and
` + "`wayside feed`" + ` besides.
`)
	out.WriteString(`
The column *screen* says what the session of a paired screen is enough for: what guests may do, and with the rights of its
account what says ` + "`yes`" + `. Everything else is refused (403, ` + "`sign-in-required`" + `). Of the saved places a screen adds and changes
any with ` + "`PUT /v2/account/places`" + `, and removes one that was there, but not several together and not the last one.
`)
	for _, group := range []struct {
		title string
		page  bool
	}{{"Pages", true}, {"The API", false}} {
		fmt.Fprintf(&out, "\n## %s\n\n| address | who | screen |\n| --- | --- | --- |\n", group.title)
		for _, r := range routes {
			if r.Page == group.page {
				fmt.Fprintf(&out, "| %s `%s` | %s | %s |\n", r.Method, strings.TrimSuffix(r.Path, "{$}"), r.Who, screenColumn(r.Who))
			}
		}
	}
	return out.Bytes()
}

// screenColumn returns whether the session of a paired screen is enough, as yes or no.
func screenColumn(who account.Who) string {
	if who.Screens() {
		return "yes"
	}
	return "no"
}

// roleTest is a service with a browser for each role.
type roleTest struct {
	*testService
	guest, other, maintainer, curator, admin, revoked, screen *browser
}

// roleFixture has one of each object that a path may name, all of one owner.
type roleFixture struct {
	owner   *browser
	ownerID mapdata.AccountID
	feed    *registered
	entity  string
	app     string
}

// TestRoutesAdmitByRole requests every route of the table as every role.
func TestRoutesAdmitByRole(t *testing.T) {
	t.Parallel()
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, reports: true})
	c := &roleTest{
		testService: d, guest: d.browser(), other: d.signedInAs("other@example.org", mapdata.Driver),
		curator: d.signedInAs("curator@example.org", mapdata.Curator), admin: d.signedInAs("admin@example.org", mapdata.Admin),
		maintainer: d.signedInAs(maintainerEmail, mapdata.Driver), revoked: d.signedInAs("revoked@example.org", mapdata.Admin),
	}
	c.revoke("revoked@example.org")
	c.screen = c.pairedScreen(c.admin)
	s := c.newFixture()
	for i, rt := range httpapi.RouteTable() {
		t.Run(rt.Method+" "+rt.Path, func(t *testing.T) {
			if strings.HasSuffix(rt.Path, "/sign-out") || strings.HasSuffix(rt.Path, "/end-others") {
				defer c.signInAll(s) // again
			}
			asGuest := ""
			for j, name := range []string{"guest", "revoked", "screen", "other", "curator", "admin", "maintainer", "owner"} {
				b := map[string]*browser{
					"guest": c.guest, "revoked": c.revoked, "other": c.other, "curator": c.curator, "admin": c.admin, "owner": s.owner,
					"screen": c.screen, "maintainer": c.maintainer,
				}[name]
				got := c.request(t, rt, b, s, fmt.Sprintf("192.0.%d.%d", i, j+1))
				if rt.Who == account.ForGuests || rt.Who == account.ForTokens {
					asGuest = cmp.Or(asGuest, got)
					if got != asGuest || got == "forbidden" {
						t.Errorf("%s: %s, a guest %s", name, got, asGuest)
					}
				} else if want := wantOutcome(rt, name); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		})
	}
}

// wantOutcome returns the expected outcome of a request by a role.
func wantOutcome(rt httpapi.RouteLine, name string) string {
	who := rt.Who
	if name == "guest" || name == "revoked" {
		return "sign in"
	}
	if name == "screen" && !who.Screens() {
		return "sign-in-required"
	}
	if ofFeed := strings.Contains(rt.Path, "/feeds/{id}") || strings.Contains(rt.Path, "/feeds/{token}"); ofFeed && name == "maintainer" {
		switch who {
		case account.ForOwnersAlone:
			return "forbidden"
		case account.ForOwners, account.ForOwnersAndCurators:
			return "in"
		default: // as for every account
		}
	}
	reviews := name == "curator" || name == "admin"
	switch {
	case (who == account.ForOwners || who == account.ForOwnersAlone || who == account.ForAuthors) && name != "owner", who == account.ForOwnersAndCurators && name != "owner" && !reviews:
		return "not found"
	case who == account.ForCurators && !reviews, who == account.ForAdmins && name != "admin":
		return "forbidden"
	}
	return "in"
}

func (c *roleTest) account(email string) *mapdata.Account {
	c.t.Helper()
	a, err := c.db.AccountByEmail(c.t.Context(), email)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// revoke ends every session of an account, as its owner may do on another device.
func (c *roleTest) revoke(email string) {
	c.t.Helper()
	id := c.account(email).ID
	sessions, err := c.accounts.Sessions(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range sessions {
		if err := c.accounts.EndSession(c.t.Context(), id, s.ID); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *roleTest) newFixture() *roleFixture {
	c.t.Helper()
	const email = "owner@example.org"
	s := &roleFixture{owner: c.signedInAs(email, mapdata.Driver), ownerID: c.account(email).ID}
	s.feed = s.owner.register(`{"name": "Held", "direction": "push", "visibility": "private"}`)
	c.publish("Voted", row("v", "alert.police", 0))
	s.entity, _ = c.guest.read(nearbyPath).Entities[0]["id"].(string)
	s.app = s.owner.submitApp(nil)
	c.curator.send(http.MethodPost, "/v2/apps/"+s.app+"/versions/1/approve", "").want(c.t, http.StatusOK)
	return s
}

// restore recreates the objects that the last request may have deleted or decided on, because curators see no private feed that was
// decided on.
func (c *roleTest) restore(t *testing.T, s *roleFixture) {
	t.Helper()
	id, ok := mapdata.ParseFeedID(s.feed.id())
	if !ok {
		t.Fatal("the feed has no id")
	}
	defer c.maintain(t, s)
	// Curators see a private feed only while it waits.
	if f, err := c.db.Feed(t.Context(), id); err != nil || f.ReviewState != mapdata.Pending {
		s.feed = s.owner.register(`{"name": "Held", "direction": "push", "visibility": "private"}`)
	}
}

// pathValue returns the value of one path parameter.
func (c *roleTest) pathValue(t *testing.T, rt httpapi.RouteLine, part string, s *roleFixture) string {
	t.Helper()
	switch {
	case part == "{slug}":
		return "charging"
	case strings.Contains(rt.Path, "/apps/own/{id}"), strings.Contains(rt.Path, "/apps/review/{id}"):
		return s.app
	case strings.Contains(rt.Path, "/apps/{id}"):
		return c.appValue(t, rt, part, s)
	case strings.Contains(rt.Path, "/reports/{id}"):
		return c.openReport(t, s)
	case strings.Contains(rt.Path, "/complaints/{id}"):
		return c.openComplaint(t, s)
	case part == "{account}":
		return c.account(maintainerEmail).ID.String()
	case strings.Contains(rt.Path, "/invitations/{id}"):
		return c.openInvitation(t)
	case strings.Contains(rt.Path, "/regions/{id}"):
		return c.heldRegion(t)
	case strings.Contains(rt.Path, "/accounts/{id}"):
		return c.account("other@example.org").ID.String()
	case strings.Contains(rt.Path, "/feeds/{id}"), strings.Contains(rt.Path, "/review/{id}"),
		rt.Method == http.MethodGet && strings.Contains(rt.Path, "/feeds/{token}"):
		return s.feed.id()
	case strings.Contains(rt.Path, "/feeds/{token}"):
		rotated := s.owner.send(http.MethodPost, s.feed.path()+"/rotate-token", "").want(t, http.StatusOK)
		var fresh struct {
			Token string `json:"push_ingest_token"`
		}
		rotated.decode(t, &fresh)
		return fresh.Token
	case strings.Contains(rt.Path, "/sessions/{id}"):
		return c.anotherSession("owner@example.org").ID
	case strings.Contains(rt.Path, "/passkeys/{id}"):
		return c.passkeyOf(t, s.ownerID)
	case strings.Contains(rt.Path, "/tokens/{id}"):
		if all, err := c.accounts.APITokens(t.Context(), s.ownerID); rt.Method == http.MethodGet && err == nil && len(all) > 0 {
			return all[0].ID // an account may have 20
		}
		_, made, err := c.accounts.CreateAPIToken(t.Context(), s.ownerID, "held")
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	case strings.Contains(rt.Path, "/entities/{id}"):
		return s.entity
	case strings.Contains(rt.Path, "/sources/{id}"):
		return "incidents"
	}
	known := map[string]string{"{file}": "alert.police.svg", "{version}": "x", "{z}": "0", "{x}": "0", "{y}": "0", "{$}": "", "{profile}": "driving", "{coordinates}": "9.19,45.46;9.20,45.47", "{hash}": "x"}
	if part == "{user_code}" {
		return c.pendingCode()
	}
	value, ok := known[part]
	if !ok {
		t.Fatalf("the test knows no value for %s", part)
	}
	return value
}

const maintainerEmail = "maintainer@example.org"

// maintain makes the maintainer one again.
func (c *roleTest) maintain(t *testing.T, s *roleFixture) {
	t.Helper()
	id, _ := mapdata.ParseFeedID(s.feed.id())
	maintainer := c.account(maintainerEmail).ID
	_, err := c.db.UpdateFeed(t.Context(), id, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Maintainers = []mapdata.AccountID{maintainer}
		return mapdata.Side{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// openInvitation returns an invitation to the owner of the fixture.
func (c *roleTest) openInvitation(t *testing.T) string {
	t.Helper()
	if open, err := c.db.InvitationsTo(t.Context(), "owner@example.org", c.time()); err != nil || len(open) > 0 {
		return open[0].ID
	}
	by := c.signedInAs("inviter"+strings.ToLower(rand.Text())+"@example.org", mapdata.Driver)
	f := by.register(`{"name": "Offered", "direction": "push", "visibility": "private"}`)
	id, _ := mapdata.ParseFeedID(f.id())
	stored, err := c.db.Feed(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	i := &mapdata.Invitation{
		ID: strings.ToLower(rand.Text()), Feed: id, What: mapdata.InvitedToMaintain, Email: "owner@example.org", By: stored.Owner,
		At: c.time().Add(-2 * mapdata.InvitationWindow), ExpiresAt: c.time().Add(time.Hour),
	}
	if err := c.db.Invite(t.Context(), i, func(*mapdata.Feed) (mapdata.Side, error) { return mapdata.Side{}, nil }); err != nil {
		t.Fatal(err)
	}
	return i.ID
}

// openReport returns a report of the owner.
func (c *roleTest) openReport(t *testing.T, s *roleFixture) string {
	t.Helper()
	var made struct {
		Entity struct {
			ID string `json:"id"`
		} `json:"entity"`
	}
	s.owner.send(http.MethodPost, "/v2/reports", `{"kind": "alert.hazard.fog", "lat": 12, "lng": 13}`).decode(t, &made)
	return made.Entity.ID
}

// openComplaint returns a complaint that waits for a curator.
func (c *roleTest) openComplaint(t *testing.T, s *roleFixture) string {
	t.Helper()
	one := mapdata.Complaint{ID: rand.Text(), Source: mapdata.Incidents, ExternalID: "x", Account: s.ownerID, At: c.time()}
	if err := c.db.Complain(t.Context(), &one, c.time().Add(time.Hour), 1); err != nil {
		t.Fatal(err)
	}
	all, _, err := c.db.Complaints(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return all[0].ID
}

// passkeyOf stores another passkey of an account.
func (c *roleTest) passkeyOf(t *testing.T, id mapdata.AccountID) string {
	t.Helper()
	name := rand.Text()
	p := &mapdata.Passkey{
		ID: strings.ToLower(name), CredentialID: []byte(name), Account: id, Name: "held", Blob: []byte("{}"), CreatedAt: c.time(),
	}
	answer := mapdata.Challenge{Hash: []byte(name), ExpiresAt: c.time().Add(time.Minute)}
	if err := c.db.CreatePasskey(t.Context(), p, answer, mapdata.AuditEntry{At: c.time()}, nil); err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// pendingCode returns the code of a screen that waits for approval.
func (c *roleTest) pendingCode() string {
	c.t.Helper()
	begun, err := c.accounts.BeginPairing(c.t.Context(), "x")
	if err != nil {
		c.t.Fatal(err)
	}
	return begun.Code.Shown()
}

// anotherSession makes another session of an account.
func (c *roleTest) anotherSession(email string) *mapdata.Session {
	c.t.Helper()
	link, err := c.accounts.LoginLink(c.t.Context(), email)
	if err != nil {
		c.t.Fatal(err)
	}
	in, err := c.accounts.VerifyToken(c.t.Context(), link, account.Browser{Agent: "Elsewhere"})
	if err != nil {
		c.t.Fatal(err)
	}
	return in.Session
}

// signInAll signs in every role whose session has ended.
func (c *roleTest) signInAll(s *roleFixture) {
	c.other, c.curator, c.admin = c.anotherBrowser("other@example.org"), c.anotherBrowser("curator@example.org"), c.anotherBrowser("admin@example.org")
	s.owner, c.maintainer = c.anotherBrowser("owner@example.org"), c.anotherBrowser(maintainerEmail)
	c.screen = c.pairedScreen(c.admin)
}

// pairedScreen returns a screen that a phone has signed in.
func (d *testService) pairedScreen(phone *browser) *browser {
	d.t.Helper()
	begun, err := d.accounts.BeginPairing(d.t.Context(), "Mozilla/5.0 (X11; Linux) QtCarBrowser Safari/537.36 Tesla/2026.40")
	if err != nil {
		d.t.Fatal(err)
	}
	phone.send(http.MethodPost, "/v2/auth/pair/"+begun.Code.Shown()+"/approve", "").want(d.t, http.StatusOK)
	screen := d.browser()
	screen.send(http.MethodPost, "/v2/auth/pair/token", `{"device_code": "`+begun.Secret+`"}`).want(d.t, http.StatusOK)
	return screen
}

// request sends a request without a valid body, and returns whether the caller was admitted.
func (c *roleTest) request(t *testing.T, rt httpapi.RouteLine, b *browser, s *roleFixture, from string) string {
	t.Helper()
	c.restore(t, s)
	if strings.Contains(rt.Path, "/account/apps/") && b != c.guest && b != c.revoked {
		c.installs(t, b, s.app)
	}
	var parts []string
	for part := range strings.SplitSeq(rt.Path, "/") {
		if strings.HasPrefix(part, "{") {
			part = url.PathEscape(c.pathValue(t, rt, part, s))
		}
		parts = append(parts, part)
	}
	body, media := "", "application/json"
	switch {
	case rt.Method == http.MethodGet || rt.Method == http.MethodDelete:
	case rt.Path == "/pair":
		body, media = url.Values{"code": {c.pendingCode()}, "answer": {"deny"}}.Encode(), formType
	case rt.Page:
		body, media = "x=", formType
	case strings.HasSuffix(rt.Path, "/confirm"), strings.HasSuffix(rt.Path, "/dispute"), strings.HasSuffix(rt.Path, "/rotate-token"):
	default:
		body = "{}"
	}
	req, err := http.NewRequestWithContext(t.Context(), rt.Method, c.server.URL+strings.Join(parts, "/"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", media)
	}
	req.Header.Set("X-Forwarded-For", from)
	keeps := *b.client
	keeps.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	keeps.Jar = &readOnlyJar{keeps.Jar}
	resp, err := keeps.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // a stream's body does not end
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return "sign in"
	case http.StatusForbidden:
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(body, []byte("/docs#problem-sign-in-required")) || bytes.Contains(body, []byte("This screen was signed in from a phone")) {
			return "sign-in-required"
		}
		return "forbidden"
	case http.StatusNotFound:
		return "not found"
	case http.StatusTooManyRequests, http.StatusInternalServerError:
		t.Fatalf("%s", resp.Status)
	case http.StatusSeeOther:
		if strings.HasPrefix(resp.Header.Get("Location"), "/sign-in") {
			return "sign in"
		}
	}
	return "in"
}

// readOnlyJar sends cookies but stores none, so that no request signs a role out.
type readOnlyJar struct{ http.CookieJar }

func (*readOnlyJar) SetCookies(*url.URL, []*http.Cookie) {}
