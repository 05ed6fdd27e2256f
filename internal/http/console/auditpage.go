package console

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
	"wayside/internal/people/audit"
)

const auditPath = "/audit"

func (c *Console) auditRoutes() []Route {
	return []Route{{Method: http.MethodGet, Path: auditPath, Who: account.ForCurators, Handle: c.getAudit}}
}

// auditPage is one page of the audit log.
type auditPage struct {
	Form    *Form
	Entries []auditLine
	All     bool   // whether the visitor sees all entries, or only decisions
	Next    string // path of the older entries; empty: there are none
}

// auditLine is one entry in the visitor's language.
type auditLine struct {
	mapdata.AuditRecord
	Who     template.HTML
	What    template.HTML
	Through string
	Subject string // path of its page; empty: there is none
	About   string // name of what it is about
}

// getAudit answers GET /audit?feed=…&account=…&before=….
func (c *Console) getAudit(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	query := r.URL.Query()
	form := newForm(query)
	filter := audit.Filter{Feed: strings.TrimSpace(form.raw("feed")), Account: strings.ToLower(strings.TrimSpace(form.raw("account")))}
	if before, err := strconv.ParseInt(form.raw("before"), 10, 64); err == nil && before > 0 {
		filter.Before = before
	}
	page := auditPage{Form: form, All: v.Account.Role == mapdata.Admin}
	got, err := c.Audit.Read(r.Context(), v.Account, filter)
	if form.addErrors(v.Words, err) {
		return c.show(w, r, v, &Page{Name: "audit", Status: http.StatusUnprocessableEntity, Data: &page, Wide: true, Scripts: []string{PageScript}})
	}
	if err != nil {
		return err
	}
	page.Entries = auditLines(v.Words, got.Records)
	if got.Next != 0 {
		next := url.Values{"before": {strconv.FormatInt(got.Next, 10)}}
		for _, name := range []string{"feed", "account"} {
			if value := form.Value(name); value != "" {
				next.Set(name, value)
			}
		}
		page.Next = auditPath + "?" + next.Encode()
	}
	return c.show(w, r, v, &Page{Name: "audit", Data: &page, Wide: true, Scripts: []string{PageScript}})
}

// auditLines translates entries.
func auditLines(w *words.Words, records []mapdata.AuditRecord) []auditLine {
	all := make([]auditLine, len(records))
	for i, r := range records {
		line := auditLine{AuditRecord: r, Who: w.HTML("audit.who.gone"), What: w.HTML("audit.did.other", r.Action)}
		switch {
		case r.ActorEmail != "":
			line.Who = w.HTML("audit.who", r.ActorEmail)
		case r.Via == mapdata.ViaService:
			line.Who = w.HTML("audit.who.service")
		case r.Actor.IsZero():
			line.Who = w.HTML("audit.who.operator")
		}
		if key := "audit.did." + r.Action; w.Has(key) {
			line.What = w.HTML(key)
		}
		if key := "audit.via." + string(r.Via); w.Has(key) {
			line.Through = w.Text(key)
		}
		line.About = r.Named
		if id, ok := mapdata.ParseFeedID(r.Subject); ok && strings.HasPrefix(r.Action, "feed.") && r.Named != "" {
			line.Subject = reviewFeedURL(id)
		}
		if line.About == "" {
			line.About = r.Subject
		}
		all[i] = line
	}
	return all
}
