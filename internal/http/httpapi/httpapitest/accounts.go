package httpapitest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// SignInAgain makes another session of an account, as on another device.
func (d *Service) SignInAgain(email, agent string) *mapdata.Session {
	d.T.Helper()
	link, err := d.Accounts.LoginLink(d.T.Context(), email)
	if err != nil {
		d.T.Fatal(err)
	}
	in, err := d.Accounts.VerifyToken(d.T.Context(), link, account.Browser{Agent: agent})
	if err != nil {
		d.T.Fatal(err)
	}
	return in.Session
}

// CallEvery lets virtual time pass, looks every minute for whom to e-mail, over more than three hours every ten minutes until the last
// ten, and returns the e-mails that were queued.
func (d *Service) CallEvery(minutes int) []mapdata.Email {
	d.T.Helper()
	for left := minutes; left > 0; {
		step := 1
		if minutes > 3*60 && left > 10 {
			step = 10
		}
		left -= step
		if err := d.Feeds.Call(d.T.Context()); err != nil {
			d.T.Fatal(err)
		}
		d.Advance(time.Duration(step) * time.Minute)
	}
	return d.TakeEmails()
}

// TakeEmails empties the outbox.
func (d *Service) TakeEmails() []mapdata.Email {
	d.T.Helper()
	all, err := d.DB.DueEmails(d.T.Context(), d.Time(), d.Time(), 1000)
	if err != nil {
		d.T.Fatal(err)
	}
	for i := range all {
		if err := d.DB.EmailSent(d.T.Context(), all[i].ID); err != nil {
			d.T.Fatal(err)
		}
	}
	return all
}

// SignedInAnew returns another browser that is signed in to an account.
func (d *Service) SignedInAnew(email string) *Browser {
	d.T.Helper()
	link, err := d.Accounts.LoginLink(d.T.Context(), email)
	if err != nil {
		d.T.Fatal(err)
	}
	b := d.Browser()
	b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(d.T, http.StatusOK)
	return b
}

// ChangeEmails returns the waiting e-mails about changes of addresses, by recipient, and removes them from the outbox.
func (d *Service) ChangeEmails() map[string]mapdata.Email {
	d.T.Helper()
	all, err := d.DB.DueEmails(d.T.Context(), d.Time(), d.Time().Add(time.Hour), 10)
	if err != nil {
		d.T.Fatal(err)
	}
	found := make(map[string]mapdata.Email)
	for _, email := range all {
		if err := d.DB.EmailSent(d.T.Context(), email.ID); err != nil {
			d.T.Fatal(err)
		}
		if strings.HasPrefix(string(email.Kind), "email_change") {
			found[email.Address] = email
		}
	}
	return found
}

// Screen is a car's browser that asks to be signed in.
type Screen struct {
	*Browser
	UserCode   string `json:"user_code"`
	DeviceCode string `json:"device_code"`
	URL        string `json:"verification_url"`
	WholeURL   string `json:"verification_url_complete"`
	ExpiresAt  string `json:"expires_at"`
	Interval   int    `json:"interval_seconds"`
}

// Screen begins the pairing of a screen with a browser of the given name.
func (d *Service) Screen(agent string) *Screen {
	d.T.Helper()
	s := &Screen{Browser: d.Browser()}
	s.Send(http.MethodPost, "/v2/auth/pair", `{}`, "User-Agent", agent).Want(d.T, http.StatusCreated).Decode(d.T, s)
	return s
}

// Poll asks once whether the screen is paired.
func (s *Screen) Poll() Reply {
	s.T.Helper()
	return s.Send(http.MethodPost, "/v2/auth/pair/token", fmt.Sprintf(`{"device_code": %q}`, s.DeviceCode))
}

// Next polls at the earliest time allowed.
func (s *Screen) Next() Reply {
	s.T.Helper()
	s.Advance(5 * time.Second)
	return s.Poll()
}

// Path returns the address of the pairing in the API.
func (s *Screen) Path() string { return "/v2/auth/pair/" + s.UserCode }

// PairingView is a phone's view of a screen.
type PairingView struct {
	Pairing struct {
		UserCode, Status, Device, Agent string
		CreatedAt                       string `json:"created_at"`
		ExpiresAt                       string `json:"expires_at"`
	}
}

// Pairing reads the pairing at an address.
func (b *Browser) Pairing(path string) PairingView {
	b.T.Helper()
	var s PairingView
	b.Send(http.MethodGet, path, "").Want(b.T, http.StatusOK).Decode(b.T, &s)
	return s
}

// Form posts a page's form as a browser does.
func (b *Browser) Form(path string, fields url.Values, header ...string) Reply {
	b.T.Helper()
	header = append([]string{"Content-Type", FormType, "Origin", b.Server.URL, "Sec-Fetch-Site", "same-origin"}, header...)
	return b.Send(http.MethodPost, path, fields.Encode(), header...)
}

// PairedScreen returns a screen that a phone has signed in.
func (d *Service) PairedScreen(phone *Browser) *Browser {
	d.T.Helper()
	begun, err := d.Accounts.BeginPairing(d.T.Context(), "Mozilla/5.0 (X11; Linux) QtCarBrowser Safari/537.36 Tesla/2026.40")
	if err != nil {
		d.T.Fatal(err)
	}
	phone.Send(http.MethodPost, "/v2/auth/pair/"+begun.Code.Shown()+"/approve", "").Want(d.T, http.StatusOK)
	screen := d.Browser()
	screen.Send(http.MethodPost, "/v2/auth/pair/token", `{"device_code": "`+begun.Secret+`"}`).Want(d.T, http.StatusOK)
	return screen
}

// WantProblem checks the status and the type of a problem document.
func (r Reply) WantProblem(t *testing.T, status int, name string) {
	t.Helper()
	if r.Want(t, status); !strings.Contains(r.Body, `"/docs#problem-`+name+`"`) {
		t.Errorf("want the problem %s: %s", name, r.Body)
	}
}

// WantEnd waits until a stream has ended.
func (w *Stream) WantEnd(name string) {
	w.t.Helper()
	timeout := time.After(EventTimeout)
	for {
		select {
		case _, open := <-w.Events:
			if !open {
				return
			}
		case <-timeout:
			w.t.Fatalf("%s: the stream does not end", name)
		}
	}
}

// AnotherBrowser signs an account in, in another browser.
func (d *Service) AnotherBrowser(email string) *Browser {
	d.T.Helper()
	link, err := d.Accounts.LoginLink(d.T.Context(), email)
	if err != nil {
		d.T.Fatal(err)
	}
	b := d.Browser()
	b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(d.T, http.StatusOK)
	return b
}
