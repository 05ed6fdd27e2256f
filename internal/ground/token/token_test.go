package token_test

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/ground/token"
)

// A fixed token: a change of alphabet, checksum or lengths would invalidate all tokens in use, and fails this test.
const known = "wsp_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd4RS6dQ"

func TestNewFormat(t *testing.T) {
	form := regexp.MustCompile(`^wsk_[0-9A-Za-z]{40}[0-9A-Za-z]{6}$`)
	seen := map[string]bool{}
	for range 1000 {
		s := token.New(token.API)
		if !form.MatchString(s) || !token.Valid(token.API, s) {
			t.Fatal("a new token has another form, or is not valid")
		}
		if seen[s] {
			t.Fatal("a token came twice")
		}
		seen[s] = true
	}
}

func TestNewIsUniform(t *testing.T) {
	var count [256]int
	const tokens = 5000
	for range tokens {
		for _, b := range []byte(token.New(token.Push)[4:44]) {
			count[b]++
		}
	}
	// 3 226 of each are expected, with a deviation of 56: 8 deviations either way never happen by chance, and a plain
	// remainder of 256 by 62 (a quarter more of the first eight) lies beyond them.
	for b, n := range count {
		if n > 0 && (n < 2775 || n > 3675) {
			t.Errorf("character %q came %d times", rune(b), n)
		}
	}
}

func TestValid(t *testing.T) {
	swapped := []byte(known)
	swapped[10], swapped[11] = swapped[11], swapped[10]
	tests := []struct {
		name, prefix, token string
		want                bool
	}{
		{"as made", token.Push, known, true},
		{"another prefix asked for", token.API, known, false},
		{"the prefix is part of the sum", token.API, "wsk_" + known[4:], false},
		{"one character wrong", token.Push, strings.Replace(known, "K", "k", 1), false},
		{"two characters swapped", token.Push, string(swapped), false},
		{"checksum wrong", token.Push, known[:len(known)-1] + "q", false},
		{"too short", token.Push, known[:len(known)-1], false},
		{"too long", token.Push, known + "0", false},
		{"a character outside base 62", token.Push, strings.Replace(known, "K", "-", 1), false},
		{"not ASCII", token.Push, strings.Replace(known, "KL", "é", 1), false},
		{"empty", token.Push, "", false},
		{"prefix alone", token.Push, token.Push, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := token.Valid(tt.prefix, tt.token); got != tt.want {
				t.Errorf("Valid = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestHashIsSHA256(t *testing.T) {
	want := sha256.Sum256([]byte(known))
	if !bytes.Equal(token.Hash(known), want[:]) {
		t.Error("Hash is not the SHA-256 of the whole token")
	}
}

func FuzzValid(f *testing.F) {
	f.Add(known)
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if token.Valid(token.Push, s) && len(s) != 50 {
			t.Errorf("a token of %d bytes passed", len(s))
		}
	})
}
