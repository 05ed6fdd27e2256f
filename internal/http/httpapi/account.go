package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/ground/mapdata"
)

type accountAnswer struct {
	Account accountJSON `json:"account"`
}

// accountJSON is an account. A paired screen sees it in brief: only the address, the tier and the scope (D11.3).
type accountJSON struct {
	ID        string     `json:"id,omitempty"`
	Email     string     `json:"email"`
	Role      string     `json:"role,omitempty"`
	Tier      string     `json:"tier"`
	CreatedAt *timestamp `json:"created_at,omitempty"`
	Scope     string     `json:"scope,omitempty"`

	ReviewEmails *bool `json:"review_emails,omitempty"` // of curators
}

// scopeName returns the name of a scope in JSON.
func scopeName(s mapdata.Scope) string {
	if s == mapdata.ScopeScreen {
		return "screen"
	}
	return "account"
}

// newAccountJSON describes an account to one of its sessions.
func newAccountJSON(a *mapdata.Account, s *mapdata.Session) accountJSON {
	brief := accountJSON{Email: a.Email, Tier: string(a.Tier), Scope: scopeName(s.Scope)}
	if s.Scope == mapdata.ScopeScreen {
		return brief
	}
	created := timestamp(a.CreatedAt)
	brief.ID, brief.Role, brief.CreatedAt = a.ID.String(), string(a.Role), &created
	return brief
}

// getAccount answers GET /v2/account with the account that is signed in.
func (a *api) getAccount(w http.ResponseWriter, r *http.Request, c *caller) error {
	answer := accountAnswer{newAccountJSON(c.account, c.session)}
	if c.account.MayReview() && c.session.Scope != mapdata.ScopeScreen {
		on, err := a.Accounts.ReviewEmails(r.Context(), c.id())
		if err != nil {
			return err
		}
		answer.Account.ReviewEmails = &on
	}
	return writeJSON(w, r, http.StatusOK, answer)
}

// patchAccount answers PATCH /v2/account, which sets whether a curator gets e-mails about feeds that wait for review.
func (a *api) patchAccount(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	on := f.boolean("review_emails")
	if err := f.check(); err != nil {
		return err
	}
	if on != nil {
		if err := a.Accounts.SetReviewEmails(r.Context(), c.account, *on); err != nil {
			return err
		}
	}
	return a.getAccount(w, r, c)
}

// deleteAccount answers DELETE /v2/account, which deletes everything that the service stores about the account's holder (D11.6).
// The address in the body prevents a mistake.
func (a *api) deleteAccount(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	address := f.required("email")
	if err := f.check(); err != nil {
		return err
	}
	if err := a.Accounts.Delete(r.Context(), c.account, address); err != nil {
		return err
	}
	a.setSessionCookie(w, "", 0)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type sessionJSON struct {
	ID         string    `json:"id"`
	CreatedAt  timestamp `json:"created_at"`
	LastSeenAt timestamp `json:"last_seen_at"`
	ExpiresAt  timestamp `json:"expires_at"`
	Agent      string    `json:"agent"`
	Scope      string    `json:"scope"`
	Current    bool      `json:"current"`
}

// newSessionJSON describes a session of the caller.
func newSessionJSON(s *mapdata.Session, c *caller) sessionJSON {
	return sessionJSON{
		ID: s.ID, CreatedAt: timestamp(s.CreatedAt), LastSeenAt: timestamp(s.SeenAt), ExpiresAt: timestamp(sessionEnd(s)),
		Agent: s.Agent, Scope: scopeName(s.Scope), Current: s.ID == c.session.ID,
	}
}

// getSessions answers GET /v2/account/sessions: the account's sessions (D11.2).
func (a *api) getSessions(w http.ResponseWriter, r *http.Request, c *caller) error {
	all, err := a.Accounts.Sessions(r.Context(), c.id())
	if err != nil {
		return err
	}
	list := make([]sessionJSON, len(all))
	for i := range all {
		list[i] = newSessionJSON(&all[i], c)
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"sessions": list})
}

// sessionEnd returns when a session ends unless it is used again.
func sessionEnd(s *mapdata.Session) time.Time {
	idle, total := s.SeenAt.Add(mapdata.SessionIdle), s.CreatedAt.Add(mapdata.SessionTotal)
	if idle.Before(total) {
		return idle
	}
	return total
}

// deleteSession answers DELETE /v2/account/sessions/{id}.
func (a *api) deleteSession(w http.ResponseWriter, r *http.Request, c *caller) error {
	id := r.PathValue("id")
	if err := a.Accounts.EndSession(r.Context(), c.id(), id); err != nil {
		return err
	}
	if id == c.session.ID {
		a.setSessionCookie(w, "", 0)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type tokenJSON struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	CreatedAt  timestamp `json:"created_at"`
	LastUsedAt timestamp `json:"last_used_at"`
}

func newTokenJSON(t *mapdata.APIToken) tokenJSON {
	return tokenJSON{ID: t.ID, Name: t.Name, CreatedAt: timestamp(t.CreatedAt), LastUsedAt: timestamp(t.UsedAt)}
}

// getTokens answers GET /v2/account/tokens: the API tokens, without their secrets (D11.5).
func (a *api) getTokens(w http.ResponseWriter, r *http.Request, c *caller) error {
	all, err := a.Accounts.APITokens(r.Context(), c.id())
	if err != nil {
		return err
	}
	list := make([]tokenJSON, len(all))
	for i := range all {
		list[i] = newTokenJSON(&all[i])
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"tokens": list})
}

// postToken answers POST /v2/account/tokens. No other response contains the token.
func (a *api) postToken(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	name := f.required("name")
	if err := f.check(); err != nil {
		return err
	}
	text, made, err := a.Accounts.CreateAPIToken(r.Context(), c.id(), name)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusCreated, map[string]any{"api_token": newTokenJSON(made), "token": text})
}

// deleteToken answers DELETE /v2/account/tokens/{id}.
func (a *api) deleteToken(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := a.Accounts.DeleteAPIToken(r.Context(), c.id(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
