package console

import (
	"errors"
	"net/http"

	"wayside/internal/ground/mapdata"
)

// emailChangePath is the target of the links by which two addresses confirm a change.
const emailChangePath = "/auth/email-change"

// postEmail sends a link to the old and to the new address. The response is the same for every new address (D11.1).
func (c *Console) postEmail(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	err = c.Accounts.RequestEmailChange(r.Context(), v.Account, form.raw("email"))
	if form.addErrors(v.Words, err) {
		return c.showAccount(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=email-sent")
}

// emailChangePage is the page of a link that confirms a change of address.
type emailChangePage struct {
	Token   string // sent by the button; empty: there is no button
	Wrong   string // key of the error
	Waiting bool   // the other address has not confirmed yet
	Email   string // the new address, once both have confirmed
}

// getEmailChange shows the button. It does not use the link, because programs that scan people's mail open links too (D11.1).
func (c *Console) getEmailChange(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page := emailChangePage{Token: r.URL.Query().Get("token")}
	if page.Token == "" {
		page.Wrong = "verify.not-whole"
	}
	return c.show(w, r, v, &Page{Name: "email-change", Data: page})
}

// postEmailChange handles the page's button.
func (c *Console) postEmailChange(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	page, status := emailChangePage{}, http.StatusOK
	step, err := c.Accounts.ConfirmEmailChange(r.Context(), form.raw("token"))
	switch {
	case errors.Is(err, mapdata.ErrUnauthenticated):
		page.Wrong, status = "email-change.wrong", http.StatusUnauthorized
	case errors.Is(err, mapdata.ErrConflict):
		page.Wrong, status = "email-change.taken", http.StatusConflict
	case err != nil:
		return err
	case step.Done:
		page.Email = step.Email
	default:
		page.Waiting = true
	}
	return c.show(w, r, v, &Page{Name: "email-change", Status: status, Data: page})
}
