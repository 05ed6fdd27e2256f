package httpapi

import "net/http"

// emailChangeJSON is a change of address that waits for confirmations, in the export.
type emailChangeJSON struct {
	Email       string    `json:"email"`
	RequestedAt timestamp `json:"requested_at"`
	ExpiresAt   timestamp `json:"expires_at"`
}

// postAccountEmail answers POST /v2/account/email: it sends a link to the old and to the new address. The answer is the same
// for every new address (D11.1).
func (a *api) postAccountEmail(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	address := f.required("email")
	if err := f.check(); err != nil {
		return err
	}
	if err := a.limitSignIns(c); err != nil {
		return err
	}
	if err := a.Accounts.RequestEmailChange(r.Context(), c.account, address); err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusAccepted, map[string]string{"status": "sent"})
}

// postConfirmEmail answers POST /v2/account/email/confirm with the token of a link. The token alone is enough, as for a sign-in:
// the e-mail may be read on another device.
func (a *api) postConfirmEmail(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	token := f.required("token")
	if err := f.check(); err != nil {
		return err
	}
	if err := a.limitVerifies(c); err != nil {
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
	return writeJSON(w, r, http.StatusOK, map[string]string{"status": status})
}

// exportEmailChange adds the change of address that waits for confirmations.
func (a *api) exportEmailChange(r *http.Request, c *caller, out *exportJSON) error {
	change, err := a.Accounts.EmailChange(r.Context(), c.id())
	if err != nil || change == nil {
		return err
	}
	out.EmailChange = &emailChangeJSON{change.Email, timestamp(change.CreatedAt), timestamp(change.ExpiresAt)}
	return nil
}
