package console

import (
	"html/template"
	"strconv"
	"time"

	"wayside/internal/console/words"
	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// situation is how a feed does, in one word: a group of keys of the catalogue.
type situation string

// The situations. Those above come before those below where several hold.
const (
	deactivated situation = "deactivated" // by failures
	paused      situation = "paused"      // by its owner
	untried     situation = "untried"     // nothing was fetched or pushed yet
	failing     situation = "failing"     // the last fetch failed
	refused     situation = "refused"     // the last push was refused
	silent      situation = "silent"      // nothing was pushed for a day
	empty       situation = "empty"       // the last attempt had no rows
	useless     situation = "useless"     // it had none that was accepted
	partly      situation = "partly"      // some of its rows were rejected
	working     situation = "working"
)

// Tone is how it is marked: good, open or bad. It is never told by colour alone.
func (s situation) Tone() string {
	switch s {
	case working:
		return "good"
	case deactivated, failing, refused, useless:
		return "bad"
	case paused, untried, silent, empty, partly:
	}
	return "open"
}

const (
	failuresToDeactivate = 20
	silence              = 24 * time.Hour
)

// situationOf judges a feed by its state and its newest attempt; nil: there was none.
func situationOf(f *mapdata.Feed, last *mapdata.Attempt, now time.Time) situation {
	switch {
	case !f.Active && f.Polling.ConsecutiveFailures >= failuresToDeactivate:
		return deactivated
	case !f.Active:
		return paused
	case last == nil:
		return untried
	case !last.OK && f.Direction == mapdata.Push:
		return refused
	case !last.OK:
		return failing
	case f.Direction == mapdata.Push && now.Sub(last.At) > silence:
		return silent
	case last.Rows == 0:
		return empty
	case last.Accepted() == 0:
		return useless
	case last.Rejected > 0:
		return partly
	}
	return working
}

// newest is a feed's last attempt; nil: there was none that is still known.
func newest(h *feed.History) *mapdata.Attempt {
	if len(h.Attempts) == 0 {
		return nil
	}
	return &h.Attempts[0]
}

// notice is something that its owner must know about a feed, and what to do.
type notice struct {
	Tone  string
	Title template.HTML
	Text  template.HTML
	Then  template.HTML // what happens if nothing is done; empty: nothing
	Note  string        // a curator's; empty: none
	Try   bool          // a button to try again belongs here
}

// telling makes the notices of one feed.
type telling struct {
	words *words.Words
	feed  *mapdata.Feed
	last  *mapdata.Attempt
	now   time.Time
	all   []notice
}

// notices says in words how a feed does, where its review stands, and what to do next: what needs doing first.
func notices(w *words.Words, f *mapdata.Feed, h *feed.History, now time.Time) []notice {
	t := &telling{words: w, feed: f, last: newest(h), now: now}
	t.health()
	if f.Direction == mapdata.Pull && f.Active {
		t.schedule()
	}
	t.review()
	return t.all
}

func (t *telling) add(tone, key string, args ...any) *notice {
	t.all = append(t.all, notice{Tone: tone, Title: t.words.HTML(key, args...), Text: t.words.HTML(key+".do", args...)})
	return &t.all[len(t.all)-1]
}

func (t *telling) health() {
	s := situationOf(t.feed, t.last, t.now)
	key := "feed.is." + string(s)
	switch s {
	case failing, deactivated:
		t.failure(s, key)
	case refused:
		t.add(s.Tone(), key).Text = pushedDo(t.words, t.last)
	case untried, paused:
		t.add(s.Tone(), key+"."+string(t.feed.Direction))
	case silent:
		t.add(s.Tone(), key, t.words.Ago(t.now.Sub(t.last.At)))
	case partly, useless:
		t.add(s.Tone(), key, t.last.Rejected, t.last.Rows)
	case empty, working:
		t.add(s.Tone(), key, t.last.Rows, t.words.Ago(t.now.Sub(t.last.At)))
	}
}

// failure tells why polls fail. Of one that is deactivated the attempts may be forgotten; the feed itself remembers.
func (t *telling) failure(s situation, key string) {
	last := t.last
	if last == nil {
		last = &mapdata.Attempt{Outcome: t.feed.Polling.LastOutcome}
	}
	n := t.add(s.Tone(), key, outcomeText(t.words, last), t.feed.Polling.ConsecutiveFailures, failuresToDeactivate)
	n.Then, n.Text, n.Try = n.Text, outcomeDo(t.words, last), s == deactivated
}

// schedule tells of a fetch that is due, and of a snapshot that shrank.
func (t *telling) schedule() {
	if t.last != nil && !t.feed.Polling.NextFetchAt.After(t.now) {
		t.add("open", "feed.is.due")
	}
	if t.feed.Polling.Shrank {
		t.add("open", "feed.is.shrank")
	}
}

// review tells where the review stands.
func (t *telling) review() {
	f := t.feed
	switch {
	case f.ReviewState == mapdata.Rejected:
		t.add("bad", "feed.is.review.rejected").Note = f.ReviewNote
	case f.Visibility == mapdata.Private:
		t.add("open", "feed.is.review.private")
	case f.Approved():
		approved := t.add("good", "feed.is.review.approved")
		if f.Direction == mapdata.Pull {
			approved.Then = t.words.HTML("feed.is.review.approved.url")
		}
	case f.ReviewNote == feed.NoteOrigin:
		t.add("open", "feed.is.review.again").Then = t.words.HTML("feed.note.origin")
	case f.ReviewNote != "":
		t.add("open", "feed.is.review.again").Note = f.ReviewNote
	default:
		t.add("open", "feed.is.review.pending")
	}
}

// outcomeText names an outcome: "The server answered 404".
func outcomeText(w *words.Words, a *mapdata.Attempt) string {
	if a.Outcome == mapdata.OutcomeHTTPStatus && a.Status == 0 {
		return w.Text("outcome.http_status.unknown")
	}
	return w.Text(w.First("outcome."+string(a.Outcome), "outcome.other"), strconv.Itoa(a.Status))
}

// outcomeDo is what to do about a failed fetch.
func outcomeDo(w *words.Words, a *mapdata.Attempt) template.HTML {
	switch {
	case a.Outcome == mapdata.OutcomeHTTPStatus:
		return w.HTML(statusDo(a))
	case a.Outcome == mapdata.OutcomeBlockedAddress, a.Outcome == mapdata.OutcomeRedirectError:
		// The rule that an address broke, if that is the reason.
		if rule := w.First("wrong.pull_url."+string(a.Reason), "wrong."+string(a.Reason)); w.Has(rule) {
			return w.HTML("outcome."+string(a.Outcome)+".address.do", w.HTML(rule))
		}
	}
	return byReason(w, "outcome."+string(a.Outcome), a.Reason, "outcome.other.do")
}

// pushedDo is what to do about a refused push.
func pushedDo(w *words.Words, a *mapdata.Attempt) template.HTML {
	return byReason(w, "pushed."+string(a.Outcome), a.Reason, "pushed.other.do")
}

// byReason says what to do, as closely as there are words for it.
func byReason(w *words.Words, group string, reason mapdata.Reason, other string) template.HTML {
	return w.HTML(w.First(group+"."+string(reason)+".do", group+".do", other))
}

// statusDo is the key of what to do about an answer of the provider's server.
func statusDo(a *mapdata.Attempt) string {
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
