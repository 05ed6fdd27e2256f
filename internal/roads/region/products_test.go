package region

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProductsCanBeLeftOut checks imports with and without a product: a product that is left out is absent, and the
// region has another ID.
func TestProductsCanBeLeftOut(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "region"))
	street := drawStreet(t, 20)
	var steps []string
	read := func(without ...string) *Region {
		t.Helper()
		steps = nil
		done, err := Import(t.Context(), ImportOptions{Folder: folder, Files: []string{street}, Without: without, Progress: func(step string, number, of int) func() {
			steps = append(steps, step)
			if number != len(steps) || of != ownSteps+len((&importer{ImportOptions: ImportOptions{Without: without}}).chosen()) {
				t.Errorf("step %q is number %d of %d", step, number, of)
			}
			return func() {}
		}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Read(t.Context(), folder.Path(done.ID))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	names := func(r *Region) (all []string) {
		for _, p := range r.Products {
			all = append(all, p.Name)
			if p.Bytes == 0 {
				t.Errorf("product %s has no size", p.Name)
			}
		}
		return all
	}
	whole := read()
	if want := append([]string{roadsProduct}, ProductNames()...); whole.CameraRows == nil || whole.ChargerRows == nil || !slices.Equal(names(whole), want) {
		t.Errorf("%+v, want %v", whole.Products, want)
	}
	part := read("cameras")
	if part.CameraRows != nil || part.ChargerRows == nil || part.ID == whole.ID || slices.Contains(names(part), "cameras") || slices.Contains(steps, "finding cameras") {
		t.Errorf("%s with %+v by %q; the whole one is %s", part.ID, part.Products, steps, whole.ID)
	}
	if again := read("cameras", "cameras"); again.ID != part.ID {
		t.Errorf("the same products made %s and %s", part.ID, again.ID)
	}
	_, err := Import(t.Context(), ImportOptions{Folder: folder, Files: []string{street}, Without: []string{"roads"}})
	if err == nil || !strings.Contains(err.Error(), `there is no product "roads": those that can be left out are `+strings.Join(ProductNames(), ", ")) {
		t.Errorf("unknown product: %v", err)
	}
}

// TestProductsWriteFromScratchFiles checks a product that is larger than its memory.
func TestProductsWriteFromScratchFiles(t *testing.T) {
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "large.region"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	w, err := newWriter(out)
	if err != nil {
		t.Fatal(err)
	}
	i, s := &importer{inputs: []*extract{{name: "x"}}}, &source{folder: Folder(dir), about: new(About)}
	large := strings.Repeat("0123456789", chunkSize/4)
	err = i.makeProduct(t.Context(), w, s, product{name: "large", make: func(_ context.Context, s *source) ([]content, error) {
		f, err := s.scratch()
		if err != nil {
			return nil, err
		}
		if _, err := f.WriteString(large); err != nil {
			return nil, err
		}
		return []content{{section: "large", from: fromStart{f}}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.close() }()
	if text, err := f.read(t.Context(), "large"); err != nil || string(text) != large {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, importing+"*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// fromStart writes a file from its start.
type fromStart struct{ file *os.File }

func (f fromStart) WriteTo(w io.Writer) (int64, error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return io.Copy(w, f.file)
}
