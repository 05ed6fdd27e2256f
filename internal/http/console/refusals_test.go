package console

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// everyLanguage runs a test for each language.
func everyLanguage(t *testing.T, test func(t *testing.T, w *words.Words)) {
	t.Helper()
	catalogue, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range mapdata.Languages() {
		t.Run(string(l), func(t *testing.T) { test(t, catalogue.In(l)) })
	}
}

// TestEveryRejectionIsTranslated checks that every code of a rejected row has a message in every language, and so has every reason
// of a code.
func TestEveryRejectionIsTranslated(t *testing.T) {
	everyLanguage(t, func(t *testing.T, w *words.Words) {
		said := map[string]string{}
		for _, code := range append(ingest.Codes(), mapdata.WarnPropertyType, mapdata.WarnPropertyRange) {
			keys := []string{"rejected." + code}
			for _, reason := range ingest.Reasons()[code] {
				keys = append(keys, keys[0]+"."+string(reason))
			}
			for _, key := range keys {
				if !w.Has(key) {
					t.Errorf("no message %s", key)
				}
				if other, twice := said[w.Text(key)]; twice {
					t.Errorf("%s and %s say the same", key, other)
				}
				said[w.Text(key)] = key
			}
		}
	})
}

// TestEveryFailureIsTranslated checks that every way in which a fetch or a push fails has advice in every language, and more
// specific advice where more is known.
func TestEveryFailureIsTranslated(t *testing.T) {
	failures := []mapdata.Outcome{
		mapdata.OutcomeTimeout, mapdata.OutcomeHTTPStatus, mapdata.OutcomeParseError, mapdata.OutcomeNotAnArray,
		mapdata.OutcomeTooLarge, mapdata.OutcomeDNSError, mapdata.OutcomeConnectionError, mapdata.OutcomeTLSError,
		mapdata.OutcomeBlockedAddress, mapdata.OutcomeRedirectError,
	}
	// One outcome needs no more specific advice.
	general := []mapdata.Reason{mapdata.ReasonUnreachable}
	everyLanguage(t, func(t *testing.T, w *words.Words) {
		other := w.HTML("outcome.other.do")
		for _, outcome := range failures {
			plain := outcomeAdvice(w, &mapdata.Attempt{Outcome: outcome})
			if plain == other || outcomeText(w, &mapdata.Attempt{Outcome: outcome}) == w.Text("outcome.other") {
				t.Errorf("no words for %s", outcome)
			}
			for _, reason := range mapdata.Reasons()[outcome] {
				closer := outcomeAdvice(w, &mapdata.Attempt{Outcome: outcome, Reason: reason})
				if (closer == plain) != slices.Contains(general, reason) {
					t.Errorf("%s, %s: %s", outcome, reason, closer)
				}
			}
		}
		for _, outcome := range []mapdata.Outcome{mapdata.OutcomeBlockedAddress, mapdata.OutcomeRedirectError} {
			plain := outcomeAdvice(w, &mapdata.Attempt{Outcome: outcome})
			for _, code := range inSource(t, "../../ground/safehttp", `refuse\("(\w+)"`, "operator.go", "header.go") {
				if outcomeAdvice(w, &mapdata.Attempt{Outcome: outcome, Reason: mapdata.Reason(code)}) == plain {
					t.Errorf("%s: no words for the rule %s", outcome, code)
				}
			}
		}
		for outcome, reasons := range map[mapdata.Outcome][]mapdata.Reason{
			mapdata.OutcomeParseError: {"", mapdata.ReasonCompression}, mapdata.OutcomeNotAnArray: {""},
			mapdata.OutcomeTooLarge: {mapdata.ReasonRows, mapdata.ReasonBody},
		} {
			for _, reason := range reasons {
				if got := pushAdvice(w, &mapdata.Attempt{Outcome: outcome, Reason: reason}); got == w.HTML("pushed.other.do") {
					t.Errorf("no words for a push refused for %s, %s", outcome, reason)
				}
			}
		}
	})
}

// TestEveryRefusalIsTranslated checks that every error of a form's field, and every reason of a refusal, has a message in every
// language.
func TestEveryRefusalIsTranslated(t *testing.T) {
	everyLanguage(t, func(t *testing.T, w *words.Words) {
		codes := inSource(t, "../../feeds/feed", `\bAdd\([\w"]+, "(\w+)"`)
		codes = append(codes, inSource(t, "../../ground/mapdata/fielderrors.go", `\bAdd\([\w"]+, "(\w+)"`)...)
		codes = append(codes, inSource(t, "../../ground/safehttp", `refuse\("(\w+)"`, "operator.go")...)
		codes = append(codes, "invalid_name", "invalid_email", "not_yours", "invalid_id", "unknown_account", "invalid_version")
		for _, code := range codes {
			if !slices.ContainsFunc(formFields, func(field string) bool { return w.Has("wrong." + field + code) }) {
				t.Errorf("no words for a field that is %s", code)
			}
		}
		attempts := slices.Concat(slices.Collect(maps.Values(mapdata.Reasons()))...)
		for _, reason := range inSource(t, "../..", `Explain\([\w.]+, "(\w+)"`) {
			if !slices.Contains(attempts, mapdata.Reason(reason)) && !w.Has("refused."+reason) {
				t.Errorf("no words for a refusal: %s", reason)
			}
		}
	})
}

// formFields are the prefixes of the keys of field errors: of any field, and of one.
var formFields = []string{"", "name.", "pull_url.", "pull_auth_header.", "spec_url.", "email.", "feed.", "account.", "note.", "direction."}

// inSource finds the submatches of a pattern in the sources below a folder.
func inSource(t *testing.T, folder, pattern string, except ...string) []string {
	t.Helper()
	var found []string
	search := regexp.MustCompile(pattern)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || slices.Contains(except, filepath.Base(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range search.FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1])
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing in %s matches %s: %v", folder, pattern, err)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
