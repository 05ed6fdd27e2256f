package console

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// posted returns a request with a form.
func posted(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// TestFormsAreBounded checks that a form has at most 256 KiB, and that 65 544 bytes of a file are read.
func TestFormsAreBounded(t *testing.T) {
	for bytes, want := range map[int]bool{256 << 10: true, 256<<10 + 1: false, 1 << 20: false} {
		if _, err := readForm(httptest.NewRecorder(), posted("a="+strings.Repeat("b", bytes-2))); (err == nil) != want {
			t.Errorf("a form of %d bytes: %v", bytes, err)
		}
	}
	for size, want := range map[int]int{65_000: 65_000, 70_000: 65_544, 200_000: 65_544, 400_000: -1} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		file, err := form.CreateFormFile("icon", "icon.png")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		_, content, err := readUpload(httptest.NewRecorder(), r, "icon")
		got := len(content)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("of a file of %d bytes %d are read, want %d (%v)", size, got, want, err)
		}
	}
}

// endless is a body without an end, whose length a request does not say.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestChecksOfTextsAreBounded checks that a form with a text to check has at most 4 MiB, of which six times as much memory is taken, and the text 1 MiB.
func TestChecksOfTextsAreBounded(t *testing.T) {
	catalogue, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	checker := trial.NewChecker(nil, t.TempDir(), time.Now)
	checker.Memory = budget.New(24<<20).Part(24<<20, 24<<20)
	c := &Console{Config: Config{Check: checker, Feeds: feed.New(feed.Config{})}}
	v := &Visitor{Words: catalogue.In(mapdata.English)}
	r := posted("")
	r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, 100<<20)), -1
	if err := c.postCheck(httptest.NewRecorder(), r, v); !errors.Is(err, mapdata.ErrTooLarge) {
		t.Errorf("an endless form: %v", err)
	}
	for bytes, want := range map[int]bool{1 << 20: true, 1<<20 + 1: false, 3 << 20: false} {
		text := "[" + strings.Repeat(" ", bytes-2) + "]"
		page := &checkPage{Form: newForm(url.Values{}), Text: text}
		if err := c.runCheck(posted(""), v, page); err != nil {
			t.Fatal(err)
		}
		if got := len(page.Form.Wrongs) == 0 && page.Trial != nil; got != want {
			t.Errorf("a text of %d bytes: %+v", bytes, page.Form.Wrongs)
		}
	}
}
