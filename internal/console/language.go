package console

import (
	"net/http"
	"strings"
	"time"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

const (
	languagePath   = "/language"
	languageCookie = "wayside_language"
	languageKept   = 365 * 24 * time.Hour
)

func (c *Console) languageRoutes() []Route {
	return []Route{{Method: http.MethodPost, Path: languagePath, Who: account.ForGuests, Handle: c.postLanguage}}
}

// language is the one to speak in: the account's, else what the browser was told on one of our pages, else what it likes
// best, else English.
func (c *Console) language(r *http.Request, v *Visitor) mapdata.Language {
	if v.Account != nil && v.Account.Language != "" {
		return v.Account.Language
	}
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if l, ok := mapdata.ParseLanguage(cookie.Value); ok {
			return l
		}
	}
	if l := mapdata.AcceptedLanguage(strings.Join(r.Header.Values("Accept-Language"), ",")); l != "" {
		return l
	}
	return mapdata.English
}

// postLanguage takes the choice at the foot of every page, and leads back to that page. An account's choice is kept with it,
// and counts for its letters too; the browser's counts once nobody is signed in.
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
			Name: languageCookie, Value: string(l), Path: "/", MaxAge: int(languageKept.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	}
	back, ok := c.local(form.raw("back"))
	if !ok {
		back = "/about"
	}
	return seeOther(w, back)
}
