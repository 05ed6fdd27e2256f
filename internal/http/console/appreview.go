package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/apps"
)

// queuedApp is one app of the review queue.
type queuedApp struct {
	*apps.Waiting
	Address string
	Origin  *origin // of its page; nil: it has none
	Own     bool    // the visitor's own app, on which others decide
}

// First reports whether no version of the app was approved yet.
func (q *queuedApp) First() bool { return q.Approved == nil }

// Email returns the developer's address; empty: the account is gone.
func (q *queuedApp) Email() string {
	if q.Owner == nil {
		return ""
	}
	return q.Owner.Email
}

// queuedApps returns the first apps that wait for a curator, and the number of all that wait. It returns none where apps are not
// enabled.
func (c *Console) queuedApps(r *http.Request, v *Visitor) (waiting []queuedApp, count int, err error) {
	if c.Apps == nil {
		return nil, 0, nil
	}
	queue, count, err := c.Apps.Queue(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return nil, 0, err
	}
	for i := range queue {
		q := &queue[i]
		waiting = append(waiting, queuedApp{
			Waiting: q, Address: reviewAppURL(q.App.ID), Origin: originOf(q.Pending.Fields.WidgetURL), Own: q.App.Owner == v.ID(),
		})
	}
	return waiting, count, nil
}

// changedApps returns the apps whose page differs from the approved one. It returns none where apps are not enabled.
func (c *Console) changedApps(v *Visitor) (changed []appLine, err error) {
	if c.Apps == nil {
		return nil, nil
	}
	all, err := c.Apps.Changed(mapdata.ActorOf(v.Account))
	for _, l := range all {
		changed = append(changed, newAppLine(l, reviewAppURL(l.ID)))
	}
	return changed, err
}

// suspendedApps returns the apps that curators suspended. It returns none where apps are not enabled.
func (c *Console) suspendedApps(r *http.Request, v *Visitor) (suspended []ownApp, err error) {
	if c.Apps == nil {
		return nil, nil
	}
	all, err := c.Apps.Suspended(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return nil, err
	}
	for i := range all {
		suspended = append(suspended, newOwnApp(&all[i]))
	}
	return suspended, nil
}

// reviewApp is the data of the page of one app's review: the pending version, or else the one that describes the app.
type reviewApp struct {
	appLine
	Here     string // path of this page
	Form     *Form
	Passkey  *passkeyNeed // nil: a decision needs none
	Own      bool         // the visitor's own app, on which others decide
	Origin   *origin
	Sources  []reviewedFeed
	Schema   []schemaLine
	Approved *mapdata.AppVersion // what is served now; nil: nothing
	Changes  []difference        // since the approved version
	Report   *appReport          // nil: none is attached
	Versions []appVersion
	Refused  []string // reasons why the version cannot be approved, found when a curator tried
}

// Pending reports whether a decision is needed.
func (p *reviewApp) Pending() bool { return p.Version.State == mapdata.AppPending }

// Suspended reports whether a curator suspended the app.
func (p *reviewApp) Suspended() bool { return !p.SuspendedAt.IsZero() }

// PageChanged returns the approved version if its page differs from the approved one; otherwise nil.
func (p *reviewApp) PageChanged() *mapdata.AppVersion { return pageChanged(p.Approved) }

// Gone reports whether the developer's account was deleted.
func (p *reviewApp) Gone() bool { return p.App.Owner.IsZero() }

// Mixed reports whether a word of the name mixes scripts with similar letters.
func (p *reviewApp) Mixed() bool { return mixesScriptsInAWord(p.Fields().Name) }

// Hosts returns the declared domains, with how they may look in Unicode.
func (p *reviewApp) Hosts() []*origin {
	all := make([]*origin, 0, len(p.Fields().Domains))
	for _, name := range p.Fields().Domains {
		if o := originOf("https://" + name); o != nil {
			o.Text = strings.TrimPrefix(o.Text, "https://")
			all = append(all, o)
		}
	}
	return all
}

// OtherPage reports whether the report is about another page than the version's.
func (p *reviewApp) OtherPage() bool { return p.Report != nil && p.Report.URL != p.Fields().WidgetURL }

// Preview returns the context message for the page in the preview, as JSON, without the members that the browser adds: theme, size
// and device.
func (p *reviewApp) Preview() string {
	slot := mapdata.AppWidget
	if !slices.Contains(p.Fields().Kinds, slot) {
		slot = mapdata.AppNotifications
	}
	return string(jsonOf(map[string]any{
		"type": "context", "units": "metric", "uiSize": 5, "slot": slot, "config": apps.Sample(p.Fields().ConfigSchema),
	}))
}

// ApproveCommand returns the command by which the operator approves the version, also where the only curator owns the app (D11.9).
func (p *reviewApp) ApproveCommand() string { return "wayside app approve " + p.ID.String() }

// reviewedFeed is a feed that an app shows.
type reviewedFeed struct {
	*feed.View
	Address string
	State   string // key
}

// schemaLine is one field of a schema, for people.
type schemaLine struct {
	mapdata.ConfigField
	Rules string // bounds, options and default, as they were submitted
}

// schemaLines describes a schema.
func schemaLines(schema mapdata.ConfigSchema) []schemaLine {
	all := make([]schemaLine, len(schema))
	for i := range schema {
		f := &schema[i]
		var rules []string
		number := func(name string, n *float64) {
			if n != nil {
				rules = append(rules, name+" "+strconv.FormatFloat(*n, 'f', -1, 64))
			}
		}
		number("min", f.Min)
		number("max", f.Max)
		number("step", f.Step)
		if f.MaxLength != nil {
			rules = append(rules, "max_length "+strconv.Itoa(*f.MaxLength))
		}
		if len(f.Options) > 0 {
			rules = append(rules, "options "+strings.Join(f.Options, " | "))
		}
		if f.Default != nil {
			rules = append(rules, fmt.Sprintf("default %v", f.Default))
		}
		all[i] = schemaLine{*f, strings.Join(rules, ", ")}
	}
	return all
}

// appReport is the conformance report that a developer attached. The developer wrote it, so nothing in it is certain.
type appReport struct {
	URL    string // of the page that was checked
	Checks []reportCheck
	Failed int
	Text   string // as the developer sent it, if it is not in the form of a report
}

// reportCheck is one line of a conformance report.
type reportCheck struct {
	Check  string
	Seen   string
	Result string
}

// Pass reports whether the check passed.
func (c reportCheck) Pass() bool { return c.Result == "pass" }

// maxReportChecks bounds what the page shows of a report.
const maxReportChecks = 100

// readReport reads a report; nil: there is none.
func readReport(text string) *appReport {
	if text == "" {
		return nil
	}
	var sent struct {
		URL    string
		Checks []reportCheck
	}
	if err := json.Unmarshal([]byte(text), &sent); err != nil || len(sent.Checks) == 0 {
		return &appReport{Text: truncate(text)}
	}
	report := &appReport{URL: sent.URL, Checks: sent.Checks[:min(len(sent.Checks), maxReportChecks)]}
	for _, check := range report.Checks {
		if !check.Pass() {
			report.Failed++
		}
	}
	return report
}

// appChanges returns the fields in which two versions differ.
func appChanges(w *words.Words, was, is *mapdata.AppFields) []difference {
	var all []difference
	before, now := appFieldTexts(w, was), appFieldTexts(w, is)
	for i := range now {
		if before[i].text != now[i].text {
			all = append(all, difference{Field: now[i].field, Was: before[i].text, Is: now[i].text, Known: true})
		}
	}
	return all
}

// fieldText is the value of a field for people.
type fieldText struct{ field, text string }

// appFieldTexts returns all fields of a version but its changelog, in the order of the pages.
func appFieldTexts(w *words.Words, f *mapdata.AppFields) []fieldText {
	kinds := make([]string, len(f.Kinds))
	for i, kind := range f.Kinds {
		kinds[i] = w.Text("app.kind." + string(kind))
	}
	schema := ""
	if len(f.ConfigSchema) > 0 {
		schema = schemaText(f.ConfigSchema)
	}
	cost := ""
	if f.Cost.Model != "" {
		cost = w.Text("app.cost." + f.Cost.Model)
	}
	return []fieldText{
		{"name", f.Name},
		{"summary", f.Summary},
		{"description", f.Description},
		{"kinds", strings.Join(kinds, ", ")},
		{"widget_url", f.WidgetURL},
		{"domains", strings.Join(f.Domains, "\n")},
		{"feed_ids", strings.Join(f.FeedIDs, "\n")},
		{"config_schema", schema},
		{"cost_model", cost},
		{"cost_note", f.Cost.Note},
		{"website_url", f.WebsiteURL},
		{"privacy_url", f.PrivacyURL},
		{"icon", f.Icon},
	}
}

// getReviewApp answers GET /apps/review/{id}.
func (c *Console) getReviewApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page, err := c.newReviewApp(r, v, newForm(nil))
	if err != nil {
		return err
	}
	return c.showReviewApp(w, r, v, page, http.StatusOK)
}

// showReviewApp shows the page. Its policy allows one frame: the app's page, from the origin of the version that is shown.
func (c *Console) showReviewApp(w http.ResponseWriter, r *http.Request, v *Visitor, page *reviewApp, status int) error {
	p := &Page{Name: "app-review", Status: status, Data: page, Wide: true}
	if address := page.Fields().WidgetURL; address != "" {
		p.Frame = apps.OriginOf(address)
	}
	return c.showDecision(w, r, v, &page.Passkey, p)
}

func (c *Console) newReviewApp(r *http.Request, v *Visitor, form *Form) (*reviewApp, error) {
	id, err := appID(r)
	if err != nil {
		return nil, err
	}
	by := mapdata.ActorOf(v.Account)
	a, err := c.Apps.Versions(r.Context(), by, id)
	if err != nil {
		return nil, err
	}
	own := newOwnApp(a)
	shown := own.Current
	if own.Pending != nil {
		shown = own.Pending
	} else if own.Approved != nil {
		shown = own.Approved
	}
	page := &reviewApp{
		appLine: newAppLine(c.Apps.Describe(a, shown), appURL(a)), Here: reviewAppURL(id), Form: form, Own: a.Owner == v.ID(),
		Origin: originOf(shown.Fields.WidgetURL), Schema: schemaLines(shown.Fields.ConfigSchema), Approved: own.Approved,
		Report: readReport(shown.Report), Versions: own.Newest,
	}
	if own.Approved != nil && own.Approved != shown {
		page.Changes = appChanges(v.Words, &own.Approved.Fields, &shown.Fields)
	}
	for _, text := range shown.Fields.FeedIDs {
		id, ok := mapdata.ParseFeedID(text)
		if !ok {
			continue
		}
		f, err := c.Feeds.Get(r.Context(), by, id)
		if errors.Is(err, mapdata.ErrNotFound) { // it was deleted or made private since
			continue
		}
		if err != nil {
			return nil, err
		}
		page.Sources = append(page.Sources, reviewedFeed{f, reviewFeedURL(id), reviewKey(&f.Feed)})
	}
	return page, nil
}

// decideApp calls do with the app of the path and its form, and shows the page again where
// a field of the form or the version is wrong.
func (c *Console) decideApp(
	w http.ResponseWriter, r *http.Request, v *Visitor, done string, do func(id mapdata.AppID, form *Form) error,
) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	form, err := c.readDecision(w, r, v)
	if err != nil {
		return err
	}
	err = do(id, form)
	if err == nil {
		return c.afterAppDecision(w, r, v, id, done)
	}
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	page, err := c.newReviewApp(r, v, form)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(invalid.Fields, func(e mapdata.FieldError) bool { return e.Field == "note" }); i >= 0 {
		form.addErrors(v.Words, &mapdata.InvalidError{Fields: invalid.Fields[i : i+1]})
	} else {
		for _, e := range invalid.Fields {
			page.Refused = append(page.Refused, appErrorText(v.Words, &e))
		}
	}
	return c.showReviewApp(w, r, v, page, http.StatusUnprocessableEntity)
}

// afterAppDecision redirects to the app that waits longest, or to the decided one if no other waits.
func (c *Console) afterAppDecision(w http.ResponseWriter, r *http.Request, v *Visitor, decided mapdata.AppID, done string) error {
	waiting, _, err := c.queuedApps(r, v)
	if err != nil {
		return err
	}
	for i := range waiting {
		if id := waiting[i].App.ID; id != decided && !waiting[i].Own {
			return seeOther(w, reviewAppURL(id)+"?done="+done)
		}
	}
	return seeOther(w, reviewAppURL(decided)+"?done="+done)
}

func (c *Console) postApproveApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.decideApp(w, r, v, "app-approved", func(id mapdata.AppID, form *Form) error {
		number, err := form.version()
		if err != nil {
			return err
		}
		_, _, err = c.Apps.Approve(r.Context(), mapdata.ActorOf(v.Account), id, number)
		return err
	})
}

func (c *Console) postRejectApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.decideApp(w, r, v, "app-rejected", func(id mapdata.AppID, form *Form) error {
		number, err := form.version()
		if err != nil {
			return err
		}
		_, _, err = c.Apps.Reject(r.Context(), mapdata.ActorOf(v.Account), id, number, form.raw("note"))
		return err
	})
}

func (c *Console) postSuspendApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.decideApp(w, r, v, "app-suspended", func(id mapdata.AppID, form *Form) error {
		_, err := c.Apps.Suspend(r.Context(), mapdata.ActorOf(v.Account), id, form.raw("note"))
		return err
	})
}

func (c *Console) postResumeApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.decideApp(w, r, v, "app-resumed", func(id mapdata.AppID, _ *Form) error {
		_, err := c.Apps.Resume(r.Context(), mapdata.ActorOf(v.Account), id)
		return err
	})
}
