package httpapi

import (
	"encoding/json"
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// postPasskeyBegin answers POST /v2/auth/passkey/begin. The response does not depend on the caller.
func (a *api) postPasskeyBegin(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := a.limitVerifies(c); err != nil {
		return err
	}
	options, err := a.Passkeys.BeginSignIn()
	return writeOptions(w, r, options, err)
}

// postPasskeyFinish answers POST /v2/auth/passkey/finish.
func (a *api) postPasskeyFinish(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	credential := f.credential()
	if err := f.check(); err != nil {
		return err
	}
	if err := a.limitVerifies(c); err != nil {
		return err
	}
	in, err := a.Passkeys.SignIn(r.Context(), credential, a.browserOf(r, c))
	if err != nil {
		return err
	}
	a.setSessionCookie(w, in.Secret, mapdata.SessionTotal)
	return writeJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(in.Account, in.Session)})
}

// postPasskeyConfirmBegin answers POST /v2/auth/passkey/confirm/begin.
func (a *api) postPasskeyConfirmBegin(w http.ResponseWriter, r *http.Request, c *caller) error {
	options, err := a.Passkeys.BeginConfirming(r.Context(), c.session, c.account)
	return writeOptions(w, r, options, err)
}

// postPasskeyConfirmFinish answers POST /v2/auth/passkey/confirm/finish.
func (a *api) postPasskeyConfirmFinish(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	credential := f.credential()
	if err := f.check(); err != nil {
		return err
	}
	if err := a.Passkeys.Confirm(r.Context(), c.session, credential); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type passkeyJSON struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	CreatedAt  timestamp `json:"created_at"`
	LastUsedAt timestamp `json:"last_used_at"` // to the day
	Copied     bool      `json:"copied"`
}

func newPasskeyJSON(p *account.PasskeyLine) passkeyJSON {
	return passkeyJSON{
		ID: p.ID, Name: p.Name, CreatedAt: timestamp(p.CreatedAt), LastUsedAt: timestamp(p.UsedAt), Copied: p.Copied,
	}
}

// passkeysOf lists a caller's passkeys in their JSON form.
func (a *api) passkeysOf(r *http.Request, c *caller) ([]passkeyJSON, error) {
	all, err := a.Passkeys.List(r.Context(), c.id())
	if err != nil {
		return nil, err
	}
	list := make([]passkeyJSON, len(all))
	for i := range all {
		list[i] = newPasskeyJSON(&all[i])
	}
	return list, nil
}

// getPasskeys answers GET /v2/account/passkeys.
func (a *api) getPasskeys(w http.ResponseWriter, r *http.Request, c *caller) error {
	list, err := a.passkeysOf(r, c)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"passkeys": list})
}

// postPasskeyAddBegin answers POST /v2/account/passkeys/begin.
func (a *api) postPasskeyAddBegin(w http.ResponseWriter, r *http.Request, c *caller) error {
	options, err := a.Passkeys.BeginAdding(r.Context(), c.session, c.account)
	return writeOptions(w, r, options, err)
}

// postPasskey answers POST /v2/account/passkeys.
func (a *api) postPasskey(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	name, _ := f.text("name")
	credential := f.credential()
	if err := f.check(); err != nil {
		return err
	}
	made, err := a.Passkeys.Add(r.Context(), c.session, c.account, name, r.UserAgent(), credential)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusCreated, map[string]any{"passkey": newPasskeyJSON(&account.PasskeyLine{Passkey: *made})})
}

// patchPasskey answers PATCH /v2/account/passkeys/{id}.
func (a *api) patchPasskey(w http.ResponseWriter, r *http.Request, c *caller) error {
	id := r.PathValue("id")
	if _, err := a.Passkeys.Find(r.Context(), c.id(), id); err != nil {
		return err
	}
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	name := f.required("name")
	if err := f.check(); err != nil {
		return err
	}
	if err := a.Passkeys.Rename(r.Context(), c.id(), id, name); err != nil {
		return err
	}
	found, err := a.Passkeys.Find(r.Context(), c.id(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"passkey": newPasskeyJSON(found)})
}

// deletePasskey answers DELETE /v2/account/passkeys/{id}.
func (a *api) deletePasskey(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := a.Passkeys.Remove(r.Context(), c.id(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// credential takes the response of the browser's authenticator, unparsed.
func (f *requestFields) credential() []byte {
	value, ok := f.take("credential")
	if !ok {
		f.addError("credential", "missing", "is required")
		return nil
	}
	if value.Kind() != '{' {
		f.addError("credential", "invalid_type", "must be an object")
	}
	return value
}

// writeOptions answers with the options of navigator.credentials.
func writeOptions(w http.ResponseWriter, r *http.Request, options []byte, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, json.RawMessage(options))
}
