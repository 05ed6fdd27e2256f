package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"sync"

	"wayside/internal/account"
)

// openapiText is the whole interface as programs read it, written by hand; tests hold it to the routes and to what they
// answer (D12.6).
//
//go:embed openapi.json
var openapiText []byte

//go:embed pages/docs.html
var pages embed.FS

// pagePolicy lets a page load our own style sheet and drawings, and nothing else from anywhere (D13.4).
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// cachePages is how long the pages may be repeated; they change with the program alone.
const cachePages = "public, max-age=300"

func (a *api) docsRoutes() []route {
	docs := sync.OnceValues(a.makeDocs) // when it is first asked for, and once
	return []route{
		{http.MethodGet, "/docs", open, account.ForGuests, servePage(docs)},
		{http.MethodGet, "/v2/openapi.json", open, account.ForGuests, getOpenAPI},
	}
}

// getOpenAPI answers GET /v2/openapi.json (D12.6).
func getOpenAPI(w http.ResponseWriter, r *http.Request, _ *caller) error {
	w.Header().Set("Cache-Control", cachePages)
	writeBody(w, r, http.StatusOK, "application/json", openapiText)
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
