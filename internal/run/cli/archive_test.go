package cli

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

func nothing(int) {}

// archiveOf returns an archive of two files.
func archiveOf(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": strings.Repeat("words and ", 1000), "b": "key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := writeArchive(t.Context(), &out, dir, []string{"a", "b"}, time.Unix(1, 0), nothing); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchiveRoundTrip(t *testing.T) {
	dir, bytesRead := t.TempDir(), 0
	m, err := readArchive(t.Context(), bytes.NewReader(archiveOf(t)), dir, [][]string{{"a"}, {"a", "b"}}, func(n int) { bytesRead += n })
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil || string(text) != strings.Repeat("words and ", 1000) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if m.Version != version || bytesRead != 10_003 {
		t.Errorf("version %s, %d bytes", m.Version, bytesRead)
	}
}

func TestDamagedArchivesAreRejected(t *testing.T) {
	good := archiveOf(t)
	plain := systemtest.Gunzip(t, good)
	changed := func(from, to string) []byte {
		if bytes.Count(plain, []byte(from)) == 0 {
			t.Fatalf("%q is not in the archive", from)
		}
		return gzipped(t, bytes.Replace(plain, []byte(from), []byte(to), 1))
	}
	tests := []struct {
		name string
		text []byte
		want string
	}{
		{"nothing", nil, "not a backup of wayside"},
		{"something else", []byte("hello"), "not a backup of wayside"},
		{"an empty archive", gzipped(t, make([]byte, 1024)), "not a backup of wayside"},
		{"cut off", good[:len(good)/2], "damaged"},
		{"a changed byte", changed("words and words", "words end words"), "a: its checksum is wrong"},
		{"another format", changed(`"format": 1`, `"format": 2`), "format 2"},
		{"another file", changed(`"name": "b"`, `"name": "c"`), `holds ["a" "c"] where ["a" "b"] are expected`},
		{"another size", changed(`"size": 3,`, `"size": 4,`), "b of 3 bytes stands where b of 4 should"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readArchive(t.Context(), bytes.NewReader(tt.text), t.TempDir(), [][]string{{"a", "b"}}, nothing)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func FuzzReadArchive(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add(archiveOf(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		m, err := readArchive(t.Context(), bytes.NewReader(text), dir, [][]string{{"a", "b"}}, nothing)
		if (m == nil) == (err == nil) {
			t.Errorf("manifest %v and error %v", m, err)
		}
	})
}
