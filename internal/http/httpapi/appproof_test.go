package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/apps"
)

// TestAppPageMustBeShownToBeTheDevelopers submits a page of another developer, and then publishes the proof that the answer asks
// for (T7).
func TestAppPageMustBeShownToBeTheDevelopers(t *testing.T) {
	s := newAppTest(t)
	s.unproven = true
	refused := s.developer.send(http.MethodPost, "/v2/apps", submission(t, nil)).want(t, http.StatusUnprocessableEntity)
	var why struct{ Errors []mapdata.FieldError }
	refused.decode(t, &why)
	meta := regexp.MustCompile(`<meta name="wayside-app" content="([a-z2-7]{26})">`).FindStringSubmatch(why.Errors[0].Message)
	if meta == nil || why.Errors[0].Field != "widget_url" || why.Errors[0].Code != "unproven" || !strings.Contains(why.Errors[0].Message, "https://apps.example.org/.well-known/wayside-app.txt") {
		t.Fatalf("the answer does not say what to do: %s", refused.body)
	}
	code := meta[1]
	head := func(content string) []byte {
		return []byte(`<!doctype html><html><head><META NAME="wayside-app" content="` + content + `"></head><body>App</body></html>`)
	}
	for name, body := range map[string][]byte{
		"a code of another kind": head(strings.Repeat("a", 26)),
		"the code in the body":   []byte(`<!doctype html><body><meta name="wayside-app" content="` + code + `"></body>`),
		"the code in a comment":  []byte(`<!doctype html><head><!-- <meta name="wayside-app" content="` + code + `"> --></head>`),
		"the code in a script":   []byte(`<!doctype html><head><script>"<meta name='wayside-app' content='` + code + `'>"</script></head>`),
		"the code and more":      head(code + "x"),
	} {
		s.page.Body = body
		if got := s.developer.send(http.MethodPost, "/v2/apps", submission(t, nil)).want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, "unproven") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	s.page.Body = head("other " + code)
	if got := s.driver.send(http.MethodPost, "/v2/apps", submission(t, nil)).want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, "unproven") {
		t.Errorf("the proof of another account counts: %s", got.body)
	}
	other := map[string]any{"widget_url": "https://other.example.org/"}
	if got := s.developer.send(http.MethodPost, "/v2/apps", submission(t, other)).want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, "unproven") {
		t.Errorf("the proof of another origin counts: %s", got.body)
	}
	id := s.developer.submitApp(nil)
	s.page.Body = head("") // removed before the review
	if got := s.curator.send(http.MethodPost, "/v2/apps/"+id+"/versions/1/approve", "").want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, "unproven") {
		t.Errorf("a page without a proof is approved: %s", got.body)
	}
	s.unproven = false
	s.curator.send(http.MethodPost, "/v2/apps/"+id+"/versions/1/approve", "").want(t, http.StatusOK)
	s.unproven = true
	s.developer.send(http.MethodPost, "/v2/apps", submission(t, map[string]any{"widget_url": "http://localhost:9000/"})).want(t, http.StatusCreated)
}

// TestFormNamesTheProof checks that the form names the proof to publish, with the code that the API expects.
func TestFormNamesTheProof(t *testing.T) {
	s := newAppTest(t)
	s.unproven = true
	var fields struct{ Errors []struct{ Message string } }
	s.developer.send(http.MethodPost, "/v2/apps", submission(t, nil)).want(t, http.StatusUnprocessableEntity).decode(t, &fields)
	code := regexp.MustCompile(`[a-z2-7]{26}`).FindString(fields.Errors[0].Message)
	form := s.developer.form("/apps/new", url.Values{
		"name": {"Trip"}, "summary": {"A log"}, "kinds": {"widget"}, "widget_url": {"https://apps.example.org/charging"}, "website_url": {"https://example.org/"},
		"cost_model": {"free"},
	}).want(t, http.StatusUnprocessableEntity)
	contains(t, form.body, code, "https://apps.example.org/.well-known/wayside-app.txt", "The page is not shown to be yours")
	if code == "" {
		t.Error("the API names no code")
	}
}

// TestPageThatChangedIsMarked changes a page after its review, and checks that curators see the change, and drivers after seven
// days (T7).
func TestPageThatChangedIsMarked(t *testing.T) {
	s := newAppTest(t)
	id := s.approved(nil)
	app, _ := mapdata.ParseAppID(id)
	look := func() {
		t.Helper()
		stored, err := s.db.App(t.Context(), app)
		if err != nil {
			t.Fatal(err)
		}
		page := apps.SeenPage(stored.Versions[0].Page, apps.NewPage(s.page).Digest, s.time())
		if err := s.db.RecordAppPage(t.Context(), app, 1, page, s.time().Add(24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := s.apps.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	type marks struct {
		Curator, Driver, Page, Queue bool
	}
	expect := func(when string, want marks) {
		t.Helper()
		var one struct {
			App struct {
				Changed bool `json:"changed_since_review"`
			}
		}
		s.guest.send(http.MethodGet, "/v2/apps/"+id, "").want(t, http.StatusOK).decode(t, &one)
		var list struct {
			Versions []struct {
				Changed *time.Time `json:"page_changed_at"`
			}
		}
		s.developer.send(http.MethodGet, "/v2/apps/"+id+"/versions", "").want(t, http.StatusOK).decode(t, &list)
		got := marks{
			Curator: list.Versions[0].Changed != nil, Driver: one.App.Changed,
			Page:  strings.Contains(s.guest.send(http.MethodGet, "/apps", "").want(t, http.StatusOK).body, "Changed since it was reviewed"),
			Queue: strings.Contains(s.curator.send(http.MethodGet, "/review", "").want(t, http.StatusOK).body, "Apps whose page changed since it was approved"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", when, diff)
		}
		shown := s.curator.send(http.MethodGet, "/apps/review/"+id, "").want(t, http.StatusOK).body
		if strings.Contains(shown, "The page is not the one that was approved") != want.Curator {
			t.Errorf("%s: the page of the review does not say the same", when)
		}
	}
	look()
	expect("unchanged", marks{})
	s.page.Body = []byte("<p>Other</p>")
	look()
	expect("changed", marks{Curator: true, Queue: true})
	s.advance(7*24*time.Hour - time.Second)
	look()
	expect("a second before seven days", marks{Curator: true, Queue: true})
	s.advance(time.Second)
	s.apps.Mark()
	expect("after seven days", marks{Curator: true, Driver: true, Page: true, Queue: true})
	s.developer.send(http.MethodPost, "/v2/apps/"+id+"/versions", submission(t, nil)).want(t, http.StatusCreated)
	var list struct{ Apps []json.RawMessage }
	if s.guest.send(http.MethodGet, "/v2/apps", "").want(t, http.StatusOK).decode(t, &list); !strings.Contains(string(list.Apps[0]), `"changed_since_review":true`) {
		t.Error("a version that waits takes the mark away")
	}
	if _, _, err := s.apps.Approve(t.Context(), mapdata.Operator(), app, 2); err != nil {
		t.Fatal(err)
	}
	if s.guest.send(http.MethodGet, "/v2/apps", "").want(t, http.StatusOK).decode(t, &list); strings.Contains(string(list.Apps[0]), "changed_since_review") {
		t.Error("an approval leaves the mark")
	}
}

// TestSuspensionReachesOpenStreams checks which streams get events about apps, and their contents.
func TestSuspensionReachesOpenStreams(t *testing.T) {
	s := newAppTest(t)
	s.waitForIndex()
	id := s.approved(nil)
	car, guest := s.driver.openStream(streamQuery), s.guest.openStream(streamQuery)
	told := func(w *testStream) (got struct {
		Revision int
		Changed  []string
	},
	) {
		t.Helper()
		e := w.next()
		if e.name != "apps" {
			t.Fatalf("event %s: %s", e.name, e.data)
		}
		if err := json.Unmarshal([]byte(e.data), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	car.wantEvents("snapshot")
	guest.wantEvents("snapshot")
	first := told(car)
	if len(first.Changed) > 0 || first.Revision == 0 {
		t.Errorf("at first: %+v", first)
	}
	s.curator.send(http.MethodPost, "/v2/apps/"+id+"/suspend", `{"note":"harmful"}`).want(t, http.StatusOK)
	next := told(car)
	if diff := cmp.Diff([]string{id}, next.Changed); diff != "" || next.Revision <= first.Revision {
		t.Errorf("after the suspension: %+v after %+v", next, first)
	}
	s.publish("After", row("a", "alert.police", 0))
	guest.wantEvents("entity a reported")
	car.close()
	again := s.driver.openStream(streamQuery)
	again.wantEvents("snapshot a")
	if got := told(again); got.Revision != next.Revision {
		t.Errorf("a stream opened later begins with %+v, want the revision of %+v", got, next)
	}
}
