package region

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"wayside/internal/roads/osmpbf"
)

// ImportOptions are what Import needs.
type ImportOptions struct {
	Folder Folder
	Files  []string // extracts; their order means nothing, and one that is given twice counts once
	// Progress is called when a step of the work begins, such as "reading"; the function that it returns when the step ends. nil: progress
	// is not reported.
	Progress func(step string) (ended func())
	// Attribution and Licence are what stands wherever anything of the region is shown, if it is not OpenStreetMap's data. Empty: it is.
	Attribution, Licence string
}

// Imported is the result of an import.
type Imported struct {
	About
	FileBytes int64
	Took      time.Duration
	Steps     []Step
	Sections  []SectionSize
}

// Step is a part of the work of an import.
type Step struct {
	Name string
	Took time.Duration
}

// SectionSize is how large a section of a region file is.
type SectionSize struct {
	Name  string
	Bytes int64
}

// extract is an input that is open.
type extract struct {
	name string // as given
	in   *os.File
	pbf  *osmpbf.File
	Input
}

// Import makes a region of extracts and makes it the current one. Until the last moment nothing is changed; when it fails, nothing is
// left of it, not even folders that it made. Bad input is an error of one line that names file and byte.
func Import(ctx context.Context, o ImportOptions) (_ *Imported, err error) {
	began := time.Now()
	i := &importer{ImportOptions: o}
	defer func() { err = errors.Join(err, i.closeInputs()) }()
	if err := i.open(); err != nil {
		return nil, err
	}
	unmake, err := i.Folder.make()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unmake()
		}
	}()
	release, err := i.Folder.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := i.step("reading the extracts", func() error { return i.identify(ctx) }); err != nil {
		return nil, err
	}
	made, err := i.build(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.step("writing the region", func() error { return i.save(ctx, made) }); err != nil {
		return nil, fmt.Errorf("write the region: %w", err)
	}
	i.result.Took = time.Since(began)
	return &i.result, nil
}

// importer is one import.
type importer struct {
	ImportOptions
	inputs []*extract
	result Imported
}

// made is what is to be written: everything but data_version.
type made struct {
	about    About
	sections []namedBytes
}

// namedBytes is a section that lies in memory.
type namedBytes struct {
	name string
	data []byte
}

// step does a part of the work and notes how long it took.
func (i *importer) step(name string, do func() error) error {
	ended, began := func() {}, time.Now()
	if i.Progress != nil {
		ended = i.Progress(name)
	}
	err := do()
	ended()
	i.result.Steps = append(i.result.Steps, Step{name, time.Since(began)})
	return err
}

// open opens all inputs and reads their headers, which refuses most of what is no extract before anything is made.
func (i *importer) open() error {
	for _, name := range i.Files {
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		e := &extract{name: name, in: in}
		i.inputs = append(i.inputs, e)
		info, err := in.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: it is not a file: an extract is read several times, so that it cannot come from a pipe", name)
		}
		e.Bytes = info.Size()
		if e.pbf, err = osmpbf.Open(in, e.Bytes); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (i *importer) closeInputs() (err error) {
	for _, e := range i.inputs {
		err = errors.Join(err, e.in.Close())
	}
	return err
}

// identify computes the digests of the inputs, puts them into one order and drops those that are there twice.
func (i *importer) identify(ctx context.Context) error {
	for _, e := range i.inputs {
		hash := sha256.New()
		if _, err := io.Copy(hash, readerUntil{ctx, io.NewSectionReader(e.in, 0, e.Bytes)}); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		e.SHA256 = hex.EncodeToString(hash.Sum(nil))
	}
	all := slices.Clone(i.inputs)
	slices.SortStableFunc(all, func(a, b *extract) int { return cmp.Compare(a.SHA256, b.SHA256) })
	kept := all[:0]
	for _, e := range all {
		if len(kept) == 0 || kept[len(kept)-1].SHA256 != e.SHA256 {
			kept = append(kept, e)
		} else if err := e.in.Close(); err != nil {
			return err
		}
	}
	i.inputs = kept
	return nil
}

// id is the digest of what the region is made of: inputs, the car's figures, and the form of the file.
func (i *importer) id(car []byte) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "region %d\ncar %x\n", format, sha256.Sum256(car)) // a hash never fails
	for _, e := range i.inputs {
		_, _ = fmt.Fprintf(hash, "extract %s\n", e.SHA256)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// save writes the file and makes it the current region.
func (i *importer) save(ctx context.Context, m *made) (err error) {
	file, err := os.CreateTemp(string(i.Folder), importing+"*")
	if err != nil {
		return err
	}
	if err = i.write(ctx, file, m); err == nil {
		err = file.Chmod(fileMode)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), i.Folder.Path(m.about.ID))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	if err := syncFolder(string(i.Folder)); err != nil {
		return err
	}
	return i.Folder.setCurrent(m.about.ID)
}

// write writes all sections, the description last: it holds the digest of the others.
func (i *importer) write(ctx context.Context, file *os.File, m *made) error {
	w, err := newWriter(file)
	if err != nil {
		return err
	}
	for _, s := range m.sections {
		if err := w.begin(s.name); err != nil {
			return err
		}
		if _, err := io.Copy(w, readerUntil{ctx, &sliceReader{s.data}}); err != nil {
			return err
		}
	}
	i.result.About = m.about
	i.result.DataVersion = dataVersion(m.about.AsOf, w.digest())
	text, err := json.Marshal(&i.result.About)
	if err != nil {
		return err
	}
	if err := w.begin(aboutSection); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	for _, s := range w.table.sections {
		i.result.Sections = append(i.result.Sections, SectionSize{s.name, s.length})
	}
	i.result.FileBytes, err = file.Seek(0, io.SeekEnd)
	return err
}

// dataVersion names the content of a region: the day of the data, where the extract says it, and a digest.
func dataVersion(asOf time.Time, digest uint64) string {
	version := fmt.Sprintf("%016x", digest)
	if !asOf.IsZero() {
		version = asOf.UTC().Format("20060102") + "-" + version
	}
	return version
}

// make makes the folder. unmake removes what it made, if nothing is in it.
func (f Folder) make() (unmake func(), err error) {
	var fresh []string
	for dir := string(f); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		fresh = append(fresh, dir)
	}
	unmake = func() {
		for _, dir := range fresh {
			_ = os.Remove(dir) // fails if another process put something into it
		}
	}
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		unmake()
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if err := os.Mkdir(string(f), folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		unmake()
		return nil, fmt.Errorf("make the folder of regions: %w", err)
	}
	return unmake, nil
}

// readerUntil fails when ctx ends.
type readerUntil struct {
	ctx  context.Context
	from io.Reader
}

func (r readerUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// sliceReader reads a slice. Unlike bytes.Reader it does not write all of it at once, so that an import of gigabytes can be stopped.
type sliceReader struct{ rest []byte }

func (r *sliceReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
