package httpapitest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// Page requests a page in English.
func (b *Browser) Page(path string, status int) string {
	b.T.Helper()
	return b.Send(http.MethodGet, path, "", "Accept-Language", "en").Want(b.T, status).Body
}

// NewFeed registers a feed on the page, and returns its path and, for a push feed, its token.
func (b *Browser) NewFeed(fields url.Values) (address, token string) {
	b.T.Helper()
	answer := b.Form("/feeds/new", fields).Want(b.T, http.StatusOK)
	if !strings.HasSuffix(answer.Request.URL.Path, "/token") {
		return answer.Request.URL.Path, ""
	}
	token = regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(answer.Body)
	address = regexp.MustCompile(`/feeds/[0-9a-f-]{36}`).FindString(answer.Body)
	if token == "" || address == "" {
		b.T.Fatalf("no token or no address: %s", answer.Body)
	}
	return address, token
}

// Contains fails the test unless a body contains all texts.
func Contains(t *testing.T, body string, all ...string) {
	t.Helper()
	text := TextOf(t, body)
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q: %s", want, text)
		}
	}
}

// TextOf returns a page's text without its markup.
func TextOf(t *testing.T, body string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			out.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// FeedAddresses returns the addresses of the feeds' pages that the list of feeds links to.
func (b *Browser) FeedAddresses() []string {
	b.T.Helper()
	all := regexp.MustCompile(`/feeds/[0-9a-f-]{36}`).FindAllString(b.Page("/feeds", 200), -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// PollFails records a failed poll of a feed.
func (d *Service) PollFails(address string, failures int, active bool, a mapdata.Attempt) {
	d.T.Helper()
	id, _ := mapdata.ParseFeedID(strings.TrimPrefix(address, "/feeds/"))
	a.At = d.Time()
	err := d.DB.PollFailed(d.T.Context(), &mapdata.PollFailed{
		Feed: id, Active: active, Attempt: a,
		Polling: mapdata.Polling{NextFetchAt: d.Time().Add(time.Hour), LastFetchedAt: d.Time(), LastOutcome: a.Outcome, LastError: "What the API says.", ConsecutiveFailures: failures},
	})
	if err != nil {
		d.T.Fatal(err)
	}
}

// Bridge stores rows of a feed as a poll of a document in another format does, each with a line and an end beside it.
func (d *Service) Bridge(id string, beside ingest.Beside, rows ...string) {
	d.T.Helper()
	feedID, _ := mapdata.ParseFeedID(id)
	f, err := d.DB.Feed(d.T.Context(), feedID)
	if err != nil {
		d.T.Fatal(err)
	}
	_, err = d.ingester.Snapshot(d.T.Context(), feedID, ingest.Snapshot{
		Hash: []byte(fmt.Sprint(beside, rows)), At: d.Time(), Lease: mapdata.Lease{Generation: f.Generation},
		Source: func(_ context.Context, yield func([]byte, ingest.Beside) error) (again time.Time, err error) {
			for _, row := range rows {
				if err := yield([]byte(row), beside); err != nil {
					return again, err
				}
			}
			return again, nil
		},
		Finish: func(r ingest.Result) (ingest.Record, error) {
			return ingest.Record{Polling: mapdata.Polling{LastRows: r.Rows}, Attempt: mapdata.Attempt{At: d.Time(), OK: true, Outcome: mapdata.OutcomeOK}}, nil
		},
	})
	if err != nil {
		d.T.Fatal(err)
	}
	d.WaitForIndex()
}

// Invitations is the answer with invitations.
type Invitations struct {
	Invitations []struct{ ID, To, Email, By string } `json:"invitations"`
	Maintainers []struct{ ID, Email string }         `json:"maintainers"`
}

// Invites sends an invitation of the feed, to maintain it or to take it over.
func (b *Browser) Invites(f *Registered, what, email string) Reply {
	path := map[string]string{"maintain": "/maintainers", "transfer": "/transfer"}[what]
	return b.Send(http.MethodPost, f.Path()+path, `{"email": "`+email+`"}`)
}

// Invitation returns the only open invitation to the browser's address.
func (b *Browser) Invitation() string {
	b.T.Helper()
	var got Invitations
	b.Send(http.MethodGet, "/v2/invitations", "").Want(b.T, http.StatusOK).Decode(b.T, &got)
	if len(got.Invitations) != 1 {
		b.T.Fatalf("%d invitations", len(got.Invitations))
	}
	return "/v2/invitations/" + got.Invitations[0].ID
}

// EmailsAs lists the waiting e-mails, each as its kind and its address.
func (d *Service) EmailsAs() string {
	d.T.Helper()
	var all []string
	for _, l := range d.TakeEmails() {
		all = append(all, string(l.Kind)+" "+l.Address)
	}
	return strings.Join(all, ", ")
}

// NewPushService returns a service with one public push feed.
func NewPushService(t *testing.T) (d *Service, owner *Browser, r *Registered) {
	t.Helper()
	d = NewService(t)
	owner = d.SignedInAs("owner@example.com", mapdata.Driver)
	return d, owner, owner.RegisterPush("Cameras")
}

// Approve approves a feed as a curator.
func (d *Service) Approve(r *Registered) {
	d.T.Helper()
	d.SignedInAs("curator@example.com", mapdata.Curator).Send(http.MethodPost, r.Path()+"/approve", "").Want(d.T, http.StatusOK)
}
