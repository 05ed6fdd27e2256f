package words_test

import (
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

func load(t *testing.T) *words.Catalogue {
	t.Helper()
	c, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// texts parses the files of one language.
func texts(t *testing.T, l mapdata.Language) map[string]string {
	t.Helper()
	names, err := filepath.Glob(string(l) + "/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no words: %v", err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && !strings.HasPrefix(line, "#") {
				all[key] = value
			}
		}
	}
	return all
}

var placeholder = regexp.MustCompile(`\{\d\}`)

func holders(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(text, -1))))
}

// TestLanguagesHaveTheSameKeys checks that every language has the same keys, with the same placeholders, and closed marks.
func TestLanguagesHaveTheSameKeys(t *testing.T) {
	english := texts(t, mapdata.English)
	for _, l := range mapdata.Languages() {
		other := texts(t, l)
		for key, text := range english {
			translated, ok := other[key]
			if !ok {
				t.Errorf("%s has no %s", l, key)
				continue
			}
			// The message of one thing, such as "one hour", need not contain the number.
			if !slices.Equal(holders(text), holders(translated)) && !strings.HasSuffix(key, ".one") {
				t.Errorf("%s: %s has %v, in English %v", l, key, holders(translated), holders(text))
			}
		}
		for key, text := range other {
			if _, ok := english[key]; !ok {
				t.Errorf("%s has %s, English has not", l, key)
			}
			if strings.Count(text, "*")%2 != 0 || strings.Count(text, "`")%2 != 0 {
				t.Errorf("%s: %s opens what it does not close", l, key)
			}
		}
	}
}

// TestEveryKeyIsUsed checks that every key that a page or the code uses exists, and that every key is used.
func TestEveryKeyIsUsed(t *testing.T) {
	keys := texts(t, mapdata.English)
	unused := maps.Clone(keys)
	use := func(key string) {
		delete(unused, key)
		delete(unused, key+".one")
		delete(unused, key+".other")
	}
	known := func(key string) bool { return keys[key] != "" || keys[key+".one"] != "" && keys[key+".other"] != "" }
	asked := regexp.MustCompile(`\b(?:t|text|count|countText) "([^"]+)"`)
	group := regexp.MustCompile(`key "([^"]+)"`)
	quoted := regexp.MustCompile(`"([a-z][\w-]*(?:\.[\w-]+)+\.?)"`)
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".html":
			for _, m := range asked.FindAllStringSubmatch(string(text), -1) {
				if use(m[1]); !known(m[1]) {
					t.Errorf("%s uses %s, which no message file defines", path, m[1])
				}
			}
			for _, m := range group.FindAllStringSubmatch(string(text), -1) {
				useGroup(unused, m[1]+".")
			}
		case ".go":
			for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
				use(m[1])
				if strings.HasSuffix(m[1], ".") {
					useGroup(unused, m[1])
				}
			}
			for _, m := range regexp.MustCompile(`"([a-z]+\.)" ?\+`).FindAllStringSubmatch(string(text), -1) {
				useGroup(unused, m[1])
			}
			for _, m := range regexp.MustCompile(`length\("([a-z]+)"`).FindAllStringSubmatch(string(text), -1) {
				useGroup(unused, m[1]+".")
			}
			if filepath.Base(filepath.Dir(path)) == "words" {
				for _, m := range regexp.MustCompile(`Text\("([a-z.]+)"`).FindAllStringSubmatch(string(text), -1) {
					use(m[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range unused {
		t.Errorf("nothing uses %s", key)
	}
}

func useGroup(unused map[string]string, prefix string) {
	maps.DeleteFunc(unused, func(key, _ string) bool { return strings.HasPrefix(key, prefix) })
}

// TestArgumentsAreEscaped checks that arguments are escaped, and cannot change the direction of the surrounding text.
func TestArgumentsAreEscaped(t *testing.T) {
	w := load(t).In(mapdata.English)
	hostile := "</bdi><script>alert(1)</script>\u202e*`&\""
	got := string(w.HTML("sign-in.sent", hostile))
	if strings.Contains(got, "<script") || strings.Count(got, "<bdi>") != 1 || strings.Count(got, "</bdi>") != 1 || strings.Contains(got, "<strong") || strings.Contains(got, "<code") {
		t.Errorf("got %s", got)
	}
	if got := w.HTML("pair.how"); !strings.Contains(string(got), "<strong>Sign in</strong>") {
		t.Errorf("got %s", got)
	}
	if got := w.HTML("sign-in.sent", template.HTML("<b>x</b>")); !strings.Contains(string(got), "<b>x</b>") {
		t.Errorf("HTML of ours is escaped: %s", got)
	}
	if got := w.Text("pair.how"); strings.Contains(got, "*") {
		t.Errorf("plain text %s", got)
	}
	if got := w.HTML("<none>"); got != "&lt;none&gt;" {
		t.Errorf("a key that is not there: %s", got)
	}
}

func TestNumbersAndTimes(t *testing.T) {
	c := load(t)
	at := time.Date(2026, 3, 5, 8, 5, 0, 0, time.FixedZone("", 3600))
	for l, want := range map[mapdata.Language][]string{
		mapdata.English: {"-", "1,234,567", "−1,000", "999", "5 March 2026, 07:05 UTC", "3 minutes ago", "1 day", "2 days ago", "less than a minute ago", "0 seconds"},
		mapdata.German:  {"-", "1.234.567", "−1.000", "999", "5. März 2026, 07:05 UTC", "vor 3 Minuten", "1 Tag", "vor 2 Tagen", "vor weniger als einer Minute", "0 Sekunden"},
		mapdata.French:  {"-", "1\u202f234\u202f567", "−1\u202f000", "999", "5 mars 2026, 07:05 UTC", "il y a 3 minutes", "1 jour", "il y a 2 jours", "il y a moins d’une minute", "0 seconde"},
	} {
		w := c.In(l)
		got := []string{
			"-", w.Number(1_234_567), w.Number(-1000), w.Number(999), w.Moment(at), w.Ago(3*time.Minute + time.Second),
			w.CountText("span.day", 1), w.Ago(50 * time.Hour), w.Ago(-time.Hour), w.Span(0),
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
	if got := c.In(mapdata.English).DayHTML(at); got != `<time datetime="2026-03-05">5 March 2026</time>` {
		t.Errorf("day %s", got)
	}
	if got := c.In("xx").Language; got != mapdata.English {
		t.Errorf("an unknown language is %s", got)
	}
}
