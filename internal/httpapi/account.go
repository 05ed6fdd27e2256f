package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/mapdata"
)

type accountAnswer struct {
	Account accountJSON `json:"account"`
}

type accountJSON struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Role      string    `json:"role"`
	Tier      string    `json:"tier"`
	CreatedAt timestamp `json:"created_at"`
}

func newAccountJSON(a *mapdata.Account) accountJSON {
	return accountJSON{
		ID: a.ID.String(), Email: a.Email, Role: string(a.Role), Tier: string(a.Tier), CreatedAt: timestamp(a.CreatedAt),
	}
}

// getAccount answers GET /v2/account: who is signed in.
func (a *api) getAccount(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(c.account)})
}

type sessionJSON struct {
	ID         string    `json:"id"`
	CreatedAt  timestamp `json:"created_at"`
	LastSeenAt timestamp `json:"last_seen_at"`
	ExpiresAt  timestamp `json:"expires_at"`
	Agent      string    `json:"agent"`
	Current    bool      `json:"current"`
}

// newSessionJSON gives a session of the one who asks.
func newSessionJSON(s *mapdata.Session, c *caller) sessionJSON {
	return sessionJSON{
		ID: s.ID, CreatedAt: timestamp(s.CreatedAt), LastSeenAt: timestamp(s.SeenAt), ExpiresAt: timestamp(sessionEnd(s)),
		Agent: s.Agent, Current: s.ID == c.session.ID,
	}
}

// getSessions answers GET /v2/account/sessions: where the account is signed in (D11.2).
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

// sessionEnd is when a session ends if it is not used again.
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
		a.setCookie(w, "", 0)
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

// postToken answers POST /v2/account/tokens: the only answer that shows the token.
func (a *api) postToken(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	name := f.required("name")
	if err := f.done(); err != nil {
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
