package valkey_test

import (
	"strings"
	"testing"

	"wayside/internal/nodes/valkey"
)

func TestCheckURL(t *testing.T) {
	for _, good := range []string{
		"valkey://cache", "redis://cache:6380", "valkeys://cache/3", "rediss://user:secret@cache.example.org:6379/0",
		"valkey://:secret@[::1]:6379", "valkey://10.0.0.1/",
	} {
		if err := valkey.CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "cache:6379", "http://user:secret@cache", "valkey://", "valkey://user:secret@", "valkey://user:secret@cache:0",
		"valkey://user:secret@cache:99999", "valkey://user:secret@cache/x", "valkey://user:secret@cache/1/2",
		"valkey://user:secret@cache/-1", "valkey://user:secret@cache?db=1", "valkey://user:secret@cache#x", "valkey://user:se%zzcret@cache",
		"valkey://user:secret@ca che",
	} {
		err := valkey.CheckURL(bad)
		if err == nil {
			t.Errorf("%q passes", bad)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "user") {
			t.Errorf("%q: the error repeats it: %v", bad, err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	f.Add("valkey://user:secret@cache:6379/0")
	f.Fuzz(func(t *testing.T, text string) {
		if err := valkey.CheckURL(text); err != nil && len(err.Error()) > 200 {
			t.Error("the error repeats what it was given")
		}
	})
}
