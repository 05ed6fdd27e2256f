package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wording is one text that people read, and its place.
type wording struct {
	place    string // file, and key or line
	language string // en, de, …; "docs" for Markdown, "go" for string literals of the program
	text     string
}

// unusedWord is a word that texts must not use, with its replacement (docs/glossary.md).
type unusedWord struct {
	languages string // space-separated
	pattern   *regexp.Regexp
	instead   string
	allowed   *regexp.Regexp // a text or a place in which the word has another meaning; nil: none
}

func word(languages, pattern, instead, allowed string) unusedWord {
	w := unusedWord{languages: languages, pattern: regexp.MustCompile(pattern), instead: instead}
	if allowed != "" {
		w.allowed = regexp.MustCompile(allowed)
	}
	return w
}

// unusedWords returns the words to search for in all wordings. An exception states the other meaning of the word.
func unusedWords() []unusedWord {
	const (
		ofAnAlphabet = `(?i)eight letters|four letters|\{letters\}|70 letters|letters, digits|letters and digits|non-Latin letters|look-alike letters|letters beyond|glossary\.md`
		ofGo         = `^(docs/ARCHITECTURE|docs/packages|docs/hard-parts|docs/decisions/\S*|docs/dependencies|docs/glossary|CONTRIBUTING)(\.md|/)?`
	)
	return []unusedWord{
		word("en docs go", `(?i)\bletters?\b`, "e-mail", ofAnAlphabet),
		word("en", `(?i)\binterfaces?\b`, "API", ""),
		word("docs", `(?i)\binterfaces?\b`, "API", ofGo), // Go's interfaces
		word("en docs go", `(?i)\bmend(s|ed|ing)?\b`, "fix", `^docs/(decisions|glossary)|^docs/dependencies`),
		word("en docs go", `(?i)\bturn(s|ed)? (it |them |the \w+ )?(down|away)\b`, "reject", `^docs/glossary`),
		word("en docs", `(?i)\bat once\b`, "immediately, or together", `^docs/(decisions|glossary)`),
		word("en", `(?i)\bfor good\b`, "permanently", ""),
		word("en docs", `(?i)\bwhoever\b`, "anyone who", `^docs/decisions`),
		word("en", `(?i)\bShapes\b|Proving who you are`, "Schemas, Authentication", ""),
		word("en", `\bProblems\b`, "Errors", ""),
		word("en", `(?i)\bretire[sd]?\b`, "remove", ""),
		word("en", `(?i)\bcarr(y|ied)\b[^.]*attribution|attribution[^.]*\bcarr(y|ied)\b`, "show", ""),
		word("en", `^Write\b|\. Write\b`, "Enter", ""),
		word("en", `(?i)\b(is|are|was) no (e-mail|URL|file|host|port|backup)\b`, "is not a", ""),
		word("en", `(?i)\bkinds? there are\b|\btake your vote back\b|\blook at your mail\b`, "List types, Withdraw vote, Check your inbox", ""),
		word("go", `^%q is no |\bis no (host|port|size|duration|file|URL)\b`, "is not a", ""),
		word("de", `\b(Anmelde)?[Bb]rief(e|s|en)?\b|\bPost\b`, "E-Mail", ""),
		word("de", `\bNadeln?\b`, "Pin", ""),
		word("de", `(?i)\bfeeds? (\S+ )?an(ge)?meld(en|et)\b|\bmelden Sie (einen|den) (Feed|Datensatz) an`, "registrieren", ""),
		word("de", `(?i)\btokens? (\S+ )?(gemacht|machen)\b`, "erstellen", ""),
		word("de", `\bZeilen?\b|\bKopfzeilen?\b`, "Datensatz, Header", `Fehler in Zeile`),
		word("de", `\bSchnittstelle\b|\bschweigt\b|\bzugelassen\b|\bLadestation am Ziel\b|\bNach der Sonne\b`, "API, offline, freigegeben, Destination Charger, Automatisch", ""),
		word("de", `(?i)\bLieferung(en)?\b|\bSendung(en)?\b`, "Push", ""),
		word("fr", `(?i)\blettres?\b|\bcourriels?\b`, "e-mail", `huit lettres|des lettres, des chiffres|lettres hors de`),
		word("fr", `(?i)\binterface\b|\baussitôt\b|\bÉcrivez\b|\brelev(er|é|ée|és)\b`, "API, immédiatement, Saisissez, récupérer", ""),
		word("nl", `(?i)\bbrief\b|\binterface\b`, "e-mail, API", ""),
		word("es", `(?i)\bcartas?\b|\binterfaz\b`, "correo electrónico, API", ""),
		word("it", `(?i)\blettera\b|\binterfaccia\b`, "e-mail, API", ""),
	}
}

func TestWordings(t *testing.T) {
	all := slices.Concat(messageFiles(t), overlayTexts(t), documentTexts(t), programTexts(t), markdown(t))
	unused, seen := unusedWords(), map[string]int{}
	for _, w := range all {
		seen[w.language]++
		for _, u := range unused {
			if !slices.Contains(strings.Fields(u.languages), w.language) {
				continue
			}
			found := u.pattern.FindString(w.text)
			if found == "" || u.allowed != nil && (u.allowed.MatchString(w.text) || u.allowed.MatchString(w.place)) {
				continue
			}
			t.Errorf("%s: %q says %q, use %s (docs/glossary.md)", w.place, w.text, found, u.instead)
		}
	}
	for language, least := range map[string]int{"en": 1000, "de": 500, "fr": 500, "es": 100, "it": 100, "nl": 100, "docs": 500, "go": 500} {
		if seen[language] < least {
			t.Errorf("only %d texts of %s were read", seen[language], language)
		}
	}
}

// read reads a file of the module.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS(root), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files lists the files of the module that match a pattern.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(root), pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no file is %s: %v", pattern, err)
	}
	return names
}

// messageFiles reads the texts of pages and e-mails: lines of «key = text».
func messageFiles(t *testing.T) []wording {
	t.Helper()
	var all []wording
	for _, name := range slices.Concat(files(t, "internal/http/console/words/*/*.txt"), files(t, "internal/people/mail/words/*.txt")) {
		language := path.Base(path.Dir(name))
		if language == "words" {
			language = strings.TrimSuffix(path.Base(name), ".txt")
		}
		for line := range strings.Lines(read(t, name)) {
			if key, text, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && !strings.HasPrefix(key, "#") {
				all = append(all, wording{name + ": " + key, language, text})
			}
		}
	}
	return all
}

var overlayLine = regexp.MustCompile(`^\s*"([\w.]+)":\s*"(.*)",?$`)

// overlayTexts reads the texts of the page for cars.
func overlayTexts(t *testing.T) []wording {
	t.Helper()
	var all []wording
	for _, name := range files(t, "web/overlay/src/i18n/??.ts") {
		for line := range strings.Lines(read(t, name)) {
			if m := overlayLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				all = append(all, wording{name + ": " + m[1], strings.TrimSuffix(path.Base(name), ".ts"), m[2]})
			}
		}
	}
	return all
}

var (
	documentLine = regexp.MustCompile(`"(?:title|summary|description|when|then|name)":\s*"((?:[^"\\]|\\.)*)"`)
	pageText     = regexp.MustCompile(`>([^<>{}]+)<`)
)

// documentTexts reads the texts of openapi.json and of the page that is generated from it.
func documentTexts(t *testing.T) []wording {
	t.Helper()
	var all []wording
	for _, source := range []struct {
		name string
		text *regexp.Regexp
	}{{"internal/http/httpapi/openapi.json", documentLine}, {"internal/http/apidocs/docs.html", pageText}} {
		number := 0
		for line := range strings.Lines(read(t, source.name)) {
			number++
			for _, m := range source.text.FindAllStringSubmatch(line, -1) {
				all = append(all, wording{fmt.Sprintf("%s:%d", source.name, number), "en", m[1]})
			}
		}
	}
	return all
}

var help = regexp.MustCompile(`help:"((?:[^"\\]|\\.)*)"`)

// programTexts reads the sentences in the program's string literals, log messages and errors among them, and its help.
func programTexts(t *testing.T) []wording {
	t.Helper()
	var all []wording
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for node := range ast.Preorder(file) {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				return err
			}
			place := strings.TrimPrefix(set.Position(literal.Pos()).String(), root+"/")
			if m := help.FindStringSubmatch(text); m != nil {
				all = append(all, wording{place, "en", m[1]})
			} else if strings.Contains(text, " ") {
				all = append(all, wording{place, "go", text})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// markdown reads the documents, line by line, without the changelog, which describes the past.
func markdown(t *testing.T) []wording {
	t.Helper()
	var all []wording
	for _, name := range slices.Concat(files(t, "*.md"), files(t, "docs/*.md"), files(t, "docs/*/*.md")) {
		if name == "CHANGELOG.md" {
			continue
		}
		number := 0
		for line := range strings.Lines(read(t, name)) {
			number++
			all = append(all, wording{fmt.Sprintf("%s:%d", name, number), "docs", line})
		}
	}
	return all
}

// TestGlossary checks that the glossary defines its ten nouns, and that README.md and docs lead to it.
func TestGlossary(t *testing.T) {
	text := read(t, "docs/glossary.md")
	nouns := regexp.MustCompile(`(?m)^\| \*\*(\w+)\*\* \| [^|]+\. \| [^|]+ \|$`).FindAllStringSubmatch(text, -1)
	var names []string
	for _, n := range nouns {
		names = append(names, n[1])
	}
	slices.Sort(names)
	want := []string{"alert", "entity", "feed", "incident", "layer", "pin", "row", "source", "type", "upstream"}
	if !slices.Equal(names, want) {
		t.Errorf("the glossary defines %v, want %v", names, want)
	}
	for _, name := range []string{"README.md", "docs/providers.md", "docs/operating.md", "CONTRIBUTING.md"} {
		if !strings.Contains(read(t, name), "glossary.md") {
			t.Errorf("%s has no link to the glossary", name)
		}
	}
}
