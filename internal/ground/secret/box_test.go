package secret

import (
	"bytes"
	"errors"
	"testing"

	"wayside/internal/ground/mapdata"
)

func newBox(t *testing.T, fill byte) *Box {
	t.Helper()
	box, err := New(bytes.Repeat([]byte{fill}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestSealAndOpen(t *testing.T) {
	box := newBox(t, 1)
	for _, plain := range []string{"", "X-Key: abc", "Authorization: Bearer ä"} {
		sealed := box.Seal([]byte(plain), mapdata.FeedID{7})
		if plain != "" && bytes.Contains(sealed, []byte(plain)) {
			t.Errorf("%q is readable in what was sealed", plain)
		}
		opened, err := box.Open(sealed, mapdata.FeedID{7})
		if err != nil || string(opened) != plain {
			t.Errorf("opened %q, %v; want %q", opened, err, plain)
		}
		if bytes.Equal(sealed, box.Seal([]byte(plain), mapdata.FeedID{7})) {
			t.Error("sealing twice gives the same text: the nonce is not random")
		}
	}
}

func TestOpenErrors(t *testing.T) {
	box := newBox(t, 1)
	feed := mapdata.FeedID{7}
	sealed := box.Seal([]byte("X-Key: abc"), feed)
	if _, err := newBox(t, 2).Open(sealed, feed); !errors.Is(err, ErrSealed) {
		t.Errorf("another key: %v", err)
	}
	if _, err := box.Open(sealed, mapdata.FeedID{8}); !errors.Is(err, ErrSealed) {
		t.Errorf("another feed: %v", err)
	}
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		if _, err := box.Open(broken, feed); !errors.Is(err, ErrSealed) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := box.Open(sealed[:i], feed); !errors.Is(err, ErrSealed) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestKeySize(t *testing.T) {
	for _, size := range []int{0, 16, KeySize - 1, KeySize + 1} {
		if _, err := New(make([]byte, size)); err == nil {
			t.Errorf("a key of %d bytes was taken", size)
		}
	}
}
