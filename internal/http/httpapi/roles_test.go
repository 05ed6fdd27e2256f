package httpapi_test

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
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
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
)

var update = flag.Bool("update", false, "write docs/roles.md anew")

// TestRolesDocument compares docs/roles.md with the table of routes.
func TestRolesDocument(t *testing.T) {
	const name = "../../../docs/roles.md"
	want := rolesPage(public.Table())
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

func rolesPage(routes []httpapi.Route) []byte {
	slices.SortStableFunc(routes, func(a, b httpapi.Route) int { return cmp.Compare(a.Path, b.Path) })
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
			if (r.Class == httpapi.ClassPage) == group.page {
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
	*httpapitest.Service
	guest, other, maintainer, curator, admin, revoked, screen *httpapitest.Browser
}

// roleFixture has one of each object that a path may name, all of one owner.
type roleFixture struct {
	owner   *httpapitest.Browser
	ownerID mapdata.AccountID
	feed    *httpapitest.Registered
	entity  string
	app     string
}

// TestRoutesAdmitByRole requests every route of the table as every role.
func TestRoutesAdmitByRole(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Reports: true})
	c := &roleTest{
		Service: d, guest: d.Browser(), other: d.SignedInAs("other@example.org", mapdata.Driver),
		curator: d.SignedInAs("curator@example.org", mapdata.Curator), admin: d.SignedInAs("admin@example.org", mapdata.Admin),
		maintainer: d.SignedInAs(maintainerEmail, mapdata.Driver), revoked: d.SignedInAs("revoked@example.org", mapdata.Admin),
	}
	c.revoke("revoked@example.org")
	c.screen = c.PairedScreen(c.admin)
	s := c.newFixture()
	for i, rt := range public.Table() {
		t.Run(rt.Method+" "+rt.Path, func(t *testing.T) {
			if strings.HasSuffix(rt.Path, "/sign-out") || strings.HasSuffix(rt.Path, "/end-others") {
				defer c.signInAll(s) // again
			}
			asGuest := ""
			for j, name := range []string{"guest", "revoked", "screen", "other", "curator", "admin", "maintainer", "owner"} {
				b := map[string]*httpapitest.Browser{
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
func wantOutcome(rt httpapi.Route, name string) string {
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
	c.T.Helper()
	a, err := c.DB.AccountByEmail(c.T.Context(), email)
	if err != nil {
		c.T.Fatal(err)
	}
	return a
}

// revoke ends every session of an account, as its owner may do on another device.
func (c *roleTest) revoke(email string) {
	c.T.Helper()
	id := c.account(email).ID
	sessions, err := c.Accounts.Sessions(c.T.Context(), id)
	if err != nil {
		c.T.Fatal(err)
	}
	for _, s := range sessions {
		if err := c.Accounts.EndSession(c.T.Context(), id, s.ID); err != nil {
			c.T.Fatal(err)
		}
	}
}

func (c *roleTest) newFixture() *roleFixture {
	c.T.Helper()
	const email = "owner@example.org"
	s := &roleFixture{owner: c.SignedInAs(email, mapdata.Driver), ownerID: c.account(email).ID}
	s.feed = s.owner.Register(`{"name": "Held", "direction": "push", "visibility": "private"}`)
	c.Publish("Voted", httpapitest.Row("v", "alert.police", 0))
	s.entity, _ = c.guest.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	s.app = s.owner.SubmitApp(nil)
	c.curator.Send(http.MethodPost, "/v2/apps/"+s.app+"/versions/1/approve", "").Want(c.T, http.StatusOK)
	return s
}

// restore recreates the objects that the last request may have deleted or decided on, because curators see no private feed that was
// decided on.
func (c *roleTest) restore(t *testing.T, s *roleFixture) {
	t.Helper()
	id, ok := mapdata.ParseFeedID(s.feed.ID())
	if !ok {
		t.Fatal("the feed has no id")
	}
	defer c.maintain(t, s)
	// Curators see a private feed only while it waits.
	if f, err := c.DB.Feed(t.Context(), id); err != nil || f.ReviewState != mapdata.Pending {
		s.feed = s.owner.Register(`{"name": "Held", "direction": "push", "visibility": "private"}`)
	}
}

// pathValue returns the value of one path parameter.
func (c *roleTest) pathValue(t *testing.T, rt httpapi.Route, part string, s *roleFixture) string {
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
		return c.HeldRegion(t)
	case strings.Contains(rt.Path, "/accounts/{id}"):
		return c.account("other@example.org").ID.String()
	case strings.Contains(rt.Path, "/feeds/{id}"), strings.Contains(rt.Path, "/review/{id}"),
		rt.Method == http.MethodGet && strings.Contains(rt.Path, "/feeds/{token}"):
		return s.feed.ID()
	case strings.Contains(rt.Path, "/feeds/{token}"):
		rotated := s.owner.Send(http.MethodPost, s.feed.Path()+"/rotate-token", "").Want(t, http.StatusOK)
		var fresh struct {
			Token string `json:"push_ingest_token"`
		}
		rotated.Decode(t, &fresh)
		return fresh.Token
	case strings.Contains(rt.Path, "/sessions/{id}"):
		return c.anotherSession("owner@example.org").ID
	case strings.Contains(rt.Path, "/passkeys/{id}"):
		return c.passkeyOf(t, s.ownerID)
	case strings.Contains(rt.Path, "/tokens/{id}"):
		if all, err := c.Accounts.APITokens(t.Context(), s.ownerID); rt.Method == http.MethodGet && err == nil && len(all) > 0 {
			return all[0].ID // an account may have 20
		}
		_, made, err := c.Accounts.CreateAPIToken(t.Context(), s.ownerID, "held")
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
	id, _ := mapdata.ParseFeedID(s.feed.ID())
	maintainer := c.account(maintainerEmail).ID
	_, err := c.DB.UpdateFeed(t.Context(), id, func(f *mapdata.Feed) (mapdata.Side, error) {
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
	if open, err := c.DB.InvitationsTo(t.Context(), "owner@example.org", c.Time()); err != nil || len(open) > 0 {
		return open[0].ID
	}
	by := c.SignedInAs("inviter"+strings.ToLower(rand.Text())+"@example.org", mapdata.Driver)
	f := by.Register(`{"name": "Offered", "direction": "push", "visibility": "private"}`)
	id, _ := mapdata.ParseFeedID(f.ID())
	stored, err := c.DB.Feed(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	i := &mapdata.Invitation{
		ID: strings.ToLower(rand.Text()), Feed: id, What: mapdata.InvitedToMaintain, Email: "owner@example.org", By: stored.Owner,
		At: c.Time().Add(-2 * mapdata.InvitationWindow), ExpiresAt: c.Time().Add(time.Hour),
	}
	if err := c.DB.Invite(t.Context(), i, func(*mapdata.Feed) (mapdata.Side, error) { return mapdata.Side{}, nil }); err != nil {
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
	s.owner.Send(http.MethodPost, "/v2/reports", `{"kind": "alert.hazard.fog", "lat": 12, "lng": 13}`).Decode(t, &made)
	return made.Entity.ID
}

// openComplaint returns a complaint that waits for a curator.
func (c *roleTest) openComplaint(t *testing.T, s *roleFixture) string {
	t.Helper()
	one := mapdata.Complaint{ID: rand.Text(), Source: mapdata.Incidents, ExternalID: "x", Account: s.ownerID, At: c.Time()}
	if err := c.DB.Complain(t.Context(), &one, c.Time().Add(time.Hour), 1); err != nil {
		t.Fatal(err)
	}
	all, _, err := c.DB.Complaints(t.Context(), 1)
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
		ID: strings.ToLower(name), CredentialID: []byte(name), Account: id, Name: "held", Blob: []byte("{}"), CreatedAt: c.Time(),
	}
	answer := mapdata.Challenge{Hash: []byte(name), ExpiresAt: c.Time().Add(time.Minute)}
	if err := c.DB.CreatePasskey(t.Context(), p, answer, mapdata.AuditEntry{At: c.Time()}, nil); err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// pendingCode returns the code of a screen that waits for approval.
func (c *roleTest) pendingCode() string {
	c.T.Helper()
	begun, err := c.Accounts.BeginPairing(c.T.Context(), "x")
	if err != nil {
		c.T.Fatal(err)
	}
	return begun.Code.Shown()
}

// anotherSession makes another session of an account.
func (c *roleTest) anotherSession(email string) *mapdata.Session {
	c.T.Helper()
	link, err := c.Accounts.LoginLink(c.T.Context(), email)
	if err != nil {
		c.T.Fatal(err)
	}
	in, err := c.Accounts.VerifyToken(c.T.Context(), link, account.Browser{Agent: "Elsewhere"})
	if err != nil {
		c.T.Fatal(err)
	}
	return in.Session
}

// signInAll signs in every role whose session has ended.
func (c *roleTest) signInAll(s *roleFixture) {
	c.other, c.curator, c.admin = c.AnotherBrowser("other@example.org"), c.AnotherBrowser("curator@example.org"), c.AnotherBrowser("admin@example.org")
	s.owner, c.maintainer = c.AnotherBrowser("owner@example.org"), c.AnotherBrowser(maintainerEmail)
	c.screen = c.PairedScreen(c.admin)
}

// request sends a request without a valid body, and returns whether the caller was admitted.
func (c *roleTest) request(t *testing.T, rt httpapi.Route, b *httpapitest.Browser, s *roleFixture, from string) string {
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
		body, media = url.Values{"code": {c.pendingCode()}, "answer": {"deny"}}.Encode(), httpapitest.FormType
	case rt.Class == httpapi.ClassPage:
		body, media = "x=", httpapitest.FormType
	case strings.HasSuffix(rt.Path, "/confirm"), strings.HasSuffix(rt.Path, "/dispute"), strings.HasSuffix(rt.Path, "/rotate-token"):
	default:
		body = "{}"
	}
	req, err := http.NewRequestWithContext(t.Context(), rt.Method, c.Server.URL+strings.Join(parts, "/"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", media)
	}
	req.Header.Set("X-Forwarded-For", from)
	keeps := *b.Client
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

// appValue returns the value of a path parameter of apps; for a decision, that is a version that waits for one.
func (c *roleTest) appValue(t *testing.T, rt httpapi.Route, part string, s *roleFixture) string {
	t.Helper()
	if part == "{id}" || rt.Method == http.MethodGet {
		return s.app
	}
	var made struct {
		Version struct{ Number json.Number }
	}
	s.owner.Send(http.MethodPost, "/v2/apps/"+s.app+"/versions", httpapitest.Submission(t, nil)).Want(t, http.StatusCreated).Decode(t, &made)
	return made.Version.Number.String()
}

// installs makes the browser's account install the app.
func (c *roleTest) installs(t *testing.T, b *httpapitest.Browser, app string) {
	t.Helper()
	var who struct {
		Account struct{ Email string }
	}
	b.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK).Decode(t, &who)
	id, _ := mapdata.ParseAppID(app)
	_, err := c.Apps.Configure(t.Context(), c.account(who.Account.Email).ID, id, apps.Change{Config: []byte(`{"token":"t"}`)})
	if err != nil {
		t.Fatal(err)
	}
}
