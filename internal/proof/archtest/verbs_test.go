package archtest

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// mostOddVerbs is how many comments of functions may begin with a verb of which the function is not the subject. It only shrinks.
const mostOddVerbs = 14

// oddVerb matches a comment that says what a function is or has, and not what it does. Exceptions are set phrases that the standard
// library has too ("is like"), and verbs that do something ("gives back", "gives up").
var (
	oddVerb = regexp.MustCompile(`^\S+ (is|are|was|says|tells|gives|has)\b`)
	fineUse = regexp.MustCompile(`^\S+ (is (like|a test|not a test)\b|gives \S+ ?\S* ?\S* ?(back|up)\b)`)
)

// oddVerbs lists the comments of functions that begin with such a verb.
func oddVerbs(all []source) (found []string) {
	for i := range all {
		s := &all[i]
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			text := strings.Join(strings.Fields(f.Doc.Text()), " ")
			if oddVerb.MatchString(text) && !fineUse.MatchString(text) && strings.HasPrefix(text, f.Name.Name+" ") {
				found = append(found, s.at(f, "%s", text))
			}
		}
	}
	return found
}

// checkVerbs checks that the comments of functions begin with what the functions do: returns, reports whether, parses.
func checkVerbs(t *testing.T, all []source) {
	t.Helper()
	found := oddVerbs(all)
	if len(found) > mostOddVerbs {
		t.Errorf("%d comments of functions say what the function is or has; write what it does. At most %d may:\n%s", len(found), mostOddVerbs, strings.Join(found, "\n"))
	}
	if len(found) < mostOddVerbs-5 {
		t.Errorf("only %d comments say what a function is or has: lower mostOddVerbs", len(found))
	}
}

// TestOddVerbs checks which comments checkVerbs finds.
func TestOddVerbs(t *testing.T) {
	for comment, want := range map[string]bool{
		"f is the index of the edge.":            true,
		"f says whether there is one.":           true,
		"f tells the driver.":                    true,
		"f returns the index of the edge.":       false,
		"f is like g, but faster.":               false,
		"f gives the place back.":                false,
		"f reports whether the place is a city.": false,
	} {
		all, err := readModule(fstest.MapFS{"internal/a/a.go": {Data: fmt.Appendf(nil, "package a\n\n// %s\nfunc f() {}\n", comment)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(oddVerbs(all)) > 0; got != want {
			t.Errorf("%q: found %t, want %t", comment, got, want)
		}
	}
}
