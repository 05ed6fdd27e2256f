package console

import (
	"html/template"
	"strconv"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// feedState is the state of a feed in one word, which is also a group of keys of the messages.
type feedState string

// The states. If several apply, the first of them is shown.
const (
	stateTakenDown      feedState = "taken-down"  // paused by a curator or the operator
	stateDeactivated    feedState = "deactivated" // by failures
	statePaused         feedState = "paused"      // by its owner
	stateUntried        feedState = "untried"     // nothing was fetched or pushed yet
	stateFailing        feedState = "failing"     // the last fetch failed
	stateRefused        feedState = "refused"     // the last push was refused
	stateSilent         feedState = "silent"      // nothing was pushed for a day
	stateEmpty          feedState = "empty"       // the last attempt had no rows
	stateAllRejected    feedState = "useless"     // the last attempt had only rejected rows
	statePartlyRejected feedState = "partly"      // some of its rows were rejected
	stateWorking        feedState = "working"
)

// Tone returns how the state is marked: good, open or bad. The page also states it in words.
func (s feedState) Tone() string {
	switch s {
	case stateWorking:
		return "good"
	case stateTakenDown, stateDeactivated, stateFailing, stateRefused, stateAllRejected:
		return "bad"
	case statePaused, stateUntried, stateSilent, stateEmpty, statePartlyRejected:
	}
	return "open"
}

const silentAfter = 24 * time.Hour

// stateOf derives the state from a feed and its newest attempt; nil: there was none.
func stateOf(f *mapdata.Feed, last *mapdata.Attempt, now time.Time) feedState {
	switch {
	case f.Pause.InForce():
		return stateTakenDown
	case f.DeactivatedByFailures():
		return stateDeactivated
	case !f.Active:
		return statePaused
	case last == nil:
		return stateUntried
	case !last.OK && f.Direction == mapdata.Push:
		return stateRefused
	case !last.OK:
		return stateFailing
	case f.Direction == mapdata.Push && now.Sub(last.At) > silentAfter:
		return stateSilent
	case last.Rows == 0:
		return stateEmpty
	case last.Accepted() == 0:
		return stateAllRejected
	case last.Rejected > 0:
		return statePartlyRejected
	}
	return stateWorking
}

// lastAttempt returns a feed's newest attempt; nil: none is stored.
func lastAttempt(h *feed.History) *mapdata.Attempt {
	if len(h.Attempts) == 0 {
		return nil
	}
	return &h.Attempts[0]
}

// notice is something about a feed that its owner must know, with advice.
type notice struct {
	Tone  string
	Title template.HTML
	Text  template.HTML
	Then  template.HTML // consequence of doing nothing; empty: there is none
	Note  string        // a curator's note; empty: none
	Try   bool          // show a button to try again
	At    string        // where a document in another format is bad: "xml: line 3"; empty: not known
}

// noticeBuilder makes the notices of one feed.
type noticeBuilder struct {
	words *words.Words
	feed  *mapdata.Feed
	last  *mapdata.Attempt
	now   time.Time
	all   []notice
}

// notices describes a feed's state, the state of its review, and what to do next; the most urgent is first.
func notices(w *words.Words, f *mapdata.Feed, h *feed.History, now time.Time) []notice {
	t := &noticeBuilder{words: w, feed: f, last: lastAttempt(h), now: now}
	t.health()
	if f.Direction == mapdata.Pull && f.Active && !f.Pause.InForce() {
		t.schedule()
	}
	t.review()
	return t.all
}

func (t *noticeBuilder) add(tone, key string, args ...any) *notice {
	t.all = append(t.all, notice{Tone: tone, Title: t.words.HTML(key, args...), Text: t.words.HTML(key+".do", args...)})
	return &t.all[len(t.all)-1]
}

func (t *noticeBuilder) health() {
	s := stateOf(t.feed, t.last, t.now)
	key := "feed.is." + string(s)
	switch s {
	case stateTakenDown:
		t.add(s.Tone(), key).Note = t.feed.Pause.Reason
	case stateFailing, stateDeactivated:
		t.failure(s, key)
	case stateRefused:
		t.add(s.Tone(), key).Text = pushAdvice(t.words, t.last)
	case stateUntried, statePaused:
		t.add(s.Tone(), key+"."+string(t.feed.Direction))
	case stateSilent:
		t.add(s.Tone(), key, t.words.Ago(t.now.Sub(t.last.At)))
	case statePartlyRejected, stateAllRejected:
		t.add(s.Tone(), key, t.last.Rejected, t.last.Rows)
	case stateEmpty, stateWorking:
		t.add(s.Tone(), key, t.last.Rows, t.words.Ago(t.now.Sub(t.last.At)))
	}
}

// failure explains why polls fail. The attempts of a deactivated feed may be pruned; the feed itself stores its last
// error.
func (t *noticeBuilder) failure(s feedState, key string) {
	last := t.last
	if last == nil {
		last = &mapdata.Attempt{Outcome: t.feed.Polling.LastOutcome}
	}
	n := t.add(s.Tone(), key, outcomeText(t.words, last), t.feed.Polling.ConsecutiveFailures, mapdata.MaxFailures)
	n.Then, n.Text, n.Try = n.Text, outcomeAdvice(t.words, last), s == stateDeactivated
	n.At = placeOfFault(t.feed)
}

// schedule describes a fetch that is due, and a snapshot that shrank.
func (t *noticeBuilder) schedule() {
	if t.last != nil && !t.feed.Polling.NextFetchAt.After(t.now) {
		t.add("open", "feed.is.due")
	}
	if t.feed.Polling.Shrank {
		t.add("open", "feed.is.shrank")
	}
}

// review describes the state of the review.
func (t *noticeBuilder) review() {
	f := t.feed
	switch {
	case f.ReviewState == mapdata.Rejected:
		t.add("bad", "feed.is.review.rejected").Note = f.ReviewNote
	case f.Visibility == mapdata.Private:
		t.add("open", "feed.is.review.private")
	case f.Approved() && f.Pause.InForce(): // shown to nobody
	case f.Approved():
		approved := t.add("good", "feed.is.review.approved")
		if f.Direction == mapdata.Pull {
			approved.Then = t.words.HTML("feed.is.review.approved.url")
		}
		if f.Proposed != nil {
			t.add("open", "feed.is.review.change")
		} else if f.ReviewNote != "" {
			t.add("bad", "feed.is.review.change-rejected").Note = f.ReviewNote
		}
	case f.ReviewNote == feed.NoteFormat:
		t.add("open", "feed.is.review.again").Then = t.words.HTML("feed.note.format")
	case f.ReviewNote == feed.NoteOrigin:
		t.add("open", "feed.is.review.again").Then = t.words.HTML("feed.note.origin")
	case f.ReviewNote != "":
		t.add("open", "feed.is.review.again").Note = f.ReviewNote
	default:
		t.add("open", "feed.is.review.pending")
	}
}

// outcomeText describes an outcome: "The server answered 404".
func outcomeText(w *words.Words, a *mapdata.Attempt) string {
	if a.Outcome == mapdata.OutcomeHTTPStatus && a.Status == 0 {
		return w.Text("outcome.http_status.unknown")
	}
	group := "outcome." + string(a.Outcome)
	return w.Text(w.First(group+"."+string(a.Reason), group, "outcome.other"), strconv.Itoa(a.Status))
}

// outcomeAdvice advises on a failed fetch.
func outcomeAdvice(w *words.Words, a *mapdata.Attempt) template.HTML {
	switch {
	case a.Outcome == mapdata.OutcomeHTTPStatus:
		return w.HTML(statusAdvice(a))
	case a.Outcome == mapdata.OutcomeBlockedAddress, a.Outcome == mapdata.OutcomeRedirectError:
		// The rule that the address violates, if the reason names one.
		if rule := w.First("wrong.pull_url."+string(a.Reason), "wrong."+string(a.Reason)); w.Has(rule) {
			return w.HTML("outcome."+string(a.Outcome)+".address.do", w.HTML(rule))
		}
	}
	return adviceByReason(w, "outcome."+string(a.Outcome), a.Reason, "outcome.other.do")
}

// pushAdvice advises on a refused push.
func pushAdvice(w *words.Words, a *mapdata.Attempt) template.HTML {
	return adviceByReason(w, "pushed."+string(a.Outcome), a.Reason, "pushed.other.do")
}

// adviceByReason returns the most specific advice for which there is a message.
func adviceByReason(w *words.Words, group string, reason mapdata.Reason, other string) template.HTML {
	return w.HTML(w.First(group+"."+string(reason)+".do", group+".do", other))
}

// statusAdvice returns the key of the advice for a status of the provider's server.
func statusAdvice(a *mapdata.Attempt) string {
	const serverError = 500
	switch {
	case a.Status == 401, a.Status == 403:
		return "outcome.http_status.refused.do"
	case a.Status == 404, a.Status == 410:
		return "outcome.http_status.missing.do"
	case a.Status == 429:
		return "outcome.http_status.often.do"
	case a.Status >= serverError:
		return "outcome.http_status.broken.do"
	}
	return "outcome.http_status.do"
}
