package console

import (
	"html/template"
	"net/http"
	"net/url"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
)

const accountPath = "/account"

func (c *Console) accountRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: accountPath, Who: account.ForAccounts, Handle: c.getAccount},
		{Method: http.MethodPost, Path: "/account/sessions/{id}/end", Who: account.ForOwners, Handle: c.postEndSession},
		{Method: http.MethodPost, Path: "/account/end-others", Who: account.ForAccounts, Handle: c.postEndOthers},
		{Method: http.MethodPost, Path: "/account/tokens", Who: account.ForAccounts, Handle: c.postToken},
		{Method: http.MethodGet, Path: "/account/tokens/{id}", Who: account.ForOwners, Handle: c.getToken},
		{Method: http.MethodGet, Path: "/account/tokens/{id}/revoke", Who: account.ForOwners, Handle: c.getRevokeToken},
		{Method: http.MethodPost, Path: "/account/tokens/{id}/revoke", Who: account.ForOwners, Handle: c.postRevokeToken},
		{Method: http.MethodPost, Path: "/account/review-emails", Who: account.ForCurators, Handle: c.postReviewEmails},
		{Method: http.MethodPost, Path: "/account/email", Who: account.ForAccounts, Counts: CountsSignIn, Handle: c.postEmail},
		{Method: http.MethodGet, Path: emailChangePath, Who: account.ForGuests, Handle: c.getEmailChange},
		{Method: http.MethodPost, Path: emailChangePath, Who: account.ForGuests, Counts: CountsVerify, Handle: c.postEmailChange},
		{Method: http.MethodGet, Path: "/account/delete", Who: account.ForAccounts, Handle: c.getDeleteAccount},
		{Method: http.MethodPost, Path: "/account/delete", Who: account.ForAccounts, Handle: c.postDeleteAccount},
	}
}

// accountPage is an account as its owner sees it.
type accountPage struct {
	Change    *mapdata.EmailChange // of the address, waiting for confirmations; nil: none
	Sessions  []sessionLine
	Others    bool // whether there are other sessions
	Tokens    []mapdata.APIToken
	Passkeys  *passkeys
	Languages []mapdata.Language
	Reviews   bool  // whether the account may review
	Emails    bool  // whether it gets e-mails about feeds that wait for review
	Form      *Form // for a token or an address
	Next      *nextSteps

	HasApps bool            // apps are on
	Apps    []installedLine // installed by the account
}

type sessionLine struct {
	mapdata.Session
	Current bool
	Paired  bool // a screen that a phone signed in
}

// getAccount answers GET /account.
func (c *Console) getAccount(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showAccount(w, r, v, newForm(nil), http.StatusOK)
}

func (c *Console) showAccount(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, status int) error {
	page := accountPage{Form: form, Languages: mapdata.Languages()}
	sessions, err := c.Accounts.Sessions(r.Context(), v.ID())
	if err != nil {
		return err
	}
	for i := range sessions {
		line := sessionLine{sessions[i], sessions[i].ID == v.Session.ID, sessions[i].Scope == mapdata.ScopeScreen}
		page.Others = page.Others || !line.Current
		page.Sessions = append(page.Sessions, line)
	}
	if page.Change, err = c.Accounts.EmailChange(r.Context(), v.ID()); err != nil {
		return err
	}
	if page.Tokens, err = c.Accounts.APITokens(r.Context(), v.ID()); err != nil {
		return err
	}
	if page.Passkeys, err = c.newPasskeys(r, v); err != nil {
		return err
	}
	if page.Next, err = c.newNextSteps(r, v); err != nil {
		return err
	}
	page.HasApps = c.Apps != nil
	if page.Apps, err = c.installedLines(r, v); err != nil {
		return err
	}
	if page.Reviews = v.Account.MayReview(); page.Reviews {
		if page.Emails, err = c.Accounts.ReviewEmails(r.Context(), v.ID()); err != nil {
			return err
		}
	}
	return c.show(w, r, v, &Page{Name: "account", Status: status, Data: &page, Scripts: []string{PasskeyScript, PageScript}})
}

// postReviewEmails turns e-mails about feeds that wait for review on or off.
func (c *Console) postReviewEmails(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	done := "review-emails-off"
	on := form.raw("emails") == "on"
	if on {
		done = "review-emails-on"
	}
	if err := c.Accounts.SetReviewEmails(r.Context(), v.Account, on); err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done="+done)
}

// postEndSession ends a session of the account.
func (c *Console) postEndSession(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id := r.PathValue("id")
	if err := c.Accounts.EndSession(r.Context(), v.ID(), id); err != nil {
		return err
	}
	if id == v.Session.ID {
		v.SetSession(w, "")
		return seeOther(w, signInPath+"?done=signed-out")
	}
	return seeOther(w, accountPath+"?done=session-ended")
}

// postEndOthers ends all other sessions of the account, and approvals of screens that have not asked yet.
func (c *Console) postEndOthers(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if err := c.Accounts.EndOtherSessions(r.Context(), v.Session); err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=others-ended")
}

// apiTokenPage shows an API token: for minutes after it is made, or before it is revoked.
type apiTokenPage struct {
	Text  string // the token; empty: it is no longer shown
	Token *mapdata.APIToken
	Base  string
}

// postToken makes an API token, and redirects to the page that shows it.
func (c *Console) postToken(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	text, made, err := c.Accounts.CreateAPIToken(r.Context(), v.ID(), form.raw("name"))
	if form.addErrors(v.Words, err) {
		return c.showAccount(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return c.redirectWithToken(w, text, apiTokenURL(made.ID), "")
}

// apiTokenURL returns the path of the page that shows an API token while it is new.
func apiTokenURL(id string) string { return accountPath + "/tokens/" + id }

// getToken answers GET /account/tokens/{id}. Once the token is no longer shown, it redirects to the account's page.
func (c *Console) getToken(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	made, err := c.ownAPIToken(r, v)
	if err != nil {
		return err
	}
	text, ok := c.tokenOf(r, apiTokenURL(made.ID))
	if !ok {
		return seeOther(w, accountPath+"#tokens")
	}
	return c.show(w, r, v, &Page{Name: "token", Scripts: []string{PageScript}, Data: apiTokenPage{Text: text, Token: made, Base: c.BaseURL}})
}

// ownAPIToken finds the token of the path among the visitor's own.
func (c *Console) ownAPIToken(r *http.Request, v *Visitor) (*mapdata.APIToken, error) {
	tokens, err := c.Accounts.APITokens(r.Context(), v.ID())
	if err != nil {
		return nil, err
	}
	for i := range tokens {
		if tokens[i].ID == r.PathValue("id") {
			return &tokens[i], nil
		}
	}
	return nil, mapdata.ErrNotFound
}

// getRevokeToken asks for confirmation before a token is revoked.
func (c *Console) getRevokeToken(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	found, err := c.ownAPIToken(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "token-revoke", Data: apiTokenPage{Token: found}})
}

func (c *Console) postRevokeToken(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	if err := c.Accounts.DeleteAPIToken(r.Context(), v.ID(), r.PathValue("id")); err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=token-revoked")
}

// deletePage asks for confirmation before an account is deleted, and lists what is deleted with it.
type deletePage struct {
	Form  *Form
	Feeds []mapdata.Feed
	Votes int // that are still linked to the account
}

// getDeleteAccount shows the confirmation.
func (c *Console) getDeleteAccount(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.showDelete(w, r, v, newForm(nil), http.StatusOK)
}

func (c *Console) showDelete(w http.ResponseWriter, r *http.Request, v *Visitor, form *Form, status int) error {
	page := deletePage{Form: form}
	feeds, err := c.Feeds.List(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return err
	}
	for i := range feeds {
		if feeds[i].Owner == v.ID() {
			page.Feeds = append(page.Feeds, feeds[i].Feed)
		}
	}
	votes, err := c.Accounts.Ballots(r.Context(), v.ID())
	if err != nil {
		return err
	}
	page.Votes = len(votes)
	return c.show(w, r, v, &Page{Name: "account-delete", Status: status, Data: &page})
}

// postDeleteAccount deletes the account if its e-mail address was typed.
func (c *Console) postDeleteAccount(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	err = c.Accounts.Delete(r.Context(), v.Account, form.raw("email"))
	if form.addErrors(v.Words, err) {
		return c.showDelete(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	v.SetSession(w, "")
	return seeOther(w, "/about?"+url.Values{"done": {"account-deleted"}}.Encode())
}

// device describes a session's User-Agent in our own words, as HTML.
func device(w *words.Words, agent string) template.HTML {
	key, args := deviceWords(w, agent)
	return w.HTML(key, args...)
}

// deviceText describes a session's User-Agent as device does, in plain text.
func deviceText(w *words.Words, agent string) string {
	key, args := deviceWords(w, agent)
	return w.Text(key, args...)
}

func deviceWords(w *words.Words, agent string) (key string, args []any) {
	browser, system := account.Device(agent)
	switch {
	case browser == "" && system == "":
		return "device.unknown", nil
	case browser == "":
		return "system." + system, nil
	case system == "":
		return "device.browser", []any{browser}
	}
	return "device.on", []any{browser, w.Text("system." + system)}
}
