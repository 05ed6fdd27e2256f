package accounts

import (
	"encoding/json"
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// postPasskeyBegin answers POST /v2/auth/passkey/begin. The response does not depend on the caller.
func (a *api) postPasskeyBegin(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if err := a.LimitVerifies(c); err != nil {
		return err
	}
	options, err := a.Passkeys.BeginSignIn()
	return writeOptions(w, r, options, err)
}

// postPasskeyFinish answers POST /v2/auth/passkey/finish.
func (a *api) postPasskeyFinish(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	credential := credential(f)
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.LimitVerifies(c); err != nil {
		return err
	}
	in, err := a.Passkeys.SignIn(r.Context(), credential, a.BrowserOf(r, c))
	if err != nil {
		return err
	}
	a.SetSessionCookie(w, in.Secret, mapdata.SessionTotal)
	return httpapi.WriteJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(in.Account, in.Session)})
}

// postPasskeyConfirmBegin answers POST /v2/auth/passkey/confirm/begin.
func (a *api) postPasskeyConfirmBegin(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	options, err := a.Passkeys.BeginConfirming(r.Context(), c.Session, c.Account)
	return writeOptions(w, r, options, err)
}

// postPasskeyConfirmFinish answers POST /v2/auth/passkey/confirm/finish.
func (a *api) postPasskeyConfirmFinish(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	credential := credential(f)
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Passkeys.Confirm(r.Context(), c.Session, credential); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type passkeyJSON struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	CreatedAt  httpapi.Timestamp `json:"created_at"`
	LastUsedAt httpapi.Timestamp `json:"last_used_at"` // to the day
	Copied     bool              `json:"copied"`
}

func newPasskeyJSON(p *account.PasskeyLine) passkeyJSON {
	return passkeyJSON{
		ID: p.ID, Name: p.Name, CreatedAt: httpapi.Timestamp(p.CreatedAt), LastUsedAt: httpapi.Timestamp(p.UsedAt), Copied: p.Copied,
	}
}

// passkeysOf lists a caller's passkeys in their JSON form.
func (a *api) passkeysOf(r *http.Request, c *httpapi.Caller) ([]passkeyJSON, error) {
	all, err := a.Passkeys.List(r.Context(), c.ID())
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
func (a *api) getPasskeys(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	list, err := a.passkeysOf(r, c)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"passkeys": list})
}

// postPasskeyAddBegin answers POST /v2/account/passkeys/begin.
func (a *api) postPasskeyAddBegin(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	options, err := a.Passkeys.BeginAdding(r.Context(), c.Session, c.Account)
	return writeOptions(w, r, options, err)
}

// postPasskey answers POST /v2/account/passkeys.
func (a *api) postPasskey(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	name, _ := f.Text("name")
	credential := credential(f)
	if err := f.Check(); err != nil {
		return err
	}
	made, err := a.Passkeys.Add(r.Context(), c.Session, c.Account, name, r.UserAgent(), credential)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusCreated, map[string]any{"passkey": newPasskeyJSON(&account.PasskeyLine{Passkey: *made})})
}

// patchPasskey answers PATCH /v2/account/passkeys/{id}.
func (a *api) patchPasskey(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id := r.PathValue("id")
	if _, err := a.Passkeys.Find(r.Context(), c.ID(), id); err != nil {
		return err
	}
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	name := f.Required("name")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Passkeys.Rename(r.Context(), c.ID(), id, name); err != nil {
		return err
	}
	found, err := a.Passkeys.Find(r.Context(), c.ID(), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"passkey": newPasskeyJSON(found)})
}

// deletePasskey answers DELETE /v2/account/passkeys/{id}.
func (a *api) deletePasskey(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if err := a.Passkeys.Remove(r.Context(), c.ID(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// credential takes the response of the browser's authenticator, unparsed.
func credential(f *httpapi.Fields) []byte {
	value, ok := f.Take("credential")
	if !ok {
		f.AddError("credential", "missing", "is required")
		return nil
	}
	if value.Kind() != '{' {
		f.AddError("credential", "invalid_type", "must be an object")
	}
	return value
}

// writeOptions answers with the options of navigator.credentials.
func writeOptions(w http.ResponseWriter, r *http.Request, options []byte, err error) error {
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, json.RawMessage(options))
}
