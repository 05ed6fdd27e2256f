package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
)

const checkPath = "/check"

// Limits on what may be pasted.
const (
	maxCheckFormBytes = 4 << 20 // bytes as sent by a browser, which encodes a quote as three bytes
	maxCheckTextBytes = 1 << 20 // bytes of JSON
)

func (c *Console) checkRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: checkPath, Who: account.ForAccounts, Handle: c.getCheck},
		{Method: http.MethodPost, Path: checkPath, Who: account.ForAccounts, Counts: CountsCheck, Handle: c.postCheck},
	}
}

// checkPage is the form of the check, and its result.
type checkPage struct {
	Form    *Form
	Formats []string
	Skips   []mapdata.Skip // of a document in another format
	Skipped int
	Text    string // the pasted text
	Trial   *trial.Result
	Outcome string        // translated
	Do      template.HTML // advice after a failure
	At      string        // where a document in another format is bad, translated; empty: not known
	Took    string
	Size    string
	URL     string // the fetched URL; empty: a text was pasted

	Kinds      []kindCount
	Rejections []rejection
	Warnings   []rejection
	Rows       []checkedRow
	Pins       string // for the map: GeoJSON
	MorePins   bool
	ForPush    bool // the text is small enough for a push
}

type kindCount struct {
	mapdata.KindInfo
	Rows int
}

type checkedRow struct{ ExternalID, KindID, Place, Properties string }

// getCheck answers GET /check.
func (c *Console) getCheck(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.show(w, r, v, &Page{Name: "check", Data: &checkPage{Form: newForm(nil), Formats: c.Feeds.FormatNames()}, Wide: true, Scripts: []string{PageScript}})
}

// postCheck fetches a URL, or takes the pasted text, and shows what a poll would make of it. It stores nothing.
func (c *Console) postCheck(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	length := r.ContentLength
	if length < 0 || length > maxCheckFormBytes {
		length = maxCheckFormBytes
	}
	release, err := c.Check.Hold(v.ID(), length)
	if err != nil {
		return err
	}
	defer release()
	form, err := readFormUpTo(w, r, maxCheckFormBytes)
	if err != nil {
		return err
	}
	page := &checkPage{Form: form, Formats: c.Feeds.FormatNames(), Text: form.raw("json"), URL: strings.TrimSpace(form.raw("pull_url"))}
	if err := c.runCheck(r, v, page); err != nil {
		return err
	}
	if len(form.Wrongs) > 0 {
		return c.show(w, r, v, &Page{Name: "check", Status: http.StatusUnprocessableEntity, Data: page, Wide: true, Scripts: []string{PageScript}})
	}
	if err := page.translate(v.Words); err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "check", Data: page, Wide: true, Scripts: []string{MapScript, PageScript}})
}

// runCheck fetches the URL or parses the text of the form, or adds an error to the form.
func (c *Console) runCheck(r *http.Request, v *Visitor, page *checkPage) (err error) {
	var settings feed.Settings
	page.Form.bridge(&settings)
	b, err := c.Feeds.CheckBridge(&settings)
	if page.Form.addErrors(v.Words, err) {
		return nil
	}
	text := strings.TrimSpace(page.Text)
	switch {
	case page.URL == "" && text == "":
		page.Form.addError("pull_url", v.Words.Text("check.nothing"))
	case page.URL != "" && text != "":
		page.Form.addError("pull_url", v.Words.Text("check.both"))
	case len(text) > maxCheckTextBytes:
		page.Form.addError("json", v.Words.Text("check.too-much"))
	case page.URL != "":
		page.Trial, err = c.Check.Try(r.Context(), v.ID(), &trial.Ask{
			URL: page.URL, AuthHeader: strings.TrimSpace(page.Form.raw("pull_auth_header")), Bridge: b,
		})
	default:
		page.Trial, err = c.Check.Text(r.Context(), v.ID(), []byte(text), b)
	}
	if page.Form.addErrors(v.Words, err) {
		return nil
	}
	return err
}

// translate fills the page's texts from the result of the check.
func (p *checkPage) translate(w *words.Words) error {
	a := mapdata.Attempt{Outcome: p.Trial.Outcome, Status: p.Trial.Status, Reason: p.Trial.Reason}
	p.Outcome, p.Size = outcomeText(w, &a), sizeText(w, p.Trial.Bytes)
	if p.URL != "" {
		p.Took = tookText(w, p.Trial.Took)
	}
	checked := p.Trial.Checked
	if checked == nil {
		if p.Do = outcomeAdvice(w, &a); p.URL == "" && a.Outcome == mapdata.OutcomeParseError && a.Reason == "" {
			p.Do = syntaxErrorPosition(w, p.Text)
		}
		p.At = faultText(w, p.Trial.Line, p.Trial.Byte)
		return nil
	}
	for i, info := range mapdata.Kinds() {
		if n := checked.Kinds[mapdata.Kind(i)]; n > 0 {
			p.Kinds = append(p.Kinds, kindCount{info, n})
		}
	}
	p.Skips = p.Trial.Reading.Skipped()
	p.Skipped = mapdata.SkippedItems(p.Skips)
	p.Rejections, p.Warnings = rejections(w, checked.Rejections, nil), rejections(w, checked.Warnings, nil)
	p.ForPush = checked.Rows <= ingest.MaxBatchRows
	for i := range checked.Pins[:min(len(checked.Pins), ingest.MaxCheckedRows)] {
		e := &checked.Pins[i]
		p.Rows = append(p.Rows, checkedRow{e.ExternalID, e.Kind.ID(), place(e), string(e.Properties)})
	}
	p.MorePins = checked.Report.Accepted > len(checked.Pins)
	pins, err := json.Marshal(pinsOf(checked.Pins))
	p.Pins = string(pins)
	return err
}

// syntaxErrorPosition describes the position at which a pasted text stops being JSON.
func syntaxErrorPosition(w *words.Words, text string) template.HTML {
	line, column, known := ingest.Breaks([]byte(text))
	if !known {
		return w.HTML("check.breaks")
	}
	return w.HTML("check.breaks.at", line, column)
}

// maxDrawn is how many positions of a line the page draws, because the page contains the lines of up to a thousand pins.
const maxDrawn = 40

// geometryOf returns GeoJSON of an entity's line, thinned evenly, or of its point.
func geometryOf(e *mapdata.Entity) map[string]any {
	if len(e.Line) == 0 {
		return map[string]any{"type": "Point", "coordinates": [2]float64{e.Point.Lng, e.Point.Lat}}
	}
	drawn := make([][2]float64, min(len(e.Line), maxDrawn))
	for i := range drawn {
		at := e.Line[i*(len(e.Line)-1)/(len(drawn)-1)]
		drawn[i] = [2]float64{at.Lng, at.Lat}
	}
	return map[string]any{"type": "LineString", "coordinates": drawn}
}

// pinsOf returns GeoJSON for the map: places and kinds.
func pinsOf(entities []mapdata.Entity) map[string]any {
	features := make([]map[string]any, len(entities))
	for i := range entities {
		e := &entities[i]
		features[i] = map[string]any{
			"type":       "Feature",
			"geometry":   geometryOf(e),
			"properties": map[string]any{"external_id": e.ExternalID, "kind_id": e.Kind.ID()},
		}
	}
	return map[string]any{"type": "FeatureCollection", "features": features}
}

// readFormUpTo reads a form of at most the given number of bytes.
func readFormUpTo(w http.ResponseWriter, r *http.Request, limit int64) (*Form, error) {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	err := r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, mapdata.Explain(mapdata.ErrTooLarge, "too_much_pasted", fmt.Sprintf("What is pasted may have at most %d bytes.", maxCheckTextBytes))
	case err != nil:
		return nil, mapdata.Explain(mapdata.ErrMalformed, "form_unreadable", "The form cannot be read.")
	}
	return &Form{values: r.PostForm}, nil
}
