package mail

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
)

var kinds = []mapdata.EmailKind{
	mapdata.EmailSignIn, mapdata.EmailApproved, mapdata.EmailRejected, mapdata.EmailChangeRejected, mapdata.EmailDeactivated, mapdata.EmailShrank,
	mapdata.EmailPinHidden, mapdata.EmailPinShown, mapdata.EmailFeedPaused, mapdata.EmailFeedResumed, mapdata.EmailFeedRemoved,
	mapdata.EmailAccountSuspended, mapdata.EmailAccountResumed,
	mapdata.EmailChangeOld, mapdata.EmailChangeNew,
	mapdata.EmailPasskeyAdded, mapdata.EmailTokenMade, mapdata.EmailNotice, mapdata.EmailScreenPaired,
	mapdata.EmailSilent, mapdata.EmailRejections, mapdata.EmailFailing,
	mapdata.EmailInvited, mapdata.EmailOffered, mapdata.EmailMaintainerJoined, mapdata.EmailMaintainerLeft, mapdata.EmailMaintainerRemoved,
	mapdata.EmailTransferred, mapdata.EmailReceived,
	mapdata.EmailAppApproved, mapdata.EmailAppRejected, mapdata.EmailAppSuspended, mapdata.EmailAppResumed,
	mapdata.EmailReviewWaiting, mapdata.EmailReviewDigest, mapdata.EmailReviewReminder,
}

var failedOutcomes = []mapdata.Outcome{
	mapdata.OutcomeTimeout, mapdata.OutcomeHTTPStatus, mapdata.OutcomeParseError, mapdata.OutcomeNotAnArray,
	mapdata.OutcomeTooLarge, mapdata.OutcomeDNSError, mapdata.OutcomeConnectionError, mapdata.OutcomeTLSError,
	mapdata.OutcomeBlockedAddress, mapdata.OutcomeRedirectError,
}

func TestLanguagesHaveSameKeys(t *testing.T) {
	all, err := readMessages()
	if err != nil {
		t.Fatal(err)
	}
	placeholders := func(w messages) map[string][]string {
		found := make(map[string][]string)
		for key, text := range w {
			found[key] = slices.Sorted(slices.Values(regexp.MustCompile(`\{[a-z_]+\}`).FindAllString(text, -1)))
		}
		return found
	}
	english := placeholders(all[mapdata.English])
	for _, language := range mapdata.Languages() {
		if diff := cmp.Diff(english, placeholders(all[language])); diff != "" {
			t.Errorf("keys and placeholders of %s (-en +%s):\n%s", language, language, diff)
		}
		for key, text := range all[language] {
			if language != mapdata.English && text == all[mapdata.English][key] {
				t.Errorf("%s of %s is English: %q", key, language, text)
			}
			if strings.ContainsAny(text, "<>\t") || strings.Contains(text, "  ") {
				t.Errorf("%s of %s: %q", key, language, text)
			}
		}
	}
}

// TestEveryMessageIsUsed checks that every message is used by some e-mail, and that every e-mail's messages exist.
func TestEveryMessageIsUsed(t *testing.T) {
	texts, err := newTexts("https://wayside.example.org")
	if err != nil {
		t.Fatal(err)
	}
	said := messages{}
	for key := range texts.messages[mapdata.English] {
		said[key] = "[" + key + "]"
	}
	texts.messages[mapdata.English] = said
	var whole strings.Builder
	render := func(kind mapdata.EmailKind, data map[string]string) {
		l, err := texts.render(&mapdata.Email{Kind: kind, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		whole.WriteString(l.subject + l.text + l.html)
	}
	for _, kind := range kinds {
		render(kind, map[string]string{
			"feed_id": "7", "note": "n", "error": "e", "rows": "1", "rows_before": "3", "code": "1", "token": "t", "outcome": "timeout", "name": "x", "subject": "s", "notice": "n", "made_id": "m",
			"waiting": "3", "feeds": "5 New\n1500 Old",
			"until": "u",
		})
		render(kind, map[string]string{"waiting": "2", "feeds": "5a New\n1500a Old", "apps": "some"})
		render(kind, nil)
	}
	for _, outcome := range failedOutcomes {
		render(mapdata.EmailDeactivated, map[string]string{"outcome": string(outcome)})
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if !strings.Contains(whole.String(), "["+key+"]") {
			t.Errorf("%s is in no e-mail", key)
		}
		delete(said, key)
	}
	for _, outcome := range failedOutcomes {
		if _, ok := texts.messages[mapdata.German]["outcome."+string(outcome)]; !ok {
			t.Errorf("no words for a feed that failed with %s", outcome)
		}
	}
}

// TestFormat checks that placeholders within values are not expanded.
func TestFormat(t *testing.T) {
	w := messages{"k": `Of {feed}: {"active": true} {no}{feed}`}
	got := w.format("k", map[string]string{"feed": "{no} {feed}", "no": "!"})
	want := []span{
		{"Of ", false}, {"{no} {feed}", true}, {`: {"active": true} `, false}, {"!", true}, {"{no} {feed}", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
