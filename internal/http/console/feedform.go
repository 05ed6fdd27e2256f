package console

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/openfeeds"
	"wayside/internal/ground/mapdata"
)

// feedForm is the data of a feed's forms.
type feedForm struct {
	Form    *Form
	Feed    *feed.View // nil: a new feed
	Address string
	Pull    bool
	Keyed   bool // it has an auth header, which is not shown
	Formats []string
	Open    []openfeeds.Feed // the list of open feeds, to choose from
	Chosen  *openfeeds.Feed  // the one that the form was filled in from; nil: none
	Refused string           // why nothing was stored although no field is wrong; empty: nothing was refused
}

// getNewFeed answers GET /feeds/new. The page of the check links to it with the checked values.
func (c *Console) getNewFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	values := url.Values{"direction": {"push"}, "visibility": {"public"}, "pull_interval_seconds": {"300"}}
	fillFromCheck(r.URL.Query(), values)
	chosen := c.fillFrom(r.URL.Query().Get("from"), values)
	page := c.newFeedPage(newForm(values))
	page.Chosen = chosen
	return c.show(w, r, v, &Page{Name: "feed-new", Data: page})
}

func (c *Console) newFeedPage(form *Form) *feedForm {
	return &feedForm{Form: form, Formats: c.Feeds.FormatNames(), Open: c.OpenFeeds}
}

// postNewFeed registers a feed.
func (c *Console) postNewFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	registration := feed.Registration{Direction: form.raw("direction"), Settings: form.settings()}
	if registration.Direction == string(mapdata.Pull) {
		form.pullSettings(v, &registration.Settings)
	}
	if len(form.Wrongs) > 0 {
		form.addErrors(v.Words, c.Feeds.CheckRegistration(&registration))
		return c.showForm(w, r, v, "feed-new", c.newFeedPage(form))
	}
	f, token, err := c.Feeds.Register(r.Context(), mapdata.ActorOf(v.Account), &registration)
	switch {
	case form.addErrors(v.Words, err):
		return c.showForm(w, r, v, "feed-new", c.newFeedPage(form))
	case errors.Is(err, mapdata.ErrConflict):
		return c.show(w, r, v, &Page{Name: "feed-new", Status: http.StatusConflict, Data: &feedForm{
			Form: form, Formats: c.Feeds.FormatNames(), Refused: v.Words.Text("feed.too-many"),
		}})
	case err != nil:
		return err
	case token == "":
		return seeOther(w, feedURL(f.ID)+"?done=register")
	}
	return c.redirectToToken(w, f.ID, token, false)
}

// fieldOrder is the order of a feed's fields on the pages.
var fieldOrder = [...]string{
	"direction", "pull_url", "pull_auth_header", "format", "mapping", "status_url", "time_zone", "charger_network", "pull_interval_seconds", "name", "description", "attribution", "licence",
	"visibility", "layer_name", "spec_url",
}

// showForm shows a form again, with its values and its errors in the order of the page.
func (c *Console) showForm(w http.ResponseWriter, r *http.Request, v *Visitor, name string, page *feedForm) error {
	slices.SortStableFunc(page.Form.Wrongs, func(a, b Wrong) int {
		return cmp.Compare(slices.Index(fieldOrder[:], a.Field), slices.Index(fieldOrder[:], b.Field))
	})
	return c.show(w, r, v, &Page{Name: name, Status: http.StatusUnprocessableEntity, Data: page})
}

// settings returns the settings of every feed. A field that the form lacks stays unset.
func (f *Form) settings() feed.Settings {
	return feed.Settings{
		Name: f.optional("name"), Description: f.optional("description"), Visibility: f.optional("visibility"),
		Attribution: f.optional("attribution"), Licence: f.optional("licence"), LayerName: f.optional("layer_name"), SpecURL: f.optional("spec_url"),
	}
}

// pullSettings adds the fields of pull feeds.
func (f *Form) pullSettings(v *Visitor, s *feed.Settings) {
	if u := strings.TrimSpace(f.raw("pull_url")); u != "" {
		s.PullURL = &u
	}
	if h := strings.TrimSpace(f.raw("pull_auth_header")); h != "" {
		s.PullAuthHeader = &h
	}
	f.bridge(s)
	f.interval(v, s)
}

// interval reads the poll interval.
func (f *Form) interval(v *Visitor, s *feed.Settings) {
	text := strings.TrimSpace(f.raw("pull_interval_seconds"))
	if text == "" {
		return
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		f.addError("pull_interval_seconds", v.Words.Text("wrong.number"))
		return
	}
	s.PullIntervalSeconds = &n
}

// optional returns the value of a field; nil: the form has no such field.
func (f *Form) optional(field string) *string {
	if !f.values.Has(field) {
		return nil
	}
	text := f.raw(field)
	return &text
}

// getEditFeed answers GET /feeds/{id}/edit.
func (c *Console) getEditFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "feed-edit", Data: c.newFeedForm(f, newForm(formValues(f.Edited())))})
}

func (c *Console) newFeedForm(f *feed.View, form *Form) *feedForm {
	return &feedForm{
		Formats: c.Feeds.FormatNames(),
		Form:    form, Feed: f, Address: feedURL(f.ID), Pull: f.Direction == mapdata.Pull, Keyed: f.PullAuthSealed != nil,
	}
}

func formValues(f *mapdata.Feed) url.Values {
	return url.Values{
		"name": {f.Name}, "description": {f.Description}, "visibility": {string(f.Visibility)}, "attribution": {f.Attribution},
		"licence": {f.Licence}, "layer_name": {f.Layer.Name}, "spec_url": {f.SpecURL}, "pull_url": {f.PullURL},
		"pull_interval_seconds": {strconv.Itoa(int(f.PullInterval.Seconds()))},
		"format":                {f.Bridge.FormatName()}, "mapping": {f.Bridge.Mapping}, "status_url": {f.Bridge.StatusURL},
		"time_zone": {f.Bridge.TimeZone}, "charger_network": {f.Bridge.ChargerNetwork},
	}
}

// postEditFeed changes the fields that have no separate page.
func (c *Console) postEditFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.patch(w, r, v, "feed-edit", "edit", func(form *Form, f *feed.View) *feed.Patch {
		p := &feed.Patch{Settings: form.settings()}
		if f.Direction == mapdata.Pull {
			form.interval(v, &p.Settings)
		}
		return p
	})
}

// getFeedURL answers GET /feeds/{id}/url: the form for the URL of a pull feed and its auth header.
func (c *Console) getFeedURL(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.pullFeed(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "feed-url", Data: c.newFeedForm(f, newForm(formValues(&f.Feed)))})
}

func (c *Console) pullFeed(r *http.Request, v *Visitor) (*feed.View, error) {
	f, err := c.ownFeed(r, v)
	if err == nil && f.Direction != mapdata.Pull {
		err = mapdata.Explain(mapdata.ErrConflict, "no_url", "A push feed has no URL: it is pushed to.")
	}
	return f, err
}

// postFeedURL changes URL and auth header of a feed, which is then fetched immediately.
func (c *Console) postFeedURL(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if _, err := c.pullFeed(r, v); err != nil {
		return err
	}
	return c.patch(w, r, v, "feed-url", "url", func(form *Form, f *feed.View) *feed.Patch {
		p := &feed.Patch{}
		address := strings.TrimSpace(form.raw("pull_url"))
		if address != f.PullURL {
			p.PullURL = &address
		}
		header := strings.TrimSpace(form.raw("pull_auth_header"))
		switch {
		case header != "":
			p.PullAuthHeader = &header
		case form.raw("clear_auth_header") != "":
			p.ClearAuthHeader = true
		}
		form.bridge(&p.Settings)
		return p
	})
}

// patch changes the visitor's own feed with the values of a form, and shows the form again with its errors.
func (c *Console) patch(
	w http.ResponseWriter, r *http.Request, v *Visitor, page, done string, read func(*Form, *feed.View) *feed.Patch,
) error {
	f, err := c.ownFeed(r, v)
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	p, by := read(form, f), mapdata.ActorOf(v.Account)
	if len(form.Wrongs) > 0 {
		form.addErrors(v.Words, c.Feeds.CheckPatch(r.Context(), by, f.ID, p))
		return c.showForm(w, r, v, page, c.newFeedForm(f, form))
	}
	changed, err := c.Feeds.Patch(r.Context(), by, f.ID, p)
	if form.addErrors(v.Words, err) {
		return c.showForm(w, r, v, page, c.newFeedForm(f, form))
	}
	if err != nil {
		return err
	}
	if f.ReviewState == mapdata.Approved && changed.ReviewState == mapdata.Pending {
		done = "review-again"
	}
	if changed.Proposed != nil && (f.Proposed == nil || *f.Proposed != *changed.Proposed) {
		done = "change-waits"
	}
	return seeOther(w, feedURL(f.ID)+"?done="+done)
}
