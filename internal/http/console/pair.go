package console

import (
	"errors"
	"net/http"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

const pairPath = "/pair"

// PairPath returns the path of the page on which a phone approves the screen that shows the code; without a code the page asks for
// it.
func PairPath(code account.UserCode) string {
	if code == "" {
		return pairPath
	}
	return pairPath + "?code=" + string(code)
}

func (c *Console) pairRoutes() []Route {
	signIn := func(r *http.Request) string {
		r.Body = http.MaxBytesReader(nil, r.Body, maxFormBytes)
		code, _ := account.ParseUserCode(r.FormValue("code"))
		return signInTarget(code, linked(r))
	}
	return []Route{
		{Method: http.MethodGet, Path: pairPath, Who: account.ForAccounts, Handle: c.getPair, signIn: signIn},
		{Method: http.MethodPost, Path: pairPath, Who: account.ForAccounts, Handle: c.postPair, signIn: signIn},
	}
}

// linkedParam marks a path whose code came by a link on another site's page.
const linkedParam = "linked"

// linked reports whether the code of a request came by a link on another site's page, for example an attacker's with the code of
// the attacker's own screen. The page then looks nothing up, so that such links count no attempts, and shows the code in the form
// for the visitor to compare. Sec-Fetch-Site is "none" for an address that was typed or opened from a QR code.
func linked(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return r.URL.Query().Has(linkedParam)
	}
	return true
}

// pairPage is the data of the page of pairing: a question if there is a Code, the result if there is a State, and otherwise an
// input.
type pairPage struct {
	Email   string           // who is signed in
	Code    string           // as the screen shows it
	Bare    string           // as the form sends it
	Pairing *mapdata.Pairing // nil: none was found
	State   string           // pending, approved, denied or used; empty: no code was given, or a wrong one
	Typed   string           // the input, if it is wrong
	Wrong   string           // key of the error
	Linked  bool             // the code came by a link from another site, so that the visitor must compare it
}

// getPair answers GET /pair, the target of a screen's QR code. It approves nothing, because links are also opened by
// programs, and by people who received one from an attacker.
func (c *Console) getPair(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page := pairPage{Email: v.Account.Email}
	typed := r.URL.Query().Get("code")
	if typed == "" {
		return c.show(w, r, v, &Page{Name: "pair", Data: &page})
	}
	code, ok := account.ParseUserCode(typed)
	if !ok {
		return c.showMalformedCode(w, r, v, &page, typed)
	}
	if linked(r) {
		page.Typed, page.Linked = code.Shown(), true
		return c.show(w, r, v, &Page{Name: "pair", Data: &page})
	}
	found, err := v.TryPairingCode(code, func(code account.UserCode) (*mapdata.Pairing, error) {
		return c.Accounts.FindPairing(r.Context(), code)
	})
	return c.showPairing(w, r, v, &page, code, found, err)
}

// postPair handles the page's two buttons.
func (c *Console) postPair(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	page := pairPage{Email: v.Account.Email}
	code, ok := account.ParseUserCode(form.raw("code"))
	if !ok {
		return c.showMalformedCode(w, r, v, &page, form.raw("code"))
	}
	answer := form.raw("answer")
	if answer != "approve" && answer != "deny" {
		return mapdata.Explain(mapdata.ErrMalformed, "form_unfinished", "The form says neither approve nor deny.")
	}
	found, err := v.TryPairingCode(code, func(code account.UserCode) (*mapdata.Pairing, error) {
		return c.Accounts.AnswerPairing(r.Context(), code, v.Session, answer == "approve")
	})
	return c.showPairing(w, r, v, &page, code, found, err)
}

// showMalformedCode shows the error of a malformed code. It is not counted as an attempt.
func (c *Console) showMalformedCode(w http.ResponseWriter, r *http.Request, v *Visitor, page *pairPage, typed string) error {
	const maxBytes = 80 // more than a code has
	if len(typed) > maxBytes {
		typed = typed[:maxBytes] + "…"
	}
	page.Typed, page.Wrong = strings.ToValidUTF8(typed, "\uFFFD"), "pair.mistyped"
	return c.show(w, r, v, &Page{Name: "pair", Status: http.StatusNotFound, Data: page})
}

// showPairing shows the pairing that was found, or why there is none.
func (c *Console) showPairing(
	w http.ResponseWriter, r *http.Request, v *Visitor, page *pairPage, code account.UserCode, found *mapdata.Pairing, err error,
) error {
	status := http.StatusOK
	switch {
	case errors.Is(err, mapdata.ErrNotFound):
		status, page.Typed, page.Wrong = http.StatusNotFound, code.Shown(), "pair.unknown"
	case errors.Is(err, mapdata.ErrConflict):
		status, page.Wrong = http.StatusConflict, "pair.answered"
	case err != nil:
		return err
	default:
		page.Code, page.Bare, page.State = code.Shown(), string(code), string(found.State)
		page.Pairing = found
	}
	return c.show(w, r, v, &Page{Name: "pair", Status: status, Data: page})
}
