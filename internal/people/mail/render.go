package mail

import (
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"wayside/internal/ground/mapdata"
)

//go:embed pages/email.html
var emailHTML embed.FS

// rendered is an e-mail's subject and bodies.
type rendered struct {
	language            mapdata.Language
	subject, text, html string
}

// texts renders every kind of e-mail in every language.
type texts struct {
	messages map[mapdata.Language]messages
	page     *template.Template
	baseURL  string
}

func newTexts(baseURL string) (*texts, error) {
	all, err := readMessages()
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(emailHTML, "pages/email.html")
	if err != nil {
		return nil, fmt.Errorf("page of e-mails: %w", err)
	}
	return &texts{messages: all, page: page, baseURL: baseURL}, nil
}

// render renders an e-mail as plain text and as HTML with the same content.
func (t *texts) render(l *mapdata.Email) (*rendered, error) {
	language := l.Language
	if _, known := t.messages[language]; !known {
		language = mapdata.Languages()[0]
	}
	d := &draft{messages: t.messages[language], baseURL: t.baseURL, values: make(map[string]string, len(l.Data)+5)}
	for name, value := range l.Data {
		d.values[name] = clean(name, value)
	}
	d.values["feed"], d.values["id"], d.values["service"] = d.values["feed_name"], d.values["feed_id"], t.baseURL
	d.values["when"] = l.At.UTC().Format("2006-01-02 15:04") + " UTC"
	d.values["account"] = t.baseURL + "/account"
	d.values["path"] = "/v2/feeds/" + url.PathEscape(d.values["id"])
	if !d.compose(l) {
		return nil, fmt.Errorf("no text for e-mails of kind %q", l.Kind)
	}
	subject := d.messages.format(string(l.Kind)+d.variant(".subject"), d.values)
	var page strings.Builder
	title := strings.TrimSpace(spansText(subject))
	err := t.page.Execute(&page, map[string]any{"Language": language, "Title": title, "Subject": subject, "Blocks": d.blocks})
	if err != nil {
		return nil, fmt.Errorf("page of e-mail %s: %w", l.Kind, err)
	}
	return &rendered{language: language, subject: title, text: renderText(d.blocks), html: page.String()}, nil
}

// block is a paragraph of an e-mail. At most one kind of field is set besides Spans.
type block struct {
	Spans []span
	Quote []string // lines of a quoted text
	Code  string   // a code that the reader types
	URL   string   // target of a button, whose label is Spans
	Intro []span   // replaces the label in plain text; nil: the previous paragraph introduces the link
	Small bool     // footer
}

// draft collects an e-mail's paragraphs.
type draft struct {
	messages messages
	values   map[string]string
	baseURL  string
	blocks   []block
}

func (d *draft) paragraph(key string) {
	d.blocks = append(d.blocks, block{Spans: d.messages.format(key, d.values)})
}

func (d *draft) small(key string) {
	d.blocks = append(d.blocks, block{Spans: d.messages.format(key, d.values), Small: true})
}

func (d *draft) button(key, intro, path string) {
	d.blocks = append(d.blocks, block{
		Spans: d.messages.format(key, d.values), Intro: d.messages.format(intro, d.values), URL: d.baseURL + path,
	})
}

// note quotes the curator's note, if there is one.
func (d *draft) note() {
	if d.values["note"] != "" {
		d.paragraph("note")
		d.quote("note")
	}
}

// quote adds a user's text as a quotation, so that it cannot be mistaken for the service's own.
func (d *draft) quote(name string) {
	if text := d.values[name]; text != "" {
		d.blocks = append(d.blocks, block{Quote: strings.Split(text, "\n")})
	}
}

// compose adds the paragraphs of a kind. It uses only the values that belong to that kind.
func (d *draft) compose(l *mapdata.Email) (known bool) {
	switch kind := l.Kind; kind {
	case mapdata.EmailSignIn:
		d.signIn()
		return true
	case mapdata.EmailChangeOld, mapdata.EmailChangeNew:
		d.emailChange(kind)
		return true
	case mapdata.EmailPasskeyAdded:
		d.security("passkey_added", "/account/passkeys/", "/remove")
		return true
	case mapdata.EmailTokenMade:
		d.security("api_token_made", "/account/tokens/", "/revoke")
		return true
	case mapdata.EmailNotice:
		d.paragraph("notice.text")
		d.quote("notice")
		d.small("notice.why")
		d.small("foot.service")
		return true
	case mapdata.EmailScreenPaired:
		d.screenPaired()
		return true
	case mapdata.EmailApproved:
		d.paragraph("feed_approved.text")
		d.paragraph("feed_approved.then")
		d.note()
	case mapdata.EmailRejected:
		d.paragraph("feed_rejected.text")
		d.note()
		d.paragraph("feed_rejected.then")
	case mapdata.EmailChangeRejected:
		d.paragraph("feed_change_rejected.text")
		d.note()
		d.paragraph("feed_change_rejected.then")
	case mapdata.EmailAppApproved, mapdata.EmailAppRejected, mapdata.EmailAppSuspended, mapdata.EmailAppResumed:
		d.app(kind)
		return true
	case mapdata.EmailAccountSuspended, mapdata.EmailAccountResumed:
		d.suspension(kind)
		return true
	case mapdata.EmailPinHidden, mapdata.EmailPinShown, mapdata.EmailFeedPaused, mapdata.EmailFeedResumed, mapdata.EmailFeedRemoved:
		d.takedown(kind)
	case mapdata.EmailInvited, mapdata.EmailOffered:
		d.invitation(kind)
		return true
	case mapdata.EmailMaintainerRemoved, mapdata.EmailTransferred: // the recipient no longer sees the feed's page
		d.paragraph(string(kind) + ".text")
		d.paragraph(string(kind) + ".then")
		for _, key := range []string{"foot.account", "foot.feed", "foot.service"} {
			d.small(key)
		}
		return true
	case mapdata.EmailMaintainerJoined, mapdata.EmailMaintainerLeft, mapdata.EmailReceived:
		d.paragraph(string(kind) + ".text")
		d.paragraph(string(kind) + ".then")
	case mapdata.EmailDeactivated:
		d.deactivated()
	case mapdata.EmailShrank:
		d.shrank()
	case mapdata.EmailFailing:
		d.failing()
	case mapdata.EmailSilent, mapdata.EmailRejections:
		d.paragraph(string(kind) + ".text")
		d.paragraph(string(kind) + ".then")
	case mapdata.EmailReviewWaiting, mapdata.EmailReviewDigest, mapdata.EmailReviewReminder:
		d.review(kind, l.Data["feeds"])
		return true
	default:
		return false
	}
	d.feedFooter(l.Kind)
	return true
}

func (d *draft) signIn() {
	d.paragraph("sign_in.code")
	d.blocks = append(d.blocks, block{Code: d.values["code"]})
	d.paragraph("sign_in.link")
	d.button("sign_in.button", "", "/auth/verify?token="+url.QueryEscape(d.values["token"]))
	d.paragraph("sign_in.once")
	d.small("sign_in.ignore")
}

// security describes a new credential of the account: its name, its time and where it is revoked. The page requires a
// sign-in and a confirmation, so that following the link alone revokes nothing.
func (d *draft) security(kind, before, after string) {
	for _, part := range []string{".text", ".yours", ".not"} {
		d.paragraph(kind + part)
	}
	d.button(kind+".button", "", before+url.PathEscape(d.values["made_id"])+after)
	d.paragraph("security.more")
	d.button("security.button", "", "/account#sessions")
	for _, key := range []string{"foot.account", "foot.service"} {
		d.small(key)
	}
}

// screenPaired describes a screen that was signed in, and where its session is ended.
func (d *draft) screenPaired() {
	for _, part := range []string{".text", ".yours", ".not"} {
		d.paragraph("screen_paired" + part)
	}
	d.button("security.button", "", "/account#sessions")
	for _, key := range []string{"foot.account", "foot.service"} {
		d.small(key)
	}
}

// takedown informs a provider of a curator's decision and quotes the reason.
func (d *draft) takedown(kind mapdata.EmailKind) {
	d.paragraph(string(kind) + ".text")
	if until := string(kind) + ".until"; d.values["until"] != "" && d.messages[until] != "" {
		d.paragraph(until)
	}
	d.reason()
	d.paragraph(string(kind) + ".then")
}

// app informs a developer of a decision on an app, and quotes the curator's note.
func (d *draft) app(kind mapdata.EmailKind) {
	d.paragraph(string(kind) + ".text")
	d.note()
	d.paragraph(string(kind) + ".then")
	d.button("app.button", "app.link", "/apps/own/"+url.PathEscape(d.values["app_id"]))
	for _, key := range []string{"foot.account", "foot.service"} {
		d.small(key)
	}
}

// suspension informs the holder of an account of an operator's decision and quotes the reason.
func (d *draft) suspension(kind mapdata.EmailKind) {
	d.paragraph(string(kind) + ".text")
	d.reason()
	d.paragraph(string(kind) + ".then")
	for _, key := range []string{"foot.account", "foot.service"} {
		d.small(key)
	}
}

// reason quotes the reason of a decision, if the e-mail has one.
func (d *draft) reason() {
	if d.values["note"] != "" {
		d.paragraph("reason")
		d.quote("note")
	}
}

// deactivated explains the failure in the reader's language and quotes the error as the feed's page shows it.
func (d *draft) deactivated() {
	d.paragraph("feed_deactivated.text")
	d.failure()
	d.paragraph("feed_deactivated.then")
}

// failure explains the last failure of a feed.
func (d *draft) failure() {
	d.paragraph("feed_deactivated.error")
	if key := "outcome." + d.values["outcome"]; d.messages[key] != "" {
		d.paragraph(key)
	}
	d.quote("error")
}

func (d *draft) shrank() {
	if d.values["rows"] != "" && d.values["rows_before"] != "" {
		d.paragraph("feed_shrank.text")
	} else {
		d.paragraph("feed_shrank.uncounted")
	}
	d.paragraph("feed_shrank.then")
}

// failing explains a failure as deactivated does.
func (d *draft) failing() {
	d.paragraph("feed_failing.text")
	d.failure()
	d.paragraph("feed_failing.then")
}

// invitation links to the page where an invitation is accepted. Its recipient may have no account.
func (d *draft) invitation(kind mapdata.EmailKind) {
	d.paragraph(string(kind) + ".text")
	d.paragraph("invitation.then")
	d.button("invitation.button", "", "/feeds")
	d.small("invitation.ignore")
	d.small("foot.service")
}

// review lists the waiting feeds and apps. Each line of the list is an age in minutes and a name.
func (d *draft) review(kind mapdata.EmailKind, list string) {
	d.paragraph(string(kind) + d.variant(".text"))
	var lines []string
	for line := range strings.Lines(list) {
		age, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		age, isApp := strings.CutSuffix(age, "a")
		minutes, err := strconv.Atoi(age)
		if err != nil {
			continue
		}
		key, values := "review.line_new", map[string]string{"name": clean("name", name), "age": strconv.Itoa(minutes / 60)}
		if minutes >= 60 {
			key = "review.line"
		}
		if isApp {
			key += "_app"
		}
		lines = append(lines, spansText(d.messages.format(key, values)))
	}
	if lines != nil {
		d.blocks = append(d.blocks, block{Quote: lines})
	}
	if waiting, err := strconv.Atoi(d.values["waiting"]); err == nil && waiting > len(lines) {
		d.values["more"] = strconv.Itoa(waiting - len(lines))
		d.paragraph("review.more")
	}
	d.button("review.button", "review.link", "/review")
	d.small("foot.review")
	d.small("foot.service")
}

// variant returns the key of a part of an e-mail to curators, in the variant for feeds and apps where apps wait, too.
func (d *draft) variant(part string) string {
	if d.values["apps"] != "" {
		return part + "_apps"
	}
	return part
}

// feedFooter adds the link and footer of an e-mail about a feed.
func (d *draft) feedFooter(kind mapdata.EmailKind) {
	if d.values["id"] != "" {
		d.button("button", "link", "/feeds/"+url.PathEscape(d.values["id"]))
	}
	if api := string(kind) + ".api"; d.messages[api] != "" {
		d.small(api)
	}
	for _, key := range []string{"foot.why", "foot.feed", "foot.service"} {
		d.small(key)
	}
}

// spansText renders spans as plain text.
func spansText(spans []span) string {
	var out strings.Builder
	for _, s := range spans {
		if s.Value {
			s.Text = isolate(s.Text)
		}
		out.WriteString(s.Text)
	}
	return out.String()
}

const indent = "    "

// renderText renders blocks as plain text.
func renderText(blocks []block) string {
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 && !(b.Small && blocks[i-1].Small) {
			out.WriteString("\n")
		}
		switch {
		case b.Code != "":
			out.WriteString(indent + b.Code + "\n")
		case b.URL != "":
			if b.Intro != nil {
				out.WriteString(spansText(b.Intro) + "\n\n")
			}
			out.WriteString(indent + b.URL + "\n")
		case b.Quote != nil:
			for _, line := range b.Quote {
				for _, part := range wrap(isolate(line)) {
					out.WriteString(strings.TrimRight(indent+part, " ") + "\n")
				}
			}
		default:
			out.WriteString(strings.Join(wrap(spansText(b.Spans)), "\n") + "\n")
		}
	}
	return out.String()
}
