package navigation

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi"
)

// Bounds of sessions that continue a lost one. Each may cost a route that no limit counts, so that a caller with few ids gets few
// of them; beyond the bounds, they count as any other session does.
const (
	resumptionsPerID      = 3 // attempts: a node may be about to stop, too
	resumptionsPerAddress = 20
	resumptionsPerAccount = 20
	resumptionPeriod      = 10 * time.Minute
	endTimeout            = time.Second // for the earlier node to end a session that it still has
)

// resumes reports whether a caller continues a session that was lost with its node, so that the limit on routes does not count the
// search (D15.23 is about requests that callers choose to make). A session that still exists is ended, and the new one counts.
func (a *api) resumes(ctx context.Context, c *httpapi.Caller, id string) bool {
	if id == "" || a.Drives == nil {
		return false
	}
	now := a.Now()
	if _, ok := a.Drives.IDs.Read(id, now); !ok || a.endDrive(ctx, c, id) {
		return false
	}
	hash := sha256.Sum256([]byte(id))
	key, limit := ratelimit.ClientKey(ratelimit.Resumptions, c.Client), ratelimit.Limit{Count: resumptionsPerAddress, Per: resumptionPeriod}
	if c.Account != nil {
		key, limit.Count = ratelimit.AccountKey(ratelimit.Resumptions, c.Account.ID), resumptionsPerAccount
	}
	return a.Buckets.Allow(ratelimit.HashKey(ratelimit.ResumedIDs, hash[:]), ratelimit.Limit{Count: resumptionsPerID, Per: resumptionPeriod}, 1, now).OK &&
		a.Buckets.Allow(key, limit, 1, now).OK
}

// maxResumingBody bounds the body of a caller who has used up the limit on routes, which is read because it may continue a lost
// session.
const maxResumingBody = 16 << 10

// boundDrive bounds the body of a request that begins a session if the caller has used up the limit on routes.
func (a *api) boundDrive(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) {
	if a.PeekRoutes(c) != nil {
		r.Body = http.MaxBytesReader(w, r.Body, maxResumingBody)
	}
}

// limitDrive counts the route of a new session, unless the session continues a lost one.
func (a *api) limitDrive(w http.ResponseWriter, r *http.Request, c *httpapi.Caller, resumes string, cost int) error {
	if a.resumes(r.Context(), c, resumes) {
		return nil
	}
	return a.LimitRoutes(w, c, cost)
}

// endDrive ends the session of an id, and reports whether it still existed.
func (a *api) endDrive(ctx context.Context, c *httpapi.Caller, id string) bool {
	if a.Drives.Close(id) {
		return true
	}
	owner, ok := a.Drives.Owner(id)
	if !ok || a.Nodes == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	resp, err := a.Nodes.Ask(ctx, owner, http.MethodDelete, httpapi.DrivesPath+"/"+id, http.Header{httpapi.ClientHeader: {c.Client.String()}}, nil, false)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusNoContent
}
