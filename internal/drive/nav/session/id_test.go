package session

import (
	"bytes"
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func idsAt(t *testing.T, fill byte, address string) *IDs {
	t.Helper()
	ids, err := NewIDs(bytes.Repeat([]byte{fill}, 32), func() netip.AddrPort {
		if address == "" {
			return netip.AddrPort{}
		}
		return netip.MustParseAddrPort(address)
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestIDsNameTheirNode checks that nodes with the same key can read each other's ids, and that other nodes cannot.
func TestIDsNameTheirNode(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, address := range []string{"192.0.2.7:8080", "[2001:db8::7]:443", ""} {
		a, b := idsAt(t, 1, address), idsAt(t, 1, "192.0.2.9:8080")
		id := a.make(now)
		if len(id) != 94 || IDLength != 94 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%q has %d characters", id, len(id))
		}
		read, ok := b.Read(id, now.Add(time.Hour))
		if !ok || read.Node != a.Node() || !read.Begun.Equal(now) {
			t.Errorf("%s: read %+v, %v", address, read, ok)
		}
		if _, ok := idsAt(t, 2, address).Read(id, now); ok {
			t.Error("an id was read with another key")
		}
		if _, ok := b.Read(id, now.Add(8*24*time.Hour)); ok {
			t.Error("an id of last week was read")
		}
		if again := a.make(now); again[:32] == id[:32] {
			t.Error("two ids begin alike")
		}
	}
}

// TestIDsTellNothing checks that an id that is changed anywhere, or cut, becomes invalid, and that ids of two nodes look
// alike.
func TestIDsTellNothing(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	ids := idsAt(t, 1, "192.0.2.7:8080")
	id := ids.make(now)
	sealed, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		if _, ok := ids.Read(base64.RawURLEncoding.EncodeToString(broken), now); ok {
			t.Errorf("byte %d was changed, and the id is read", i)
		}
	}
	for i := range id {
		if _, ok := ids.Read(id[:i], now); ok {
			t.Errorf("%d characters are an id", i)
		}
		other := id[:i] + string("AB"[bytes.IndexByte([]byte("A"), id[i])+1]) + id[i+1:]
		if _, ok := ids.Read(other, now); ok && other != id {
			t.Errorf("character %d was changed, and the id is read", i)
		}
	}
	if bytes.Contains(sealed, []byte{192, 0, 2, 7}) {
		t.Error("the address is readable in the id")
	}
}

// TestOwner checks for which ids Owner names another node.
func TestOwner(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	here := New(Options{Now: func() time.Time { return now }, IDs: idsAt(t, 1, "192.0.2.7:8080")})
	for name, c := range map[string]struct {
		id   string
		want string
	}{
		"another node's":                   {idsAt(t, 1, "192.0.2.9:8080").make(now), "192.0.2.9:8080"},
		"its own":                          {here.IDs.make(now), ""},
		"its own, before it was restarted": {idsAt(t, 1, "192.0.2.7:8080").make(now), ""},
		"of a node without an address":     {idsAt(t, 1, "").make(now), ""},
		"of another service":               {idsAt(t, 2, "192.0.2.9:8080").make(now), ""},
		"of an earlier release":            {"AAAAAAAAAAAAAAAAAAAAAA", ""},
		"none":                             {"", ""},
	} {
		got, ok := here.Owner(c.id)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}
