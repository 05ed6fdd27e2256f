package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

//go:embed pages/*.html pages/parts/*.html pages/style.css
var files embed.FS

// Content-Security-Policy of the pages (D13.4): our style sheet and images, and forms to this service only. Pages with
// a map or passkeys may run our scripts, which may request this service and the base map.
const (
	plainPolicy  = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	scriptPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'%[1]s; connect-src 'self'%[1]s; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'" // %[1]s: the base map's origins
)

// Page is the page that a handler shows.
type Page struct {
	Name    string   // of its template in pages/, without .html
	Status  int      // 0: 200
	Data    any      // .Data in the template
	Scripts []string // built modules of ours, such as MapScript; none: the page runs no scripts
	Wide    bool     // for tables and maps: uses the window's whole width
	Frame   string   // the only origin of which the page may show a frame; empty: none
}

// show renders a page for the visitor.
func (c *Console) show(w http.ResponseWriter, r *http.Request, v *Visitor, p *Page) error {
	text, err := c.render(r, v, p)
	if err != nil {
		return err
	}
	text.write(w, r, v)
	return nil
}

// rendered is the text of a page.
type rendered struct {
	status   int
	language mapdata.Language
	policy   string
	body     []byte
}

func (c *Console) render(r *http.Request, v *Visitor, p *Page) (*rendered, error) {
	t, err := c.pages.get(v.Words.Language, p.Name)
	if err != nil {
		return nil, err
	}
	view, err := c.view(r, v, p)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if err := t.ExecuteTemplate(&body, "layout", view); err != nil {
		return nil, fmt.Errorf("render page %s: %w", p.Name, err)
	}
	out := &rendered{status: p.Status, language: v.Words.Language, policy: plainPolicy, body: body.Bytes()}
	if len(view.Modules) > 0 {
		from := ""
		for _, origin := range c.MapOrigins {
			from += " " + origin
		}
		out.policy = fmt.Sprintf(scriptPolicy, from)
	}
	if p.Frame != "" && !strings.ContainsAny(p.Frame, " ;,*'") { // an origin is one word of a policy
		out.policy += "; frame-src " + p.Frame
	}
	return out, nil
}

func (t *rendered) write(w http.ResponseWriter, r *http.Request, v *Visitor) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Language", string(t.language))
	h.Set("Content-Security-Policy", t.policy)
	// The URL may contain a link's token, which must not be sent to other origins. no-referrer would remove the Origin header
	// of forms too, by which plain HTTP recognises requests of our own pages.
	h.Set("Referrer-Policy", "same-origin")
	status := t.status
	if status == 0 {
		status = http.StatusOK
	}
	v.Write(w, r, status, "text/html; charset=utf-8", t.body)
}

// pageSet holds the pages' templates. Each is parsed when it is first shown, because parsing all of them in every language takes
// longer than the rest of a service's start. TestPagesParse checks that all of them parse.
type pageSet struct {
	c *Console

	mu     sync.Mutex
	parts  map[mapdata.Language]*template.Template // layout and parts, which are never executed themselves
	parsed map[pageName]*template.Template
}

type pageName struct {
	language mapdata.Language
	name     string
}

func newPageSet(c *Console) *pageSet {
	return &pageSet{c: c, parts: make(map[mapdata.Language]*template.Template), parsed: make(map[pageName]*template.Template)}
}

// get returns a page's template in a language: layout, parts and the page itself.
func (s *pageSet) get(l mapdata.Language, name string) (*template.Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if page := s.parsed[pageName{l, name}]; page != nil {
		return page, nil
	}
	parts := s.parts[l]
	if parts == nil {
		var err error
		if parts, err = template.New("").Funcs(s.c.funcs(s.c.words.In(l))).ParseFS(files, "pages/parts/*.html"); err != nil {
			return nil, fmt.Errorf("parse parts of pages: %w", err)
		}
		s.parts[l] = parts
	}
	page, err := parts.Clone()
	if err == nil {
		page, err = page.ParseFS(files, "pages/"+name+".html")
	}
	if err != nil {
		return nil, fmt.Errorf("parse page %s: %w", name, err)
	}
	s.parsed[pageName{l, name}] = page
	return page, nil
}

// funcs returns the functions of templates beyond those of html/template.
func (c *Console) funcs(w *words.Words) template.FuncMap {
	return template.FuncMap{
		// t is a message in the body of a page, text in titles and attributes; count chooses key.one or key.other.
		"t": w.HTML, "text": w.Text, "count": w.Count, "countText": w.CountText,
		"languageName": words.Name,
		// device describes a User-Agent in our own words, because clients choose that header freely.
		"device":     func(agent string) template.HTML { return device(w, agent) },
		"deviceText": func(agent string) string { return deviceText(w, agent) },
		// key makes a key of a group and a value: {{t (key "outcome" .Outcome)}}.
		"key": func(group string, value any) string { return fmt.Sprintf("%s.%v", group, value) },
		// licences are the well-known licences, licenceURL is where the text of one of them is.
		"licences": mapdata.Licences, "licenceURL": mapdata.LicenceURL,
		// credit is the attribution on a map, with the licence if one is stated.
		"credit": credit,
		// num formats a whole number, day and moment a time, span a duration, ago the time since.
		"num": func(n any) (string, error) { return number(w, n) },
		"day": w.DayHTML, "moment": w.MomentHTML, "span": w.Span,
		"ago": func(at time.Time) string { return w.Ago(c.Now().Sub(at)) },
		// link and strong make elements that may be arguments of messages: {{t "x" (link "/about" (text "y"))}}.
		"link": link,
		"strong": func(text string) template.HTML {
			return template.HTML(`<strong class="address-of"><bdi>` + //nolint:gosec // escaped
				template.HTMLEscapeString(text) + `</bdi></strong>`)
		},
	}
}

// link returns a link that may be an argument of a message. to is a path of this service.
func link(to, label string) template.HTML {
	return template.HTML(`<a href="` + template.HTMLEscapeString(to) + `">` + //nolint:gosec // both escaped; to is ours
		template.HTMLEscapeString(label) + `</a>`)
}

func credit(attribution, licence string) string {
	if attribution == "" || licence == "" {
		return attribution
	}
	return attribution + " (" + licence + ")"
}

func number(w *words.Words, n any) (string, error) {
	switch n := n.(type) {
	case int:
		return w.Number(int64(n)), nil
	case int64:
		return w.Number(n), nil
	}
	return "", fmt.Errorf("num: %T is no whole number", n)
}

// seeOther redirects to another page of ours, by GET. to begins with one slash.
func seeOther(w http.ResponseWriter, to string) error {
	h := w.Header()
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", "0")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
