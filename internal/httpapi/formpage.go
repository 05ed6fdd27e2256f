package httpapi

import (
	"net/http"
	"net/url"

	"wayside/internal/mapdata"
)

// formPolicy lets a page with a form load our style sheet and drawings, and send its form to us alone (D13.4).
const formPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// writeFormPage answers with a page that is made for whoever asks.
func writeFormPage(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	body, err := renderPage(name, data)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", formPolicy)
	// The address may hold a link's token: it goes to nobody else. (no-referrer would take the Origin from the form too,
	// and plain http has nothing else to tell our page from another's.)
	h.Set("Referrer-Policy", "same-origin")
	writeBody(w, r, status, "text/html; charset=utf-8", body)
	return nil
}

// readForm reads what a page's form sent.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	if err := r.ParseForm(); err != nil {
		return nil, mapdata.Describe(mapdata.ErrMalformed, "The form cannot be read.")
	}
	return r.PostForm, nil
}

// seeOther leads the browser to another page of ours, by GET. to begins with one slash.
func seeOther(w http.ResponseWriter, to string) error {
	h := w.Header()
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", "0")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// noticePage is what a page says instead of what was asked for.
type noticePage struct{ Title, Text, Back string }

// forPeople has a page's refusals told on a page, too; its own cross-origin check comes before.
func forPeople(
	back string, handle func(http.ResponseWriter, *http.Request, *caller) error,
) func(http.ResponseWriter, *http.Request, *caller) error {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		err := handle(w, r, c)
		if err == nil || r.Context().Err() != nil {
			return err
		}
		p := problemOf(err)
		p.setRetryAfter(w.Header())
		page := noticePage{Title: http.StatusText(p.Status), Text: p.Detail, Back: back}
		if p.Status == http.StatusTooManyRequests {
			page.Title, page.Text = "Too often", "That was tried too often. Wait a few minutes, then try again."
		}
		if writeErr := writeFormPage(w, r, p.Status, "notice.html", page); writeErr != nil {
			return writeErr
		}
		return err // it is logged where it must be
	}
}
