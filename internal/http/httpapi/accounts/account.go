package accounts

import (
	"net/http"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

type accountAnswer struct {
	Account accountJSON `json:"account"`
}

// accountJSON is an account. A paired screen sees it in brief: only the address, the tier and the scope (D11.3).
type accountJSON struct {
	ID        string             `json:"id,omitempty"`
	Email     string             `json:"email"`
	Role      string             `json:"role,omitempty"`
	Tier      string             `json:"tier"`
	CreatedAt *httpapi.Timestamp `json:"created_at,omitempty"`
	Scope     string             `json:"scope,omitempty"`

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
	created := httpapi.Timestamp(a.CreatedAt)
	brief.ID, brief.Role, brief.CreatedAt = a.ID.String(), string(a.Role), &created
	return brief
}

// getAccount answers GET /v2/account with the account that is signed in.
func (a *api) getAccount(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	answer := accountAnswer{newAccountJSON(c.Account, c.Session)}
	if c.Account.MayReview() && c.Session.Scope != mapdata.ScopeScreen {
		on, err := a.Accounts.ReviewEmails(r.Context(), c.ID())
		if err != nil {
			return err
		}
		answer.Account.ReviewEmails = &on
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, answer)
}

// patchAccount answers PATCH /v2/account, which sets whether a curator gets e-mails about feeds that wait for review.
func (a *api) patchAccount(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	on := f.Boolean("review_emails")
	if err := f.Check(); err != nil {
		return err
	}
	if on != nil {
		if err := a.Accounts.SetReviewEmails(r.Context(), c.Account, *on); err != nil {
			return err
		}
	}
	return a.getAccount(w, r, c)
}

// deleteAccount answers DELETE /v2/account, which deletes everything that the service stores about the account's holder (D11.6).
// The address in the body prevents a mistake.
func (a *api) deleteAccount(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	address := f.Required("email")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Accounts.Delete(r.Context(), c.Account, address); err != nil {
		return err
	}
	a.SetSessionCookie(w, "", 0)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type sessionJSON struct {
	ID         string            `json:"id"`
	CreatedAt  httpapi.Timestamp `json:"created_at"`
	LastSeenAt httpapi.Timestamp `json:"last_seen_at"`
	ExpiresAt  httpapi.Timestamp `json:"expires_at"`
	Agent      string            `json:"agent"`
	Scope      string            `json:"scope"`
	Current    bool              `json:"current"`
}

// newSessionJSON describes a session of the caller.
func newSessionJSON(s *mapdata.Session, c *httpapi.Caller) sessionJSON {
	return sessionJSON{
		ID: s.ID, CreatedAt: httpapi.Timestamp(s.CreatedAt), LastSeenAt: httpapi.Timestamp(s.SeenAt), ExpiresAt: httpapi.Timestamp(sessionEnd(s)),
		Agent: s.Agent, Scope: scopeName(s.Scope), Current: s.ID == c.Session.ID,
	}
}

// getSessions answers GET /v2/account/sessions: the account's sessions (D11.2).
func (a *api) getSessions(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	all, err := a.Accounts.Sessions(r.Context(), c.ID())
	if err != nil {
		return err
	}
	list := make([]sessionJSON, len(all))
	for i := range all {
		list[i] = newSessionJSON(&all[i], c)
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"sessions": list})
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
func (a *api) deleteSession(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id := r.PathValue("id")
	if err := a.Accounts.EndSession(r.Context(), c.ID(), id); err != nil {
		return err
	}
	if id == c.Session.ID {
		a.SetSessionCookie(w, "", 0)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type tokenJSON struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	CreatedAt  httpapi.Timestamp `json:"created_at"`
	LastUsedAt httpapi.Timestamp `json:"last_used_at"`
}

func newTokenJSON(t *mapdata.APIToken) tokenJSON {
	return tokenJSON{ID: t.ID, Name: t.Name, CreatedAt: httpapi.Timestamp(t.CreatedAt), LastUsedAt: httpapi.Timestamp(t.UsedAt)}
}

// getTokens answers GET /v2/account/tokens: the API tokens, without their secrets (D11.5).
func (a *api) getTokens(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	all, err := a.Accounts.APITokens(r.Context(), c.ID())
	if err != nil {
		return err
	}
	list := make([]tokenJSON, len(all))
	for i := range all {
		list[i] = newTokenJSON(&all[i])
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"tokens": list})
}

// postToken answers POST /v2/account/tokens. No other response contains the token.
func (a *api) postToken(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	name := f.Required("name")
	if err := f.Check(); err != nil {
		return err
	}
	text, made, err := a.Accounts.CreateAPIToken(r.Context(), c.ID(), name)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusCreated, map[string]any{"api_token": newTokenJSON(made), "token": text})
}

// deleteToken answers DELETE /v2/account/tokens/{id}.
func (a *api) deleteToken(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if err := a.Accounts.DeleteAPIToken(r.Context(), c.ID(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
