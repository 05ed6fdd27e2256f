package accounts

import (
	"net/http"
	"strconv"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/audit"
)

// auditEntry is one entry of the audit log.
type auditEntry struct {
	ID      int64             `json:"id"`
	At      httpapi.Timestamp `json:"at"`
	Action  string            `json:"action"`
	Via     string            `json:"via"`
	Actor   *ownerID          `json:"actor"` // null: the operator or the service, as via says
	Subject string            `json:"subject"`
	Name    string            `json:"subject_name"` // current name of the subject; empty: it has none, or is gone
	Note    string            `json:"note"`
}

// ownerID is an account; its address is null once it was deleted.
type ownerID struct {
	ID    string  `json:"id"`
	Email *string `json:"email"`
}

// getAudit answers GET /v2/audit with the log, newest first, a page at a time. Curators see their decisions, admins everything.
func (a *api) getAudit(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	query := r.URL.Query()
	filter := audit.Filter{
		Feed: query.Get("feed"), Account: strings.ToLower(query.Get("account")), Action: query.Get("action"), Subject: query.Get("subject"),
	}
	if text := query.Get("before"); text != "" {
		before, err := strconv.ParseInt(text, 10, 64)
		if err != nil || before < 1 {
			return &mapdata.InvalidError{Fields: []mapdata.FieldError{
				{Field: "before", Code: "invalid_number", Message: "must be the value of next of an earlier page"},
			}}
		}
		filter.Before = before
	}
	page, err := a.Audit.Read(r.Context(), c.Account, filter)
	if err != nil {
		return err
	}
	entries := make([]auditEntry, len(page.Records))
	for i := range page.Records {
		entries[i] = newAuditEntry(&page.Records[i])
	}
	var next *int64
	if page.Next != 0 {
		next = &page.Next
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"entries": entries, "next": next})
}

func newAuditEntry(e *mapdata.AuditRecord) auditEntry {
	j := auditEntry{
		ID: e.ID, At: httpapi.Timestamp(e.At), Action: e.Action, Via: string(e.Via), Subject: e.Subject, Name: e.Named, Note: e.Note,
	}
	if !e.Actor.IsZero() {
		j.Actor = &ownerID{ID: e.Actor.String()}
		if e.ActorEmail != "" {
			j.Actor.Email = &e.ActorEmail
		}
	}
	return j
}
