package drives

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// speakingProgram returns a program that speaks each text as eight samples, and the file in which it records its calls.
func speakingProgram(t *testing.T) (program, notes string) {
	t.Helper()
	dir := t.TempDir()
	program, notes = filepath.Join(dir, "speaks"), filepath.Join(dir, "notes")
	script := "#!/bin/sh\nprintf '%s: ' \"$1\" >> " + strconv.Quote(notes) + "\ncat >> " + strconv.Quote(notes) + "\n" +
		`printf 'RIFF\377\377\377\177WAVEfmt \020\0\0\0\001\0\001\0\100\037\0\0\100\037\0\0\001\0\010\0data\377\377\377\177abcdefgh'` + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return program, notes
}

// clips returns the announcements of a route with the addresses of their clips, in a language.
func clips(c *systemtest.Client, from, to string, language string) map[string]string {
	c.Service.T.Helper()
	town := twoBridges(c.Service.T)
	a, b := town.Place(c.Service.T, from), town.Place(c.Service.T, to)
	_, body := c.Do(http.MethodGet, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f?steps=true&voice_instructions=true&language=%s", a.Lng, a.Lat, b.Lng, b.Lat, language), nil)
	var got struct {
		Routes []struct {
			Legs []struct {
				Steps []struct {
					VoiceInstructions []struct{ Announcement, Clip string } `json:"voiceInstructions"`
				}
			}
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || len(got.Routes) == 0 {
		c.Service.T.Fatalf("route: %v, %s", err, body)
	}
	clips := map[string]string{}
	for _, step := range got.Routes[0].Legs[0].Steps {
		for _, said := range step.VoiceInstructions {
			clips[said.Announcement] = said.Clip
		}
	}
	return clips
}

// TestSpeech checks that announcements have clips if the operator names a program, that each is spoken once, in the language of the
// route, and that its address stays valid after a restart. It also checks that nothing else is spoken, and that no log, address or
// file name contains a text (D15.25).
func TestSpeech(t *testing.T) {
	t.Parallel()
	program, notes := speakingProgram(t)
	s := systemtest.NewService(t, "[speech]\ncommand = ["+strconv.Quote(program)+", \"{language}\"]\n")
	s.ImportDrawing(twoBridges(t))
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	clips := clips(guest, "a", "f", "it")
	if len(clips) < 3 {
		t.Fatalf("%d announcements: %v", len(clips), clips)
	}
	listen := func() {
		t.Helper()
		for text, clip := range clips {
			if !regexp.MustCompile(`^/v2/navigation/speech/[\w-]{40,}$`).MatchString(clip) {
				t.Fatalf("the clip of %q is %q", text, clip)
			}
			resp, body := guest.Do(http.MethodGet, clip, nil)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "audio/wav" || !bytes.HasSuffix(body, []byte("data\x08\x00\x00\x00abcdefgh")) {
				t.Fatalf("%s: %s %q", clip, resp.Status, body)
			}
			if !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers of a clip: %v", resp.Header)
			}
		}
	}
	listen()
	listen()
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	s.Start(nil)
	listen()
	asked, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(asked), "it: "); got != len(clips) {
		t.Errorf("%d of %d announcements were spoken:\n%s", got, len(clips), asked)
	}
	for text := range clips {
		if !strings.Contains(string(asked), "it: "+text+"\n") {
			t.Errorf("%q was not spoken:\n%s", text, asked)
		}
	}
	for _, made := range []string{"x", strings.Repeat("A", 100), "..%2f..%2fsecret.key", strings.Repeat("A", 5000)} {
		if resp, _ := guest.Do(http.MethodGet, "/v2/navigation/speech/"+made, nil); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%.40s: %s", made, resp.Status)
		}
	}
	kept, err := filepath.Glob(filepath.Join(s.Dir, "speech", "*"))
	if err != nil || len(kept) != len(clips) {
		t.Errorf("kept: %v, %v", kept, err)
	}
	if strings.Contains(s.Log.String(), "Bridge") || strings.Contains(strings.Join(kept, " "), "Bridge") {
		t.Error("a text is in the log or in the name of a file")
	}
	if out := s.CLI("doctor"); !strings.Contains(out, "speaks spoke a sentence in ") {
		t.Errorf("doctor says %s", out)
	}
}

// TestNoSpeech checks that without a program no announcement has a clip, and no address answers.
func TestNoSpeech(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "")
	s.ImportDrawing(twoBridges(t))
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	for text, clip := range clips(guest, "a", "f", "en") {
		if clip != "" {
			t.Errorf("%q has the clip %q", text, clip)
		}
	}
	if resp, body := guest.Do(http.MethodGet, "/v2/navigation/speech/AAAA", nil); resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "has no voice") {
		t.Errorf("%s %s", resp.Status, body)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "speech")); err == nil {
		t.Error("a folder was made")
	}
}
