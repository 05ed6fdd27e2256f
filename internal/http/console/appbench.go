package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
)

// BenchScript loads an app in a frame and acts as the page around it (web/console/src/bench.ts).
const BenchScript = "bench.js"

const benchPath = appsPath + "/bench"

// benchRoutes returns the route of the app bench. The bench stores nothing: its findings stay in the browser until the developer
// attaches them to a submission.
func (c *Console) benchRoutes() []Route {
	if c != nil && c.Apps == nil {
		return nil
	}
	return []Route{{Method: http.MethodGet, Path: benchPath, Who: account.ForAccounts, Handle: c.getBench}}
}

// benchPage asks for a page's address, or runs the bench for it.
type benchPage struct {
	Form   *Form
	URL    string // of the app's page, checked; empty: none was asked for, or it may not be framed
	Origin string
	Words  string // messages of BenchScript, as JSON
}

// getBench answers GET /apps/bench?url=…. The policy of the page lets the browser frame the origin of that URL and no other.
// Loading the bench does not open the app's page, because anybody may send a developer a link to the bench: the script opens it
// when the developer presses its button.
func (c *Console) getBench(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	query := r.URL.Query()
	page := &benchPage{Form: newForm(url.Values{"url": {query.Get("url")}})}
	shown := &Page{Name: "app-bench", Data: page, Wide: true}
	if text := strings.TrimSpace(query.Get("url")); text != "" {
		address, bad := c.Apps.Rules.CheckPageURL(text)
		if len(bad) > 0 {
			page.Form.addError("url", v.Words.Text(v.Words.First("bench.url."+bad[0].Code, "bench.url.invalid")))
			shown.Status = http.StatusUnprocessableEntity
			return c.show(w, r, v, shown)
		}
		says, err := benchMessages(v.Words)
		if err != nil {
			return err
		}
		page.URL, page.Words = address, says
		page.Origin = apps.OriginOf(page.URL)
		shown.Frame, shown.Scripts = page.Origin, []string{BenchScript, PageScript}
	}
	return c.show(w, r, v, shown)
}

// benchMessages returns the messages of BenchScript in one language, as JSON.
func benchMessages(w *words.Words) (string, error) {
	said := make(map[string]string)
	for _, key := range []string{
		"bench.running", "bench.passed", "bench.failed", "bench.closed", "bench.opened", "bench.hidden", "bench.loaded", "bench.away", "bench.sent", "bench.received",
		"bench.ignored", "bench.flood", "bench.skipped", "bench.pass", "bench.fail", "bench.not-json",
	} {
		said[key] = w.Text(key, "{0}", "{1}")
	}
	text, err := json.Marshal(said)
	if err != nil {
		return "", fmt.Errorf("encode the words of the bench: %w", err)
	}
	return string(text), nil
}
