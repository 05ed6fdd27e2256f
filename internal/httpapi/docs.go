package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"sync"

	"wayside/internal/mapdata"
)

// openapiText is the whole interface as programs read it, written by hand; tests hold it to the routes and to what they
// answer (D12.6).
//
//go:embed openapi.json
var openapiText []byte

//go:embed pages/*.html pages/style.css
var pages embed.FS

// pagePolicy lets a page load our own style sheet and drawings, and nothing else from anywhere (D13.4).
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// cachePages is how long the pages may be repeated; they change with the program alone.
const cachePages = "public, max-age=300"

func (a *api) docsRoutes() []route {
	// Both pages are made when they are first asked for, and once.
	docs := sync.OnceValues(a.makeDocs)
	front := sync.OnceValues(a.makeFront)
	return []route{
		{http.MethodGet, "/about", open, servePage(front)},
		{http.MethodGet, "/docs", open, servePage(docs)},
		{http.MethodGet, "/docs/style.css", open, getStyle},
		{http.MethodGet, "/v2/openapi.json", open, getOpenAPI},
	}
}

// getOpenAPI answers GET /v2/openapi.json (D12.6).
func getOpenAPI(w http.ResponseWriter, r *http.Request, _ *caller) error {
	w.Header().Set("Cache-Control", cachePages)
	writeBody(w, r, http.StatusOK, "application/json", openapiText)
	return nil
}

// getStyle answers GET /docs/style.css, the style sheet of every page.
func getStyle(w http.ResponseWriter, r *http.Request, _ *caller) error {
	style, err := pages.ReadFile("pages/style.css")
	if err != nil {
		return fmt.Errorf("read style sheet: %w", err)
	}
	w.Header().Set("Cache-Control", cachePages)
	writeBody(w, r, http.StatusOK, "text/css; charset=utf-8", style)
	return nil
}

// servePage answers with a page that is made once.
func servePage(page func() ([]byte, error)) func(http.ResponseWriter, *http.Request, *caller) error {
	return func(w http.ResponseWriter, r *http.Request, _ *caller) error {
		body, err := page()
		if err != nil {
			return err
		}
		h := w.Header()
		h.Set("Cache-Control", cachePages)
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Referrer-Policy", "same-origin")
		writeBody(w, r, http.StatusOK, "text/html; charset=utf-8", body)
		return nil
	}
}

// makeDocs renders the interface for people from the document for programs.
func (a *api) makeDocs() ([]byte, error) {
	page, err := newDocsPage(openapiText, a.BaseURL)
	if err != nil {
		return nil, err
	}
	return renderPage("docs.html", page)
}

// frontPage is what the front page shows.
type frontPage struct {
	Base   string
	Groups []kindGroup
}

// kindGroup is the kinds of one group, for a legend of the pins.
type kindGroup struct {
	Name  string
	Kinds []mapdata.KindInfo
}

func (a *api) makeFront() ([]byte, error) {
	page := frontPage{Base: a.BaseURL}
	for _, k := range mapdata.Kinds() {
		if n := len(page.Groups); n == 0 || page.Groups[n-1].Name != k.Group {
			page.Groups = append(page.Groups, kindGroup{Name: k.Group})
		}
		last := &page.Groups[len(page.Groups)-1]
		last.Kinds = append(last.Kinds, k)
	}
	return renderPage("front.html", page)
}

// renderPage fills a page's template.
func renderPage(name string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"prose": prose}).ParseFS(pages, "pages/"+name)
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	var buf bytes.Buffer
	if err := t.Execute(&buf, data); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return buf.Bytes(), nil
}
