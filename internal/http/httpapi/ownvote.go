package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Revisions lets voters read their own votes at every node. It is declared here because no other use case waits for a
// revision of the store.
type Revisions interface {
	// Newest reads a revision of the store that is not below that of any transaction committed before the call.
	Newest(ctx context.Context) (int64, error)
	// WaitFor waits until readers at this node see the revision, or ctx ends.
	WaitFor(ctx context.Context, revision int64)
}

// A vote is in the voter's next read (D9.8). The answer to a vote waits for its own node. For the other nodes, which follow within
// a second, a cookie names the revision of the store that contains the vote, and a node that has not reached that revision lets the
// read wait. So nothing is shared between nodes, and only a client that has just voted ever waits.
const (
	voteCookie    = "wayside_vote"
	voteCookieAge = 5 * time.Second
	maxVoteWait   = time.Second // also for a revision that the client invented
)

// FollowVote waits until readers at this node see the committed vote, and sets the cookie with which the caller's next reads wait
// at other nodes. The vote is stored, so that a failure here only delays when it is seen.
func (a *API) FollowVote(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), maxVoteWait)
	defer cancel()
	revision, err := a.Revisions.Newest(ctx)
	if err != nil {
		a.Log.Warn("cannot tell when a vote is seen", "error", err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: voteCookie, Value: strconv.FormatInt(revision, 10), Path: "/v2/", MaxAge: int(voteCookieAge.Seconds()),
		HttpOnly: true, Secure: a.https, SameSite: http.SameSiteLaxMode,
	})
	a.Revisions.WaitFor(ctx, revision)
	if a.AwaitRoads != nil {
		a.AwaitRoads(ctx) // a report may close a road, and a dispute open it
	}
}

// awaitVote waits for the vote of a caller who has just voted, perhaps at another node.
func (a *API) awaitVote(r *http.Request) {
	cookie, err := r.Cookie(voteCookie)
	if err != nil {
		return
	}
	revision, err := strconv.ParseInt(cookie.Value, 10, 64)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxVoteWait)
	defer cancel()
	a.Revisions.WaitFor(ctx, revision)
}
