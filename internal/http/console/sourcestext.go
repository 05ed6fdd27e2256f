package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

// sourcesKept is how long guests get the same text of a page of the list of sources: it takes milliseconds to make.
const sourcesKept = 500 * time.Millisecond

// sourcesKey identifies a page of the list.
type sourcesKey struct {
	language mapdata.Language
	from     int // a multiple of maxSourcesShown
}

// sourcesTexts caches the pages of the list of sources as guests see them, one for each page of the list and language.
type sourcesTexts struct {
	mu     sync.Mutex // held while a page is made, so that it is made once
	made   time.Time  // when the first of them was made
	listed []*mapdata.Feed
	texts  map[sourcesKey]*rendered
}

// text returns a page from the cache; makePage makes it if the cache lacks it or the sources have changed.
func (t *sourcesTexts) text(c *Console, r *http.Request, v *Visitor, key sourcesKey, listed []*mapdata.Feed, makePage func() (*Page, error)) (*rendered, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := c.Now(); now.Sub(t.made).Abs() >= sourcesKept || !slices.EqualFunc(listed, t.listed, sameFeed) {
		t.made, t.listed, t.texts = now, listed, make(map[sourcesKey]*rendered)
	}
	if text := t.texts[key]; text != nil {
		return text, nil
	}
	page, err := makePage()
	if err != nil {
		return nil, err
	}
	same := *r // other parameters do not change the page
	same.URL = &url.URL{Path: sourcesPath}
	if key.from > 0 {
		same.URL.RawQuery = "from=" + strconv.Itoa(key.from)
	}
	text, err := c.render(&same, v, page)
	if err == nil {
		t.texts[key] = text
	}
	return text, err
}

// sameFeed reports whether two versions of a feed look the same on the page. Versions must be compared because each push makes a
// new copy of its feed.
func sameFeed(a, b *mapdata.Feed) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Description == b.Description && a.Attribution == b.Attribution &&
		a.Licence == b.Licence && a.SpecURL == b.SpecURL
}
