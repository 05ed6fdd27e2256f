package console

import (
	"errors"
	"fmt"
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// PasskeyScript calls the browser's passkey functions; a page with one of the templates in parts/passkeys.html names
// it.
const PasskeyScript = "passkeys.js"

const passkeyPath = "/account/passkeys/{id}"

func (c *Console) passkeyRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: passkeyPath, Who: account.ForOwners, Handle: c.getPasskey},
		{Method: http.MethodPost, Path: passkeyPath, Who: account.ForOwners, Handle: c.postPasskey},
		{Method: http.MethodGet, Path: passkeyPath + "/remove", Who: account.ForOwners, Handle: c.getRemovePasskey},
		{Method: http.MethodPost, Path: passkeyPath + "/remove", Who: account.ForOwners, Handle: c.postRemovePasskey},
	}
}

// passkeys is the part of an account's page that {{template "passkeys" .Passkeys}} shows, with PasskeyScript.
type passkeys struct {
	Offered bool // whether browsers offer passkeys for our address
	MayAdd  bool // whether the session was confirmed recently
	Lines   []account.PasskeyLine
	Name    string // default name of one that this browser makes
}

func (c *Console) newPasskeys(r *http.Request, v *Visitor) (*passkeys, error) {
	lines, err := c.Passkeys.List(r.Context(), v.ID())
	if err != nil {
		return nil, err
	}
	part := &passkeys{Offered: c.Passkeys.Offered(), Lines: lines, Name: deviceText(v.Words, r.UserAgent())}
	part.MayAdd = part.Offered && c.Passkeys.MayAdd(v.Session)
	return part, nil
}

// passkeyPage shows one passkey: to rename it, or before it is removed.
type passkeyPage struct {
	*account.PasskeyLine
	Form *Form
}

// getPasskey answers GET /account/passkeys/{id}.
func (c *Console) getPasskey(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showPasskey(w, r, v, "passkey")
}

// getRemovePasskey asks for confirmation before a passkey is removed.
func (c *Console) getRemovePasskey(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showPasskey(w, r, v, "passkey-remove")
}

func (c *Console) showPasskey(w http.ResponseWriter, r *http.Request, v *Visitor, name string) error {
	found, err := c.Passkeys.Find(r.Context(), v.ID(), r.PathValue("id"))
	if err != nil {
		return err
	}
	form := newForm(map[string][]string{"name": {found.Name}})
	return c.show(w, r, v, &Page{Name: name, Data: passkeyPage{found, form}})
}

// postPasskey renames a passkey.
func (c *Console) postPasskey(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	found, err := c.Passkeys.Find(r.Context(), v.ID(), r.PathValue("id"))
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	err = c.Passkeys.Rename(r.Context(), v.ID(), found.ID, form.raw("name"))
	if form.addErrors(v.Words, err) {
		return c.show(w, r, v, &Page{Name: "passkey", Status: http.StatusUnprocessableEntity, Data: passkeyPage{found, form}})
	}
	if err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=passkey-named")
}

func (c *Console) postRemovePasskey(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if err := c.Passkeys.Remove(r.Context(), v.ID(), r.PathValue("id")); err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=passkey-removed")
}

// passkeyNeed is the data of forms whose decision requires a passkey: {{template "passkey-need" .Passkey}} before the
// forms, and in each <form … {{if .Passkey}}data-passkey="confirm"{{end}}>, with PasskeyScript. The script submits the
// form after the passkey was used.
type passkeyNeed struct {
	None bool // the account has no passkey yet
}

// needPasskey returns what the page asks for if the visitor must use a passkey before deciding; nil: the operator does not require
// it, or the visitor used one within the last ten minutes (D11.1).
func (c *Console) needPasskey(r *http.Request, v *Visitor) (*passkeyNeed, error) {
	err := c.Passkeys.AllowDecision(r.Context(), v.Session)
	if !errors.Is(err, mapdata.ErrPasskeyRequired) {
		return nil, err
	}
	lines, err := c.Passkeys.List(r.Context(), v.ID())
	if err != nil {
		return nil, fmt.Errorf("look for passkeys: %w", err)
	}
	return &passkeyNeed{None: len(lines) == 0}, nil
}
