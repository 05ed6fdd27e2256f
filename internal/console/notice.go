package console

import (
	"net/http"
	"net/url"
	"strconv"
)

// noticePage is what a page says instead of what was asked for.
type noticePage struct {
	Title  string // key
	Text   string // key; empty: Detail says it
	Detail string // in English, of the use case; empty: nothing more is known
	Back   string // address of the way on
	Label  string // key of what it is called
}

// Refuse tells a visitor of an error on a page: its status, and the use case's own words for it.
func (c *Console) Refuse(w http.ResponseWriter, r *http.Request, v *Visitor, status int, detail string) error {
	if v.Words == nil { // it went wrong before the page's own handler ran
		v.Words = c.words.In(c.language(r, v))
	}
	page := noticePage{Title: "notice.title." + strconv.Itoa(status), Text: "notice.text." + strconv.Itoa(status), Back: "/about", Label: "notice.about"}
	if v.Account != nil && c.offers("/account") {
		page.Back, page.Label = "/account", "notice.account"
	}
	if here, ok := c.local(r.URL.Path); ok && status != http.StatusNotFound && status != http.StatusForbidden {
		page.Back, page.Label = here, "notice.again"
	}
	if status == http.StatusUnauthorized {
		page.Back, page.Label = signInPath+"?next="+url.QueryEscape(page.Back), "notice.sign-in"
	}
	if !v.Words.Has(page.Title) {
		page.Title = "notice.title.other"
	}
	switch {
	case !v.Words.Has(page.Text):
		page.Text, page.Detail = "", detail
	case status == http.StatusConflict:
		page.Detail = detail
	}
	return c.show(w, r, v, &Page{Name: "notice", Status: status, Data: page})
}
