package console

import (
	"net/http"

	"wayside/internal/ground/mapdata"
)

// nextSteps lists what a person may want to do after signing in, the most urgent first.
type nextSteps struct {
	Queue   int    // public feeds that wait for the visitor's decision
	Review  string // path of the one that waits longest
	Feeds   int    // of the visitor
	Trouble []feedLine
}

// maxTroubles is how many feeds in trouble are named.
const maxTroubles = 3

// newNextSteps reads the next steps of the visitor, who is signed in.
func (c *Console) newNextSteps(r *http.Request, v *Visitor) (*nextSteps, error) {
	by := mapdata.ActorOf(v.Account)
	views, err := c.Feeds.List(r.Context(), by)
	if err != nil {
		return nil, err
	}
	steps := &nextSteps{}
	for i := range views {
		f := &views[i]
		if !f.ManagedBy(v.ID()) {
			continue
		}
		steps.Feeds++
		state := stateOf(&f.Feed, attemptOf(&f.Feed), c.Now())
		if (state.Tone() == "bad" || state == stateUntried || state == stateSilent || f.ReviewState == mapdata.Rejected) && len(steps.Trouble) < maxTroubles {
			steps.Trouble = append(steps.Trouble, feedLine{View: f, Address: feedURL(f.ID), Situation: state, Review: reviewKey(&f.Feed)})
		}
	}
	if !v.Account.MayReview() {
		return steps, nil
	}
	queue, err := c.Feeds.Queue(r.Context(), by)
	if err != nil {
		return nil, err
	}
	for i := range queue {
		if waitsFor(v, &queue[i]) {
			if steps.Queue++; steps.Review == "" {
				steps.Review = reviewFeedURL(queue[i].ID)
			}
		}
	}
	return steps, nil
}

// waitsFor reports whether readers wait for a feed of the queue and the visitor may decide on it.
func waitsFor(v *Visitor, p *mapdata.PendingFeed) bool {
	return p.Visibility == mapdata.Public && !p.ManagedBy(v.ID())
}

// attemptOf returns the newest attempt as far as the feed itself stores it; nil: there was none. Lists use it, because they read no
// timelines. It does not know whether rows of a push feed were rejected.
func attemptOf(f *mapdata.Feed) *mapdata.Attempt {
	if f.Direction == mapdata.Push {
		if f.LastPushAt.IsZero() {
			return nil
		}
		return &mapdata.Attempt{At: f.LastPushAt, Outcome: mapdata.OutcomeOK, OK: true, Rows: max(1, f.Holds.Entities)}
	}
	p := &f.Polling
	if p.LastFetchedAt.IsZero() {
		return nil
	}
	return &mapdata.Attempt{
		At: p.LastFetchedAt, Outcome: p.LastOutcome, OK: p.LastOutcome == mapdata.OutcomeOK, Rows: p.LastRows, Rejected: p.LastRejected,
	}
}
