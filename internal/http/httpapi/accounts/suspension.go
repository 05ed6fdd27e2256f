package accounts

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// adminAccount is an account as admins see it.
type adminAccount struct {
	ID              string            `json:"id"`
	Email           string            `json:"email"`
	Role            string            `json:"role"`
	Tier            string            `json:"tier"`
	CreatedAt       httpapi.Timestamp `json:"created_at"`
	SuspendedAt     httpapi.Timestamp `json:"suspended_at"` // null: not suspended
	SuspendedReason *string           `json:"suspended_reason"`
}

func newAdminAccount(a *mapdata.Account) adminAccount {
	j := adminAccount{
		ID: a.ID.String(), Email: a.Email, Role: string(a.Role), Tier: string(a.Tier), CreatedAt: httpapi.Timestamp(a.CreatedAt),
		SuspendedAt: httpapi.Timestamp(a.Suspension.At),
	}
	if a.Suspended() {
		j.SuspendedReason = &a.Suspension.Reason
	}
	return j
}

func answerAccount(w http.ResponseWriter, r *http.Request) func(*mapdata.Account, error) error {
	return func(account *mapdata.Account, err error) error {
		if err != nil {
			return err
		}
		return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"account": newAdminAccount(account)})
	}
}

// getAdminAccount answers GET /v2/accounts/{id}, where the id may be an e-mail address. Admins only.
func (a *api) getAdminAccount(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	return answerAccount(w, r)(a.Accounts.Find(r.Context(), r.PathValue("id")))
}

// postSuspend answers POST /v2/accounts/{id}/suspend. Admins only.
func (a *api) postSuspend(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	reason, err := httpapi.ReadReason(w, r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return answerAccount(w, r)(a.Accounts.Suspend(r.Context(), c.Account, r.PathValue("id"), reason))
}

// postResumeAccount answers POST /v2/accounts/{id}/resume, which takes no body. Admins only.
func (a *api) postResumeAccount(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return answerAccount(w, r)(a.Accounts.Resume(r.Context(), c.Account, r.PathValue("id")))
}
