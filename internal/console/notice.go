package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"wayside/internal/mapdata"
)

// noticePage is what a page says instead of what was asked for.
type noticePage struct {
	Title string // key
	Text  string // key
	Back  string // address of the way on
	Label string // key of what it is called
}

// Refuse tells a visitor of an error on a page, in their language: by its reason if it has one, else by its status.
func (c *Console) Refuse(w http.ResponseWriter, r *http.Request, v *Visitor, status int, refusal error) error {
	if v.Words == nil { // it went wrong before the page's own handler ran
		v.Words = c.words.In(c.language(r, v))
	}
	page := noticePage{
		Title: v.Words.First("notice.title."+strconv.Itoa(status), "notice.title.other"),
		Text:  v.Words.First("notice.text."+strconv.Itoa(status), "notice.text.other"),
		Back:  "/about", Label: "notice.about",
	}
	if v.Account != nil && c.offers("/account") {
		page.Back, page.Label = "/account", "notice.account"
	}
	if here, ok := c.local(r.URL.Path); ok && status != http.StatusNotFound && status != http.StatusForbidden {
		page.Back, page.Label = here, "notice.again"
	}
	if status == http.StatusUnauthorized {
		page.Back, page.Label = signInPath+"?next="+url.QueryEscape(page.Back), "notice.sign-in"
	}
	var told *mapdata.Described
	if errors.As(refusal, &told) {
		page.Text = v.Words.First("refused."+string(told.Reason), page.Text)
	}
	return c.show(w, r, v, &Page{Name: "notice", Status: status, Data: page})
}
