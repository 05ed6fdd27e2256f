package region

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesWithoutASectionAreOfAnotherVersion checks that an intact file without one of the sections of the roads is
// reported as one of another version.
func TestFilesWithoutASectionAreOfAnotherVersion(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	done := importStreet(t, folder, 30)
	in, err := openFile(folder.Path(done.ID))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]byte{}
	var names []string
	for _, s := range in.sections {
		if sections[s.name], err = in.read(t.Context(), s.name); err != nil {
			t.Fatal(err)
		}
		names = append(names, s.name)
	}
	if err := in.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), write(t, sections, names...)); err != nil {
		t.Fatalf("all sections: %v", err)
	}
	for _, name := range []string{"match.pieces", "match.boxes", "roads.arcs", "cch.parent"} {
		rest := slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
		_, err := Read(t.Context(), write(t, sections, rest...))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "import the extract again") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
