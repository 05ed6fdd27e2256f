package region

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file with sections and returns its path.
func write(t testing.TB, sections map[string][]byte, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.region")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWriter(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := w.begin(name); err != nil {
			t.Fatal(err)
		}
		for part := sections[name]; len(part) > 0; {
			n := min(len(part), 700_001)
			if _, err := w.Write(part[:n]); err != nil {
				t.Fatal(err)
			}
			part = part[n:]
		}
	}
	if err := errors.Join(w.finish(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// noise returns bytes without repetition.
func noise(n int) []byte {
	random := rand.NewChaCha8([32]byte{byte(n)})
	text := make([]byte, n)
	_, _ = random.Read(text)
	return text
}

// openVerified opens a file and verifies all of it, as a service does.
func openVerified(t testing.TB, path string) error {
	t.Helper()
	f, err := openFile(path)
	if err != nil {
		return err
	}
	return errors.Join(f.verify(t.Context()), f.close())
}

// TestSectionsAreReadAsWritten checks sections of many sizes, including sizes around that of a chunk.
func TestSectionsAreReadAsWritten(t *testing.T) {
	sections := map[string][]byte{
		"empty": {}, "one": {7}, "chunk": noise(chunkSize), "less": noise(chunkSize - 1), "more": noise(chunkSize + 1), "large": noise(5*chunkSize + 12_345),
	}
	names := []string{"empty", "one", "chunk", "less", "more", "large"}
	path := write(t, sections, names...)
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.close() }()
	if err := f.verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := f.mapped()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.memory.Unmap() }()
	for _, name := range names {
		got, err := f.read(t.Context(), name)
		if err != nil || !bytes.Equal(got, sections[name]) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(sections[name]), err)
		}
		if !bytes.Equal(m.section(name), sections[name]) {
			t.Errorf("%s differs in the mapping", name)
		}
		if s := f.find(name); s.offset%alignment != 0 {
			t.Errorf("%s lies at byte %d", name, s.offset)
		}
	}
	if m.section("none") != nil {
		t.Error("a section that is not there")
	}
	if _, err := f.read(t.Context(), "none"); err == nil {
		t.Error("a section that is not there was read")
	}
	again := write(t, sections, names...)
	a, errA := os.ReadFile(path)
	b, errB := os.ReadFile(again)
	if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the same sections gave other bytes, %v", err)
	}
}

// TestAnyByteChangedIsRefused checks that a change of any byte of a small file, or of some bytes of a large one, is
// detected.
func TestAnyByteChangedIsRefused(t *testing.T) {
	small := write(t, map[string][]byte{"a": noise(100), "b": noise(333)}, "a", "b")
	text, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b.region")
	try := func(what string, at int, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *DamageError
		if err := openVerified(t, path); err == nil || !errors.As(err, &damage) && !errors.Is(err, ErrFormat) {
			t.Errorf("%s %d: %v", what, at, err)
		}
	}
	for at := range text {
		for _, change := range []byte{1, 0x80, 0xff} {
			text[at] ^= change
			try("byte", at, text)
			text[at] ^= change
		}
	}
	for n := range text {
		try("cut to", n, text[:n])
	}
	try("longer by", 1, append(text[:len(text):len(text)], 0))

	large := write(t, map[string][]byte{"a": noise(3*chunkSize + 5)}, "a")
	if text, err = os.ReadFile(large); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		at := rand.IntN(len(text))
		text[at] ^= 1
		try("byte", at, text)
		text[at] ^= 1
	}
	text[headerSize+2*chunkSize+9] ^= 4
	text[headerSize+chunkSize] ^= 4
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openVerified(t, path); err == nil || !strings.Contains(err.Error(), "at byte 1048640: the checksum of this byte and those up to byte 2097215 is wrong") {
		t.Errorf("the first chunk that is wrong is to be named: %v", err)
	}
}

// forge makes a file with a changed table and correct checksums.
func forge(change func(*table)) []byte {
	data := noise(1000)
	tab := &table{start: headerSize + int64(len(data)), sections: []section{{"a", 64, 100}, {"b", 192, 800}}}
	change(tab)
	if tab.sums == nil {
		tab.sums = []uint64{1}
	}
	head, tail := tab.encode()
	return append(append(head, data...), tail...)
}

// TestForgedTables checks that wrong tables with correct checksums are refused.
func TestForgedTables(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*table)
		want   string
	}{
		"as it should be":       {func(*table) {}, ""},
		"unaligned":             {func(t *table) { t.sections[0].offset = 65 }, `section "a" is said to lie at byte 65`},
		"within the header":     {func(t *table) { t.sections[0].offset = 0 }, "is said to lie at byte 0"},
		"overlapping":           {func(t *table) { t.sections[1].offset = 128 }, `section "b"`},
		"in another order":      {func(t *table) { t.sections[0], t.sections[1] = t.sections[1], t.sections[0] }, `section "a"`},
		"over the table":        {func(t *table) { t.sections[1].length = 900 }, `section "b"`},
		"with a huge length":    {func(t *table) { t.sections[1].length = -1 }, `section "b"`},
		"with a huge offset":    {func(t *table) { t.sections[1].offset = -64 }, `section "b"`},
		"that overflows":        {func(t *table) { t.sections[1].offset, t.sections[1].length = 1<<62, 1<<62 }, `section "b"`},
		"twice":                 {func(t *table) { t.sections[1].name = "a" }, `a second section "a"`},
		"without a name":        {func(t *table) { t.sections[0].name = "" }, "without a proper name"},
		"with a path as a name": {func(t *table) { t.sections[0].name = "../a" }, "without a proper name"},
		"with a zero in it":     {func(t *table) { t.sections[0].name = "a\x00b" }, "without a proper name"},
		"with too few sums":     {func(t *table) { t.sums = []uint64{} }, "its table has"},
		"with too many sums":    {func(t *table) { t.sums = make([]uint64, 2) }, "its table has"},
	} {
		path := filepath.Join(t.TempDir(), "forged.region")
		if err := os.WriteFile(path, forge(tt.change), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := openFile(path)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q in it", name, err, tt.want)
		}
		if err == nil {
			_ = f.close()
		}
	}
}

// FuzzFile checks files with a corrected header: none may cause a panic, and the sections of accepted files must lie
// within the file.
func FuzzFile(f *testing.F) {
	small, err := os.ReadFile(write(f, map[string][]byte{"a": noise(10), "about": []byte("{}")}, "a", "about"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small, true)
	f.Add(small[:70], false)
	f.Add(forge(func(t *table) { t.sections[1].offset = 1 << 62 }), true)
	f.Fuzz(func(t *testing.T, text []byte, fit bool) {
		if h, err := parseHeader(text, int64(len(text))); err == nil && fit {
			sum := sumOf(text[:headerSize], text[h.start:])
			for i := range 8 {
				text[atSum+i] = byte(sum >> (8 * i))
			}
		}
		path := filepath.Join(t.TempDir(), "f.region")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := openFile(path)
		if err != nil {
			return
		}
		defer func() { _ = in.close() }()
		_ = in.verify(t.Context())
		for _, s := range in.sections {
			if s.offset < headerSize || s.length < 0 || s.offset+s.length > in.start {
				t.Fatalf("section %+v lies outside of the file", s)
			}
		}
		m, err := in.mapped()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.memory.Unmap() }()
		_, _ = newRegion(m)
	})
}
