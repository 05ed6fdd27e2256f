package accounts

import (
	"crypto/sha256"
	"net/http"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/response"
	"wayside/internal/http/console"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// Limits of pairing (D11.3).
const (
	maxPairingsPerHour = 10 // of one client address
	// maxPollsPerMinute is the limit of one client address for all its screens: more than ten screens need.
	maxPollsPerMinute = 240
	// pollSeconds is the interval at which a screen may ask. pollTolerance allows for network jitter.
	pollSeconds   = 5
	pollTolerance = time.Second
)

type pairAnswer struct {
	UserCode    string            `json:"user_code"`
	DeviceCode  string            `json:"device_code"`
	URL         string            `json:"verification_url"`
	CompleteURL string            `json:"verification_url_complete"`
	ExpiresAt   httpapi.Timestamp `json:"expires_at"`
	Interval    int               `json:"interval_seconds"`
}

// postPair answers POST /v2/auth/pair, with which a screen asks to be signed in by a phone.
func (a *api) postPair(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	if err := f.Check(); err != nil {
		return err
	}
	limit := ratelimit.Limit{Count: maxPairingsPerHour, Per: time.Hour}
	if err := a.LimitClient(c, ratelimit.Pairings, limit, "pairings begun from this address"); err != nil {
		return err
	}
	begun, err := a.Accounts.BeginPairing(r.Context(), r.UserAgent())
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusCreated, pairAnswer{
		UserCode: begun.Code.Shown(), DeviceCode: begun.Secret, ExpiresAt: httpapi.Timestamp(begun.ExpiresAt), Interval: pollSeconds,
		URL: a.BaseURL + console.PairPath(""), CompleteURL: a.BaseURL + console.PairPath(begun.Code),
	})
}

// postPairToken answers POST /v2/auth/pair/token, which the screen polls until the phone has approved it and the screen is signed
// in.
func (a *api) postPairToken(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	secret := f.Required("device_code")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.limitPolls(c, secret); err != nil {
		return err
	}
	in, state, err := a.Accounts.PollPairing(r.Context(), secret, a.BrowserOf(r, c))
	switch {
	case err != nil:
		return err
	case in != nil:
		a.SetSessionCookie(w, in.Secret, mapdata.SessionTotal)
		return httpapi.WriteJSON(w, r, http.StatusOK, accountAnswer{newAccountJSON(in.Account, in.Session)})
	case state == mapdata.PairingWaiting:
		return httpapi.WriteJSON(w, r, http.StatusAccepted, map[string]string{"status": string(state)})
	case state == mapdata.PairingDenied:
		return &httpapi.Problem{Type: "pairing-denied", Status: http.StatusGone, Detail: "The phone denied this screen. Ask for a new code if that was a mistake."}
	}
	return &httpapi.Problem{Type: "pairing-ended", Status: http.StatusGone, Detail: "This code is used, older than ten minutes or was tried too often. Ask for a new one."}
}

func (a *api) limitPolls(c *httpapi.Caller, secret string) error {
	if err := a.LimitClient(c, ratelimit.PairingPolls, ratelimit.PerMinute(maxPollsPerMinute), "questions of screens from this address"); err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(secret))
	own := ratelimit.Limit{Count: 1, Per: pollSeconds*time.Second - pollTolerance}
	if d := a.Buckets.Allow(ratelimit.HashKey(ratelimit.PairingPolls, hash[:]), own, 1, a.Now()); !d.OK {
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: "questions of one screen"}
	}
	return nil
}

type pairingJSON struct {
	UserCode  string            `json:"user_code"`
	Status    string            `json:"status"`
	Device    string            `json:"device"`
	Agent     string            `json:"agent"`
	CreatedAt httpapi.Timestamp `json:"created_at"`
	ExpiresAt httpapi.Timestamp `json:"expires_at"`
}

// getPairQR answers GET /v2/auth/pair/qr?code=… with a QR code of the pairing page's URL. Every well-formed code is drawn, whether
// it exists or not, so that the answers cannot be used to guess codes.
func (a *api) getPairQR(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	values, err := httpapi.AppendQuery(nil, r.URL.RawQuery)
	p := httpapi.Params{Values: values}
	text, _ := p.Value("code")
	code, ok := account.ParseUserCode(text)
	if err != nil || !ok {
		p.AddError("code", "invalid_code", "code must be the eight letters of a user_code.")
	}
	if p.Problem != nil {
		return p.Problem
	}
	drawing, err := console.QRCode(a.BaseURL + console.PairPath(code))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	response.Write(w, r, http.StatusOK, "image/svg+xml", drawing)
	return nil
}

// getPairing answers GET /v2/auth/pair/{user_code} with the screen that shows the code. A link on another site's page is refused,
// because a wrong code would count as an attempt of anybody who follows it.
func (a *api) getPairing(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return httpapi.CrossOriginError()
	}
	return a.answerPairing(w, r, c, func(code account.UserCode) (*mapdata.Pairing, error) {
		return a.Accounts.FindPairing(r.Context(), code)
	})
}

// postPairApprove answers POST /v2/auth/pair/{user_code}/approve, which takes no body.
func (a *api) postPairApprove(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.answerPairing(w, r, c, func(code account.UserCode) (*mapdata.Pairing, error) {
		return a.Accounts.AnswerPairing(r.Context(), code, c.Session, true)
	})
}

// postPairDeny answers POST /v2/auth/pair/{user_code}/deny, which takes no body.
func (a *api) postPairDeny(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	return a.answerPairing(w, r, c, func(code account.UserCode) (*mapdata.Pairing, error) {
		return a.Accounts.AnswerPairing(r.Context(), code, c.Session, false)
	})
}

// answerPairing calls do with the code in the path, and answers with the pairing.
func (a *api) answerPairing(
	w http.ResponseWriter, r *http.Request, c *httpapi.Caller, do func(account.UserCode) (*mapdata.Pairing, error),
) error {
	code, ok := account.ParseUserCode(r.PathValue("user_code"))
	if !ok {
		return account.ErrWrongUserCode()
	}
	p, err := a.TryPairingCode(c, code, do)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"pairing": pairingJSON{
		UserCode: code.Shown(), Status: string(p.State), Device: account.DeviceWords(p.Agent), Agent: p.Agent,
		CreatedAt: httpapi.Timestamp(p.CreatedAt), ExpiresAt: httpapi.Timestamp(p.ExpiresAt),
	}})
}
