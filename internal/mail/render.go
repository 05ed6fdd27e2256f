package mail

import (
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"wayside/internal/mapdata"
)

//go:embed letters/letter.html
var letterHTML embed.FS

// rendered is a letter as it leaves.
type rendered struct {
	language            mapdata.Language
	subject, text, html string
}

// texts makes subject and body of every kind of letter, in every language.
type texts struct {
	words   map[mapdata.Language]words
	page    *template.Template
	baseURL string
}

func newTexts(baseURL string) (*texts, error) {
	all, err := readWords()
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(letterHTML, "letters/letter.html")
	if err != nil {
		return nil, fmt.Errorf("page of letters: %w", err)
	}
	return &texts{words: all, page: page, baseURL: baseURL}, nil
}

// render writes a letter, as plain text and as HTML that say the same.
func (t *texts) render(l *mapdata.Letter) (*rendered, error) {
	language := l.Language
	if _, known := t.words[language]; !known {
		language = mapdata.Languages()[0]
	}
	d := &draft{words: t.words[language], baseURL: t.baseURL, values: make(map[string]string, len(l.Data)+5)}
	for name, value := range l.Data {
		d.values[name] = clean(name, value)
	}
	d.values["feed"], d.values["id"], d.values["service"] = d.values["feed_name"], d.values["feed_id"], t.baseURL
	d.values["when"] = l.At.UTC().Format("2006-01-02 15:04") + " UTC"
	d.values["path"] = "/v2/feeds/" + url.PathEscape(d.values["id"])
	if !d.compose(l.Kind) {
		return nil, fmt.Errorf("no text for letters of kind %q", l.Kind)
	}
	subject := d.words.say(string(l.Kind)+".subject", d.values)
	var page strings.Builder
	title := strings.TrimSpace(plain(subject))
	err := t.page.Execute(&page, map[string]any{"Language": language, "Title": title, "Subject": subject, "Blocks": d.blocks})
	if err != nil {
		return nil, fmt.Errorf("page of letter %s: %w", l.Kind, err)
	}
	return &rendered{language: language, subject: title, text: plainBlocks(d.blocks), html: page.String()}, nil
}

// block is a paragraph of a letter. One of the fields is set beside Spans.
type block struct {
	Spans []span
	Quote []string // lines that somebody else wrote
	Code  string   // to be typed
	URL   string   // where a button leads; its words are Spans
	Intro []span   // what a plain text says instead of the button; nil: the paragraph before announces the link
	Small bool     // the letter's foot
}

// draft gathers a letter's paragraphs.
type draft struct {
	words   words
	values  map[string]string
	baseURL string
	blocks  []block
}

func (d *draft) say(key string) {
	d.blocks = append(d.blocks, block{Spans: d.words.say(key, d.values)})
}

func (d *draft) small(key string) {
	d.blocks = append(d.blocks, block{Spans: d.words.say(key, d.values), Small: true})
}

func (d *draft) button(key, intro, path string) {
	d.blocks = append(d.blocks, block{
		Spans: d.words.say(key, d.values), Intro: d.words.say(intro, d.values), URL: d.baseURL + path,
	})
}

// note quotes the curator, if there is anything to quote.
func (d *draft) note() {
	if d.values["note"] != "" {
		d.say("note")
		d.quote("note")
	}
}

// quote sets apart what somebody else wrote, if they did, so that it cannot speak in the service's name.
func (d *draft) quote(name string) {
	if text := d.values[name]; text != "" {
		d.blocks = append(d.blocks, block{Quote: strings.Split(text, "\n")})
	}
}

// compose writes the paragraphs of a kind. It takes no value but those that the kind is about.
func (d *draft) compose(kind mapdata.LetterKind) (known bool) {
	switch kind {
	case mapdata.LetterSignIn:
		d.signIn()
		return true
	case mapdata.LetterPasskeyAdded:
		d.security("passkey_added", "/account/passkeys/", "/remove")
		return true
	case mapdata.LetterTokenMade:
		d.security("api_token_made", "/account/tokens/", "/revoke")
		return true
	case mapdata.LetterApproved:
		d.say("feed_approved.text")
		d.say("feed_approved.then")
		d.note()
	case mapdata.LetterRejected:
		d.say("feed_rejected.text")
		d.note()
		d.say("feed_rejected.then")
	case mapdata.LetterDeactivated:
		d.deactivated()
	case mapdata.LetterShrank:
		d.shrank()
	default:
		return false
	}
	d.footOfFeed(kind)
	return true
}

func (d *draft) signIn() {
	d.say("sign_in.code")
	d.blocks = append(d.blocks, block{Code: d.values["code"]})
	d.say("sign_in.link")
	d.button("sign_in.button", "", "/auth/verify?token="+url.QueryEscape(d.values["token"]))
	d.say("sign_in.once")
	d.small("sign_in.ignore")
}

// security tells of something new that lets somebody in, or read, in the reader's name: what, when, and where it is taken
// away again. The page asks who the reader is, and then whether they mean it: a link alone takes nothing away.
func (d *draft) security(kind, before, after string) {
	for _, part := range []string{".text", ".yours", ".not"} {
		d.say(kind + part)
	}
	d.button(kind+".button", "", before+url.PathEscape(d.values["made_id"])+after)
	d.say("security.more")
	d.button("security.button", "", "/account#sessions")
	for _, key := range []string{"foot.account", "foot.service"} {
		d.small(key)
	}
}

// deactivated tells the failure twice: what it means in the reader's language, and in the words of the feed's page.
func (d *draft) deactivated() {
	d.say("feed_deactivated.text")
	d.say("feed_deactivated.error")
	if key := "outcome." + d.values["outcome"]; d.words[key] != "" {
		d.say(key)
	}
	d.quote("error")
	d.say("feed_deactivated.then")
}

func (d *draft) shrank() {
	if d.values["rows"] != "" && d.values["rows_before"] != "" {
		d.say("feed_shrank.text")
	} else {
		d.say("feed_shrank.uncounted")
	}
	d.say("feed_shrank.then")
}

// footOfFeed is how a letter about a feed ends.
func (d *draft) footOfFeed(kind mapdata.LetterKind) {
	if d.values["id"] != "" {
		d.button("button", "link", "/feeds/"+url.PathEscape(d.values["id"]))
	}
	if api := string(kind) + ".api"; d.words[api] != "" {
		d.small(api)
	}
	for _, key := range []string{"foot.why", "foot.feed", "foot.service"} {
		d.small(key)
	}
}

// plain writes spans as text.
func plain(spans []span) string {
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

// plainBlocks writes a letter as text.
func plainBlocks(blocks []block) string {
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
				out.WriteString(plain(b.Intro) + "\n\n")
			}
			out.WriteString(indent + b.URL + "\n")
		case b.Quote != nil:
			for _, line := range b.Quote {
				for _, part := range wrap(isolate(line)) {
					out.WriteString(strings.TrimRight(indent+part, " ") + "\n")
				}
			}
		default:
			out.WriteString(strings.Join(wrap(plain(b.Spans)), "\n") + "\n")
		}
	}
	return out.String()
}
