package console

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/apps"
)

// appForm is the data of the forms that submit an app or a version of one.
type appForm struct {
	Form    *Form
	App     *ownApp // nil: a new app
	Action  string
	Kinds   []mapdata.AppKind
	Models  []string
	Feeds   []appFeed
	Base    string      // public address of this service, for frame-ancestors
	Icon    string      // where the icon of the newest version is served; empty: it has none
	Proof   *apps.Proof // how the visitor proves that the page is theirs; nil: there is no page yet, or it needs no proof
	Refused string      // why nothing was stored although no field is wrong; empty: nothing was refused
}

// appFeed is a feed that the visitor may choose.
type appFeed struct {
	*mapdata.Feed
	Chosen bool
}

// Has reports whether a list of the form holds a value.
func (f *appForm) Has(field, value string) bool { return slices.Contains(f.Form.values[field], value) }

// Schema returns the schema as the developer wrote it.
func (f *appForm) Schema() string { return f.Form.whole("config_schema") }

// Report returns the report as the developer pasted it.
func (f *appForm) Report() string { return f.Form.whole("report") }

// Description returns the description as the developer wrote it.
func (f *appForm) Description() string { return f.Form.whole("description") }

// whole returns a value for display without truncating it, because the form is bounded as a whole.
func (f *Form) whole(field string) string { return strings.ToValidUTF8(f.raw(field), "\uFFFD") }

func costModels() []string {
	return []string{"free", "one_time", "subscription", "freemium", "donation"}
}

// newAppForm returns the data of a form, with the visitor's own public feeds, which an app may show.
func (c *Console) newAppForm(r *http.Request, v *Visitor, form *Form, a *mapdata.App) (*appForm, error) {
	page := &appForm{Form: form, Action: newAppPath, Kinds: appKinds(), Models: costModels(), Base: c.BaseURL}
	if a != nil {
		own := newOwnApp(a)
		page.App, page.Action = &own, own.Address+"/version"
		page.Icon = iconURL(&apps.Listed{App: a, Version: own.Current})
	}
	if text := strings.TrimSpace(form.raw("widget_url")); text != "" {
		if address, wrong := c.Apps.Rules.CheckPageURL(text); len(wrong) == 0 {
			page.Proof = c.Apps.ProofOf(v.ID(), address)
		}
	}
	views, err := c.Feeds.List(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return nil, err
	}
	for i := range views {
		if f := &views[i].Feed; f.Owner == v.ID() && f.Visibility == mapdata.Public {
			page.Feeds = append(page.Feeds, appFeed{f, slices.Contains(form.values["feed_ids"], f.ID.String())})
		}
	}
	return page, nil
}

func (c *Console) showAppForm(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, a *mapdata.App, status int, refused string) error {
	page, err := c.newAppForm(r, v, form, a)
	if err != nil {
		return err
	}
	page.Refused = refused
	slices.SortStableFunc(form.Wrongs, func(a, b Wrong) int {
		return cmp.Compare(slices.Index(appFieldOrder[:], a.Field), slices.Index(appFieldOrder[:], b.Field))
	})
	return c.show(w, r, v, &Page{Name: "app-form", Status: status, Data: page})
}

// getNewApp answers GET /apps/new.
func (c *Console) getNewApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showAppForm(w, r, v, newForm(url.Values{"kinds": {string(mapdata.AppWidget)}, "cost_model": {"free"}}), nil, http.StatusOK, "")
}

// postNewApp submits an app.
func (c *Console) postNewApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, members, err := c.readAppForm(w, r, v)
	if err != nil {
		return err
	}
	a, err := c.Apps.Submit(r.Context(), mapdata.ActorOf(v.Account), members)
	if err != nil {
		return c.refuseAppForm(w, r, v, form, nil, err)
	}
	return seeOther(w, ownAppURL(a.ID)+"?done=app-submitted")
}

// getNewVersion answers GET /apps/own/{id}/version with a form that holds the values of the last submission.
func (c *Console) getNewVersion(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	a, err := c.ownAppOf(r, v)
	if err != nil {
		return err
	}
	values := appValues(&a.Versions[len(a.Versions)-1].Fields)
	return c.showAppForm(w, r, v, newForm(values), a, http.StatusOK, "")
}

// postNewVersion submits another version of an app.
func (c *Console) postNewVersion(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	a, err := c.ownAppOf(r, v)
	if err != nil {
		return err
	}
	form, members, err := c.readAppForm(w, r, v)
	if err != nil {
		return err
	}
	_, _, err = c.Apps.Resubmit(r.Context(), mapdata.ActorOf(v.Account), a.ID, members)
	if err != nil {
		return c.refuseAppForm(w, r, v, form, a, err)
	}
	return seeOther(w, ownAppURL(a.ID)+"?done=app-submitted")
}

// refuseAppForm shows the form again with its errors.
func (c *Console) refuseAppForm(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, a *mapdata.App, err error) error {
	var described *mapdata.Described
	switch {
	case errors.As(err, &described) && errors.Is(err, mapdata.ErrConflict):
		return c.showAppForm(w, r, v, form, a, http.StatusConflict, v.Words.Text("refused."+string(described.Reason)))
	case errors.As(err, &described) && errors.Is(err, mapdata.ErrUnavailable):
		return c.showAppForm(w, r, v, form, a, http.StatusServiceUnavailable, v.Words.Text("refused."+string(described.Reason)))
	case !form.addAppErrors(v.Words, err):
		return err
	}
	return c.showAppForm(w, r, v, form, a, http.StatusUnprocessableEntity, "")
}

// appFieldOrder is the order of the fields on the pages.
var appFieldOrder = [...]string{
	"name", "summary", "description", "kinds", "widget_url", "domains", "feed_ids", "config_schema", "cost_model", "cost_note",
	"website_url", "privacy_url", "icon", "changelog", "report",
}

// readAppForm reads a submission. A value that cannot be written as a member is an error of the form; the service checks the rest.
func (c *Console) readAppForm(w http.ResponseWriter, r *http.Request, v *Visitor) (*Form, map[string]jsontext.Value, error) {
	form, icon, err := readUpload(w, r, "icon")
	if err != nil {
		return nil, nil, err
	}
	members := make(map[string]jsontext.Value)
	switch {
	case len(icon) > 0:
		members["icon"] = jsonOf(dataURL(icon))
	case form.raw("icon_removed") != "":
		members["icon"] = jsonOf("") // without the member, the icon stays
	}
	for _, name := range [...]string{"name", "summary", "description", "widget_url", "website_url", "privacy_url", "changelog"} {
		if text := strings.TrimSpace(strings.ToValidUTF8(form.raw(name), "\uFFFD")); text != "" {
			members[name] = jsonOf(text)
		}
	}
	kinds := form.values["kinds"]
	members["kinds"] = jsonOf(append([]string{}, kinds...))
	// The style sheet hides the inputs that an app of these kinds does not use; they may still hold earlier values.
	if len(kinds) > 0 && !slices.Contains(kinds, string(mapdata.AppWidget)) && !slices.Contains(kinds, string(mapdata.AppNotifications)) {
		delete(members, "widget_url")
	}
	shows := len(kinds) == 0 || slices.Contains(kinds, string(mapdata.AppPins)) || slices.Contains(kinds, string(mapdata.AppCustomLayer))
	if chosen := form.values["feed_ids"]; shows && len(chosen) > 0 {
		members["feed_ids"] = jsonOf(chosen)
	}
	if domains := strings.Fields(strings.ReplaceAll(form.raw("domains"), ",", " ")); len(domains) > 0 {
		members["domains"] = jsonOf(domains)
	}
	cost := map[string]string{"model": form.raw("cost_model")}
	if note := strings.TrimSpace(form.raw("cost_note")); note != "" {
		cost["note"] = note
	}
	members["cost"] = jsonOf(cost)
	for _, name := range [...]string{"config_schema", "report"} {
		text := strings.TrimSpace(form.raw(name))
		if text == "" {
			continue
		}
		if value := jsontext.Value(text); value.IsValid() {
			members[name] = value
		} else {
			form.addError(name, v.Words.Text("wrong.app.json"))
			members[name] = jsonOf(text) // the service refuses a text here, with all other errors
		}
	}
	return form, members, nil
}

// dataURL returns an uploaded icon as the data URL of a submission. The media type follows from the content, which the service
// checks.
func dataURL(icon []byte) string {
	media := "image/svg+xml"
	if bytes.HasPrefix(icon, []byte("\x89PNG")) {
		media = "image/png"
	}
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(icon)
}

// jsonOf encodes a value as JSON. Texts, and lists and maps of texts, can always be encoded.
func jsonOf(value any) jsontext.Value {
	text, err := json.Marshal(value)
	if err != nil {
		return jsontext.Value("null")
	}
	return text
}

// appValues returns the values of a form that was filled in with the last submission.
func appValues(f *mapdata.AppFields) url.Values {
	values := url.Values{
		"name": {f.Name}, "summary": {f.Summary}, "description": {f.Description}, "widget_url": {f.WidgetURL}, "website_url": {f.WebsiteURL},
		"privacy_url": {f.PrivacyURL}, "domains": {strings.Join(f.Domains, "\n")}, "feed_ids": f.FeedIDs,
		"cost_model": {f.Cost.Model}, "cost_note": {f.Cost.Note},
	}
	for _, kind := range f.Kinds {
		values.Add("kinds", string(kind))
	}
	if len(f.ConfigSchema) > 0 {
		values.Set("config_schema", schemaText(f.ConfigSchema))
	}
	return values
}

// schemaText formats a schema as its developer would write it: one field on a line.
func schemaText(schema mapdata.ConfigSchema) string {
	lines := make([]string, len(schema))
	for i := range schema {
		one := apps.SchemaJSON(schema[i : i+1])
		lines[i] = "  " + string(one[1:len(one)-1])
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]"
}

// version returns the number of the version that the page of the form showed.
func (f *Form) version() (int, error) {
	n, err := strconv.Atoi(f.raw("number"))
	if err != nil {
		return 0, mapdata.Explain(mapdata.ErrMalformed, "form_unfinished", "The form cannot be read: it does not say which version it is about.")
	}
	return n, nil
}

// All lists the errors of a field.
func (f *Form) All(field string) []Wrong {
	var all []Wrong
	for _, w := range f.Wrongs {
		if w.Field == field {
			all = append(all, w)
		}
	}
	return all
}

// indexPattern finds the indexes in the path of a field.
var indexPattern = regexp.MustCompile(`\[\d+\]`)

// addAppErrors adds the errors of a submission beside the input that each belongs to: "config_schema[2].key" beside the schema. It
// returns false if the error is of another kind.
func (f *Form) addAppErrors(w *words.Words, err error) bool {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return false
	}
	for _, e := range invalid.Fields {
		input, _, _ := strings.Cut(indexPattern.ReplaceAllString(e.Field, ""), ".")
		switch {
		case e.Field == "cost.note":
			input = "cost_note"
		case input == "cost":
			input = "cost_model"
		case !slices.Contains(appFieldOrder[:], input):
			input = appFieldOrder[0] // no input has this member: the service and this form differ
		}
		if e.Field != input || !f.Has(input) { // else the form has reported it already
			f.addError(input, appErrorText(w, &e))
		}
	}
	return true
}

// appErrorText describes the error of one member, with its place in a list.
func appErrorText(w *words.Words, e *mapdata.FieldError) string {
	general := indexPattern.ReplaceAllString(e.Field, "")
	text := w.Text(w.First("wrong.app."+general+"."+e.Code, "wrong.app."+e.Code, "wrong.other"), e.Limit)
	if strings.Contains(e.Field, "[") {
		return e.Field + ": " + text
	}
	return text
}

// configInput is one input of the form that is made from an app's schema.
type configInput struct {
	mapdata.ConfigField
	Name  string // of the input
	Value string
	Set   bool // a boolean is on
	Wrong *Wrong
	Most  int    // characters
	Range string // the bounds of a number, in words
}

// Hint reports whether a hint is below the input.
func (i *configInput) Hint() bool { return i.Help != "" || i.Secret || i.Range != "" }

// rangeText describes the numbers that a field accepts; empty: all.
func rangeText(w *words.Words, f *mapdata.ConfigField) string {
	number := func(n *float64) string { return strconv.FormatFloat(*n, 'f', -1, 64) }
	switch {
	case f.Min != nil && f.Max != nil:
		return w.Text("app.range.both", number(f.Min), number(f.Max))
	case f.Min != nil:
		return w.Text("app.range.least", number(f.Min))
	case f.Max != nil:
		return w.Text("app.range.most", number(f.Max))
	}
	return ""
}

// configInputs returns the inputs for a config, with the values that the driver sent if they were refused.
func configInputs(w *words.Words, schema mapdata.ConfigSchema, config mapdata.AppConfig, installed bool, form *Form) []configInput {
	all := make([]configInput, len(schema))
	for i := range schema {
		f := &schema[i]
		in := configInput{ConfigField: *f, Name: "config." + f.Key, Most: apps.LengthOf(f), Wrong: form.Of("config." + f.Key), Range: rangeText(w, f)}
		value := config[f.Key]
		if value == nil && !installed {
			value = f.Default
		}
		switch value := value.(type) {
		case string:
			in.Value = value
		case float64:
			in.Value = strconv.FormatFloat(value, 'f', -1, 64)
		case bool:
			in.Set = value
		}
		if form.values != nil {
			in.Set, in.Value = form.values.Has(in.Name), form.Value(in.Name)
			if f.Secret && in.Value != apps.Masked {
				in.Value = "" // a new secret is never sent back
				if _, set := config[f.Key]; set {
					in.Value = apps.Masked
				}
			}
		}
		all[i] = in
	}
	return all
}

// configOf returns the config that the form sets, as JSON.
func configOf(schema mapdata.ConfigSchema, form *Form) jsontext.Value {
	config := make(map[string]any)
	for i := range schema {
		f := &schema[i]
		text := strings.ToValidUTF8(strings.TrimSpace(form.raw("config."+f.Key)), "\uFFFD")
		switch f.Type {
		case mapdata.ConfigBoolean:
			config[f.Key] = text != ""
		case mapdata.ConfigNumber:
			number, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
			if err == nil && jsontext.Value(strconv.FormatFloat(number, 'f', -1, 64)).IsValid() {
				config[f.Key] = number
				continue
			}
			config[f.Key] = text // refused, or blank
		case mapdata.ConfigText, mapdata.ConfigSelect, mapdata.ConfigURL:
			config[f.Key] = text
		}
	}
	return jsonOf(config)
}
