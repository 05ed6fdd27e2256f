package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"wayside/internal/ground/mapdata"
)

// errorPage replaces the page that was requested.
type errorPage struct {
	Title string // key
	Text  string // key
	Back  string // path of the link
	Label string // key of the link's text
}

// Refuse shows an error as a page in the visitor's language: by its reason if it has one, else by its status.
func (c *Console) Refuse(w http.ResponseWriter, r *http.Request, v *Visitor, status int, refusal error) error {
	if v.Words == nil { // the error occurred before the page's handler ran
		v.Words = c.words.In(c.language(r, v))
	}
	page := errorPage{
		Title: v.Words.First("notice.title."+strconv.Itoa(status), "notice.title.other"),
		Text:  v.Words.First("notice.text."+strconv.Itoa(status), "notice.text.other"),
		Back:  "/about", Label: "notice.about",
	}
	if v.Person() != nil && c.hasPage("/account") {
		page.Back, page.Label = "/account", "notice.account"
	}
	if here, ok := c.localPath(r.URL.Path); ok && status != http.StatusNotFound && status != http.StatusForbidden {
		page.Back, page.Label = here, "notice.again"
	}
	if status == http.StatusUnauthorized || errors.Is(refusal, mapdata.ErrSignInRequired) {
		if here, ok := c.localPath(r.URL.RequestURI()); ok && r.Method == http.MethodGet {
			page.Back = here
		}
		page.Back, page.Label = signInPath+"?next="+url.QueryEscape(page.Back), "notice.sign-in"
	}
	var described *mapdata.Described
	if errors.As(refusal, &described) {
		page.Text = v.Words.First("refused."+string(described.Reason), page.Text)
	}
	return c.show(w, r, v, &Page{Name: "notice", Status: status, Data: page})
}
