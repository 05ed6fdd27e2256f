package console

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
)

const (
	reviewPath     = "/review"
	reviewFeedPath = "/review/{id}"
)

func (c *Console) reviewRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: reviewPath, Who: account.ForCurators, Handle: c.getReview},
		{Method: http.MethodGet, Path: reviewFeedPath, Who: account.ForCurators, Handle: c.getReviewFeed},
		{Method: http.MethodPost, Path: reviewFeedPath + "/approve", Who: account.ForCurators, Handle: c.postApprove},
		{Method: http.MethodPost, Path: reviewFeedPath + "/reject", Who: account.ForCurators, Handle: c.postReject},
	}
}

// reviewFeedURL returns the path of a feed's review.
func reviewFeedURL(id mapdata.FeedID) string { return reviewPath + "/" + id.String() }

// reviewFeed is the data of the page of one feed's review.
type reviewFeed struct {
	*feed.Review
	Address  string
	Form     *Form
	Passkey  *passkeyNeed // nil: a decision needs none
	Own      bool         // the visitor's own feed, on which others decide, or the operator by ApproveCommand
	Origin   *origin      // nil: a push feed
	State    feedState
	GeoJSON  string
	Samples  listPage
	Stale    bool         // it changed while the visitor looked, and nothing was decided
	Changed  []difference // since the visitor looked
	Approved []difference // since the last approval
	Seen     string       // what the page shows, for comparison when the visitor decides
	Others   []otherFeed
	Entries  []auditLine

	Rejections []rejection
	Warnings   []rejection // of accepted rows
	Timeline   []timelineEntry
	Looking    []mapdata.ReviewLook // other curators who have the review open
	Fullness   []string             // of the feed, and of all feeds of its owner
	Reasons    []reasonChoice
	Language   mapdata.Language // of the owner
	Decided    *decidedFeed     // before this one; nil: none
}

// otherFeed is another feed of the same owner.
type otherFeed struct {
	*mapdata.Feed
	Address string
	State   string // key
}

// Rows and timeline entries on the page of a review; the feed's own page has more.
const (
	maxReviewSamples  = 10
	maxReviewTimeline = 10
)

// getReviewFeed answers GET /review/{id}.
func (c *Console) getReviewFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page, err := c.newReviewFeed(r, v)
	if err != nil {
		return err
	}
	if page.Looking, err = c.Feeds.LookAtReview(r.Context(), mapdata.ActorOf(v.Account), page.ID); err != nil {
		return err
	}
	if page.Decided, err = c.decidedFeed(r, v); err != nil {
		return err
	}
	return c.showReviewFeed(w, r, v, page, http.StatusOK)
}

func (c *Console) showReviewFeed(w http.ResponseWriter, r *http.Request, v *Visitor, page *reviewFeed, status int) error {
	need, err := c.needPasskey(r, v)
	if err != nil {
		return err
	}
	page.Passkey = need
	scripts := []string{MapScript, PageScript}
	if need != nil {
		scripts = append(scripts, PasskeyScript)
	}
	return c.show(w, r, v, &Page{Name: "review-feed", Status: status, Data: page, Wide: true, Scripts: scripts})
}

func (c *Console) newReviewFeed(r *http.Request, v *Visitor) (*reviewFeed, error) {
	id, err := feedID(r)
	if err != nil {
		return nil, err
	}
	ctx, by := r.Context(), mapdata.ActorOf(v.Account)
	review, err := c.Feeds.Review(ctx, by, id)
	if err != nil {
		return nil, err
	}
	history, err := c.Feeds.History(ctx, by, id)
	if err != nil {
		return nil, err
	}
	samples, err := c.Feeds.Contents(ctx, by, id, maxReviewSamples)
	if err != nil {
		return nil, err
	}
	f := &review.Feed
	page := &reviewFeed{
		Review: review, Address: reviewFeedURL(id), Form: newForm(nil), Own: f.ManagedBy(v.ID()), Origin: originOf(review.ShownURL()),
		State: stateOf(f, lastAttempt(history), c.Now()), GeoJSON: entitiesURL(id),
		Samples: listPage{samples.Feed, feedURL(id), samples.Entities, samples.Truncated}, Entries: auditLines(v.Words, review.Log),
		Rejections: rejections(v.Words, history.Rejections, lastAttempt(history)), Warnings: rejections(v.Words, history.Warnings, lastAttempt(history)), Timeline: timeline(v.Words, history.Attempts),
		Reasons: reasonChoices(v.Words), Language: languageOf(review.Owner),
	}
	seen := feed.SeenOf(f)
	text, err := json.Marshal(seen)
	if err != nil {
		return nil, fmt.Errorf("write what is shown: %w", err)
	}
	page.Seen, page.Approved = c.sealSeen(text, id), differences(v.Words, review.Changes)
	for _, text := range []string{fullnessText(v.Words, &review.View), accountFullnessText(v.Words, review.Account)} {
		if text != "" {
			page.Fullness = append(page.Fullness, text)
		}
	}
	page.Timeline = page.Timeline[:min(len(page.Timeline), maxReviewTimeline)]
	for i := range review.Others {
		page.Others = append(page.Others, otherFeed{&review.Others[i], reviewFeedURL(review.Others[i].ID), reviewKey(&review.Others[i])})
	}
	return page, nil
}

// Pending reports whether a decision is needed.
func (p *reviewFeed) Pending() bool { return p.Proposes || p.ReviewState == mapdata.Pending }

// Mixed reports whether a word of the name mixes scripts with similar letters.
func (p *reviewFeed) Mixed() bool { return mixesScriptsInAWord(p.Name) }

// Moved reports whether the note was written by the service because the origin changed.
func (p *reviewFeed) Moved() bool { return p.ReviewNote == feed.NoteOrigin }

// Reread reports whether the note was written by the service because the feed's documents are read in another way.
func (p *reviewFeed) Reread() bool { return p.ReviewNote == feed.NoteFormat }

// Rejected reports whether the feed was rejected.
func (p *reviewFeed) Rejected() bool { return p.ReviewState == mapdata.Rejected }

// ApproveCommand returns the command by which the operator approves the feed, also where the only curator owns it (D11.9).
func (p *reviewFeed) ApproveCommand() string { return "wayside feed approve " + p.ID.String() }

// ApprovedAt returns the time of the last approval; zero: never.
func (p *reviewFeed) ApprovedAt() time.Time {
	if p.Approval == nil {
		return time.Time{}
	}
	return p.Approval.At
}

// postApprove handles the approve button.
func (c *Console) postApprove(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.decide(w, r, v, "approved", func(form *Form, id mapdata.FeedID) (*feed.View, error) {
		return c.Feeds.Approve(r.Context(), mapdata.ActorOf(v.Account), id, form.raw("version"))
	})
}

// postReject handles the form that rejects a feed with a note.
func (c *Console) postReject(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.decide(w, r, v, "rejected", func(form *Form, id mapdata.FeedID) (*feed.View, error) {
		by := mapdata.ActorOf(v.Account)
		review, err := c.Feeds.Review(r.Context(), by, id)
		if err != nil {
			return nil, err
		}
		note := noteFor(v.Words, c.words.In(languageOf(review.Owner)), form.raw("reason"), form.raw("note"))
		return c.Feeds.Reject(r.Context(), by, id, form.raw("version"), note)
	})
}

// difference is a changed field, translated.
type difference struct {
	Field   string
	Was, Is string // empty: no value
	Known   bool   // whether Was is known
}

func differences(w *words.Words, all []mapdata.FieldChange) []difference {
	out := make([]difference, len(all))
	for i, c := range all {
		out[i] = difference{c.Field, shownValue(w, c.Field, c.Was), shownValue(w, c.Field, c.Is), true}
	}
	return out
}

// changesSince returns the fields that changed since the page was shown. The form contains the values that the page showed,
// verified by their version; without them the result names the changed fields but not their old values.
func (c *Console) changesSince(w *words.Words, f *mapdata.Feed, form *Form, changed *mapdata.ChangedError) []difference {
	var showed feed.Seen
	now := feed.SeenOf(f)
	if err := json.Unmarshal(c.openSeen(form.raw("seen"), f.ID), &showed); err == nil && showed.Version() == form.raw("version") {
		return differences(w, now.Since(&showed))
	}
	out := make([]difference, len(changed.Fields))
	held := differences(w, now.Since(&feed.Seen{})) // all fields that are not empty
	for i, e := range changed.Fields {
		out[i].Field = e.Field
		if at := slices.IndexFunc(held, func(d difference) bool { return d.Field == e.Field }); at >= 0 {
			out[i].Is = held[at].Is
		}
	}
	return out
}

// sealSeen encrypts the values that a page showed, because they contain the whole pull URL, whose query is hidden from curators.
func (c *Console) sealSeen(text []byte, id mapdata.FeedID) string {
	return base64.RawURLEncoding.EncodeToString(c.Secrets.Seal(text, id))
}

// openSeen decrypts what sealSeen encrypted; nil: the text is something else.
func (c *Console) openSeen(sealed string, id mapdata.FeedID) []byte {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return nil
	}
	text, err := c.Secrets.Open(raw, id)
	if err != nil {
		return nil
	}
	return text
}

// shownValue formats a field's value for people.
func shownValue(w *words.Words, field, value string) string {
	group := map[string]string{
		"visibility": "review.visibility.", "direction": "feed.direction.", "review_state": "review.state.",
	}[field]
	switch {
	case field == "pull_url" || field == "status_url":
		return feed.MaskQuery(value)
	case group != "" && w.Has(group+value):
		return w.Text(group + value)
	case field == "review_note" && value == feed.NoteOrigin:
		return w.Text("feed.note.origin")
	case field == "review_note" && value == feed.NoteFormat:
		return w.Text("feed.note.format")
	}
	return value
}

// decide calls do with the version that the page showed. If the feed has changed since, it shows the page again with
// the changes.
func (c *Console) decide(
	w http.ResponseWriter, r *http.Request, v *Visitor, done string,
	do func(*Form, mapdata.FeedID) (*feed.View, error),
) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if form.raw("version") == "" {
		return mapdata.Explain(mapdata.ErrMalformed, "form_unfinished", "The form cannot be read: it does not say what was looked at.")
	}
	if err := c.Passkeys.AllowDecision(r.Context(), v.Session); err != nil {
		return err
	}
	decided, err := do(form, id)
	if err == nil {
		next, err := c.afterDecision(r, v, decided, done)
		if err != nil {
			return err
		}
		return seeOther(w, next)
	}
	var (
		changed *mapdata.ChangedError
		status  = http.StatusUnprocessableEntity
	)
	if errors.As(err, &changed) {
		status = http.StatusConflict
	} else if !form.addErrors(v.Words, err) {
		return err
	}
	page, err := c.newReviewFeed(r, v)
	if err != nil {
		return err
	}
	page.Form = form
	if changed != nil {
		page.Stale, page.Changed = true, c.changesSince(v.Words, &page.Feed, form, changed)
	}
	return c.showReviewFeed(w, r, v, page, status)
}
