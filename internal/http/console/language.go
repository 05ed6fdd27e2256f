package console

import (
	"net/http"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

const (
	languagePath       = "/language"
	languageCookieName = "wayside_language"
	languageCookieTTL  = 365 * 24 * time.Hour
)

func (c *Console) languageRoutes() []Route {
	return []Route{{Method: http.MethodPost, Path: languagePath, Who: account.ForGuests, Handle: c.postLanguage}}
}

// languageCookie returns the cookie's name.
func (c *Console) languageCookie() string {
	if c.https() {
		return "__Host-" + languageCookieName
	}
	return languageCookieName
}

// language returns the visitor's language: the account's, else the one of the cookie, else the best of Accept-Language, else
// English.
func (c *Console) language(r *http.Request, v *Visitor) mapdata.Language {
	if v.Account != nil && v.Account.Language != "" {
		return v.Account.Language
	}
	if cookie, err := r.Cookie(c.languageCookie()); err == nil {
		if l, ok := mapdata.ParseLanguage(cookie.Value); ok {
			return l
		}
	}
	if l := mapdata.AcceptedLanguage(strings.Join(r.Header.Values("Accept-Language"), ",")); l != "" {
		return l
	}
	return mapdata.English
}

// postLanguage handles the choice of a language in every page's footer, and redirects back. An account's choice is stored
// with the account, and applies to its e-mails too; the cookie's choice applies to guests.
func (c *Console) postLanguage(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if l, ok := mapdata.ParseLanguage(form.raw("language")); ok {
		if v.Session != nil {
			if err := c.Accounts.SetLanguage(r.Context(), v.ID(), l); err != nil {
				return err
			}
		}
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // it holds a choice of three, and plain http must carry it too
			Name: c.languageCookie(), Value: string(l), Path: "/", MaxAge: int(languageCookieTTL.Seconds()), HttpOnly: true,
			SameSite: http.SameSiteLaxMode, Secure: c.https(),
		})
	}
	back, ok := c.localPath(form.raw("back"))
	if !ok {
		back = "/about"
	}
	return seeOther(w, back)
}
