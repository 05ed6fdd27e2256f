package accounts

import (
	"net/http"

	"wayside/internal/http/httpapi"
)

// emailChangeJSON is a change of address that waits for confirmations, in the export.
type emailChangeJSON struct {
	Email       string            `json:"email"`
	RequestedAt httpapi.Timestamp `json:"requested_at"`
	ExpiresAt   httpapi.Timestamp `json:"expires_at"`
}

// postAccountEmail answers POST /v2/account/email: it sends a link to the old and to the new address. The answer is the same
// for every new address (D11.1).
func (a *api) postAccountEmail(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	address := f.Required("email")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.LimitSignIns(c); err != nil {
		return err
	}
	if err := a.Accounts.RequestEmailChange(r.Context(), c.Account, address); err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusAccepted, map[string]string{"status": "sent"})
}

// postConfirmEmail answers POST /v2/account/email/confirm with the token of a link. The token alone is enough, as for a sign-in:
// the e-mail may be read on another device.
func (a *api) postConfirmEmail(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	token := f.Required("token")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.LimitVerifies(c); err != nil {
		return err
	}
	step, err := a.Accounts.ConfirmEmailChange(r.Context(), token)
	if err != nil {
		return err
	}
	status := "waiting"
	if step.Done {
		status = "changed"
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]string{"status": status})
}

// exportEmailChange adds the change of address that waits for confirmations.
func (a *api) exportEmailChange(r *http.Request, c *httpapi.Caller, out *exportJSON) error {
	change, err := a.Accounts.EmailChange(r.Context(), c.ID())
	if err != nil || change == nil {
		return err
	}
	out.EmailChange = &emailChangeJSON{change.Email, httpapi.Timestamp(change.CreatedAt), httpapi.Timestamp(change.ExpiresAt)}
	return nil
}
