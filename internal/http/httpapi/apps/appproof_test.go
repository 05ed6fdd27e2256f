package apps_test

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
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/people/apps"
)

// TestAppPageMustBeShownToBeTheDevelopers submits a page of another developer, and then publishes the proof that the answer asks
// for (T7).
func TestAppPageMustBeShownToBeTheDevelopers(t *testing.T) {
	s := newAppTest(t)
	s.Unproven = true
	refused := s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, nil)).Want(t, http.StatusUnprocessableEntity)
	var why struct{ Errors []mapdata.FieldError }
	refused.Decode(t, &why)
	meta := regexp.MustCompile(`<meta name="wayside-app" content="([a-z2-7]{26})">`).FindStringSubmatch(why.Errors[0].Message)
	if meta == nil || why.Errors[0].Field != "widget_url" || why.Errors[0].Code != "unproven" || !strings.Contains(why.Errors[0].Message, "https://apps.example.org/.well-known/wayside-app.txt") {
		t.Fatalf("the answer does not say what to do: %s", refused.Body)
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
		s.Page.Body = body
		if got := s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, nil)).Want(t, http.StatusUnprocessableEntity); !strings.Contains(got.Body, "unproven") {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	s.Page.Body = head("other " + code)
	if got := s.driver.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, nil)).Want(t, http.StatusUnprocessableEntity); !strings.Contains(got.Body, "unproven") {
		t.Errorf("the proof of another account counts: %s", got.Body)
	}
	other := map[string]any{"widget_url": "https://other.example.org/"}
	if got := s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, other)).Want(t, http.StatusUnprocessableEntity); !strings.Contains(got.Body, "unproven") {
		t.Errorf("the proof of another origin counts: %s", got.Body)
	}
	id := s.developer.SubmitApp(nil)
	s.Page.Body = head("") // removed before the review
	if got := s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/versions/1/approve", "").Want(t, http.StatusUnprocessableEntity); !strings.Contains(got.Body, "unproven") {
		t.Errorf("a page without a proof is approved: %s", got.Body)
	}
	s.Unproven = false
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/versions/1/approve", "").Want(t, http.StatusOK)
	s.Unproven = true
	s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, map[string]any{"widget_url": "http://localhost:9000/"})).Want(t, http.StatusCreated)
}

// TestFormNamesTheProof checks that the form names the proof to publish, with the code that the API expects.
func TestFormNamesTheProof(t *testing.T) {
	s := newAppTest(t)
	s.Unproven = true
	var fields struct{ Errors []struct{ Message string } }
	s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, nil)).Want(t, http.StatusUnprocessableEntity).Decode(t, &fields)
	code := regexp.MustCompile(`[a-z2-7]{26}`).FindString(fields.Errors[0].Message)
	form := s.developer.Form("/apps/new", url.Values{
		"name": {"Trip"}, "summary": {"A log"}, "kinds": {"widget"}, "widget_url": {"https://apps.example.org/charging"}, "website_url": {"https://example.org/"},
		"cost_model": {"free"},
	}).Want(t, http.StatusUnprocessableEntity)
	httpapitest.Contains(t, form.Body, code, "https://apps.example.org/.well-known/wayside-app.txt", "The page is not shown to be yours")
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
		stored, err := s.DB.App(t.Context(), app)
		if err != nil {
			t.Fatal(err)
		}
		page := apps.SeenPage(stored.Versions[0].Page, apps.NewPage(s.Page).Digest, s.Time())
		if err := s.DB.RecordAppPage(t.Context(), app, 1, page, s.Time().Add(24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := s.Apps.Poll(t.Context()); err != nil {
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
		s.guest.Send(http.MethodGet, "/v2/apps/"+id, "").Want(t, http.StatusOK).Decode(t, &one)
		var list struct {
			Versions []struct {
				Changed *time.Time `json:"page_changed_at"`
			}
		}
		s.developer.Send(http.MethodGet, "/v2/apps/"+id+"/versions", "").Want(t, http.StatusOK).Decode(t, &list)
		got := marks{
			Curator: list.Versions[0].Changed != nil, Driver: one.App.Changed,
			Page:  strings.Contains(s.guest.Send(http.MethodGet, "/apps", "").Want(t, http.StatusOK).Body, "Changed since it was reviewed"),
			Queue: strings.Contains(s.curator.Send(http.MethodGet, "/review", "").Want(t, http.StatusOK).Body, "Apps whose page changed since it was approved"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", when, diff)
		}
		shown := s.curator.Send(http.MethodGet, "/apps/review/"+id, "").Want(t, http.StatusOK).Body
		if strings.Contains(shown, "The page is not the one that was approved") != want.Curator {
			t.Errorf("%s: the page of the review does not say the same", when)
		}
	}
	look()
	expect("unchanged", marks{})
	s.Page.Body = []byte("<p>Other</p>")
	look()
	expect("changed", marks{Curator: true, Queue: true})
	s.Advance(7*24*time.Hour - time.Second)
	look()
	expect("a second before seven days", marks{Curator: true, Queue: true})
	s.Advance(time.Second)
	s.Apps.Mark()
	expect("after seven days", marks{Curator: true, Driver: true, Page: true, Queue: true})
	s.developer.Send(http.MethodPost, "/v2/apps/"+id+"/versions", httpapitest.Submission(t, nil)).Want(t, http.StatusCreated)
	var list struct{ Apps []json.RawMessage }
	if s.guest.Send(http.MethodGet, "/v2/apps", "").Want(t, http.StatusOK).Decode(t, &list); !strings.Contains(string(list.Apps[0]), `"changed_since_review":true`) {
		t.Error("a version that waits takes the mark away")
	}
	if _, _, err := s.Apps.Approve(t.Context(), mapdata.Operator(), app, 2); err != nil {
		t.Fatal(err)
	}
	if s.guest.Send(http.MethodGet, "/v2/apps", "").Want(t, http.StatusOK).Decode(t, &list); strings.Contains(string(list.Apps[0]), "changed_since_review") {
		t.Error("an approval leaves the mark")
	}
}

// TestSuspensionReachesOpenStreams checks which streams get events about apps, and their contents.
func TestSuspensionReachesOpenStreams(t *testing.T) {
	s := newAppTest(t)
	s.WaitForIndex()
	id := s.approved(nil)
	car, guest := s.driver.OpenStream(httpapitest.StreamQuery), s.guest.OpenStream(httpapitest.StreamQuery)
	told := func(w *httpapitest.Stream) (got struct {
		Revision int
		Changed  []string
	},
	) {
		t.Helper()
		e := w.Next()
		if e.Name != "apps" {
			t.Fatalf("event %s: %s", e.Name, e.Data)
		}
		if err := json.Unmarshal([]byte(e.Data), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	car.WantEvents("snapshot")
	guest.WantEvents("snapshot")
	first := told(car)
	if len(first.Changed) > 0 || first.Revision == 0 {
		t.Errorf("at first: %+v", first)
	}
	s.curator.Send(http.MethodPost, "/v2/apps/"+id+"/suspend", `{"note":"harmful"}`).Want(t, http.StatusOK)
	next := told(car)
	if diff := cmp.Diff([]string{id}, next.Changed); diff != "" || next.Revision <= first.Revision {
		t.Errorf("after the suspension: %+v after %+v", next, first)
	}
	s.Publish("After", httpapitest.Row("a", "alert.police", 0))
	guest.WantEvents("entity a reported")
	car.Close()
	again := s.driver.OpenStream(httpapitest.StreamQuery)
	again.WantEvents("snapshot a")
	if got := told(again); got.Revision != next.Revision {
		t.Errorf("a stream opened later begins with %+v, want the revision of %+v", got, next)
	}
}
