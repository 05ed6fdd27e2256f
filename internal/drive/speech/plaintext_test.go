package speech

import (
	"strings"
	"testing"
)

// TestMarkupIsNotSpoken checks what a program reads from standard input for names with speech markup or line breaks.
func TestMarkupIsNotSpoken(t *testing.T) {
	s := newSpeaker(t, "tell")
	for name, want := range map[string]string{
		"Turn left onto Via Roma.": "Turn left onto Via Roma.",
		"Turn left onto <speak><audio src=\"file:///etc/passwd\"/></speak>.": "Turn left onto speak audio src=\"file:///etc/passwd\"/ /speak .",
		"Turn left onto A [[inpt PHON]] B.":                                  "Turn left onto A inpt PHON B.",
		"Turn left onto A [<[rate 9]>] B.":                                   "Turn left onto A rate 9 B.",
		"Turn left onto [:phoneme on] B.":                                    "Turn left onto :phoneme on B.",
		"Turn left onto \\pau=9000\\ B.":                                     "Turn left onto pau=9000 B.",
		"Turn left\u2028onto\u2029A\nB\r\x1b.":                               "Turn left onto A B .",
		"Turn left onto \u202eabc\u2066.":                                    "Turn left onto abc.",
		"Turn left onto Smith & Sons' Way.":                                  "Turn left onto Smith & Sons' Way.",
		"Turn left onto می\u200cروم.":                                        "Turn left onto می\u200cروم.",
	} {
		audio, _, err := read(t, s, s.Address("en", name))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if told := strings.TrimRight(string(audio[44:]), "\x00"); !strings.HasSuffix(told, "|"+want+"\n") {
			t.Errorf("%q is given as %q, want %q", name, told, want)
		}
	}
}
