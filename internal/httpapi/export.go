package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// exportJSON is everything that the service stores about a person (D11.6), without secrets, which are stored as hashes.
type exportJSON struct {
	ExportedAt  timestamp        `json:"exported_at"`
	Account     exportedAccount  `json:"account"`
	EmailChange *emailChangeJSON `json:"email_change,omitempty"`
	Sessions    []sessionJSON    `json:"sessions"`
	APITokens   []tokenJSON      `json:"api_tokens"`
	Passkeys    []passkeyJSON    `json:"passkeys"`
	Preferences preferencesJSON  `json:"preferences"`
	Feeds       []any            `json:"feeds"`
	Votes       []voteJSON       `json:"votes"`
	Log         []logEntryJSON   `json:"log"`
}

type exportedAccount struct {
	accountJSON
	Language string `json:"language"`
}

// voteJSON is a vote that is still linked to the account (D9.7).
type voteJSON struct {
	EntityID string    `json:"entity_id"`
	Vote     *string   `json:"vote"`
	At       timestamp `json:"at"`
}

// logEntryJSON is an entry of the audit log by the account or about something that it owns.
type logEntryJSON struct {
	At      timestamp `json:"at"`
	Action  string    `json:"action"`
	Subject string    `json:"subject"`
	Note    string    `json:"note"`
	ByYou   bool      `json:"by_you"`
}

// getExport answers GET /v2/account/export.
func (a *api) getExport(w http.ResponseWriter, r *http.Request, c *caller) error {
	now := a.Now()
	out := exportJSON{
		ExportedAt: timestamp(now), Account: exportedAccount{newAccountJSON(c.account, c.session), string(c.account.Language)},
		Sessions: []sessionJSON{}, APITokens: []tokenJSON{}, Feeds: []any{},
	}
	out.Account.Scope = "" // it is the session's
	for _, fill := range []func(*http.Request, *caller, *exportJSON) error{
		a.exportAccess, a.exportEmailChange, a.exportFeeds, a.exportActivity,
	} {
		if err := fill(r, c, &out); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Disposition", `attachment; filename="wayside-`+now.UTC().Format(time.DateOnly)+`.json"`)
	return writeJSON(w, r, http.StatusOK, &out)
}

func (a *api) exportAccess(r *http.Request, c *caller, out *exportJSON) error {
	sessions, err := a.Accounts.Sessions(r.Context(), c.id())
	if err != nil {
		return err
	}
	for i := range sessions {
		out.Sessions = append(out.Sessions, newSessionJSON(&sessions[i], c))
	}
	tokens, err := a.Accounts.APITokens(r.Context(), c.id())
	if err != nil {
		return err
	}
	for i := range tokens {
		out.APITokens = append(out.APITokens, newTokenJSON(&tokens[i]))
	}
	if out.Passkeys, err = a.passkeysOf(r, c); err != nil {
		return err
	}
	chosen, err := a.Accounts.Preferences(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Preferences = preferencesJSON(*chosen)
	return nil
}

func (a *api) exportFeeds(r *http.Request, c *caller, out *exportJSON) error {
	feeds, err := a.Feeds.List(r.Context(), feed.By(c.account))
	if err != nil {
		return err
	}
	for i := range feeds {
		if feeds[i].Owner == c.id() {
			out.Feeds = append(out.Feeds, newFeedJSON(&feeds[i]))
		}
	}
	return nil
}

func (a *api) exportActivity(r *http.Request, c *caller, out *exportJSON) error {
	votes, err := a.Accounts.Ballots(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Votes = make([]voteJSON, len(votes))
	for i := range votes {
		b := &votes[i]
		out.Votes[i] = voteJSON{EntityID: mapdata.EntityID(b.Source, b.ExternalID), Vote: voteName(b.Vote), At: timestamp(b.At)}
	}
	entries, err := a.Accounts.Log(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Log = make([]logEntryJSON, len(entries))
	for i := range entries {
		e := &entries[i]
		out.Log[i] = logEntryJSON{At: timestamp(e.At), Action: e.Action, Subject: e.Subject, Note: e.Note, ByYou: e.Actor == c.id()}
	}
	return nil
}
