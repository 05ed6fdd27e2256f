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

// ImportOptions configure Import.
type ImportOptions struct {
	Folder Folder
	Files  []string // extracts; their order does not matter, and duplicates count once
	// Without names products to leave out: see ProductNames.
	Without []string
	// Progress is called when a step of the work begins, such as "reading", with its number from 1 and the number of
	// steps. The function that it returns is called when the step ends. Progress may be nil.
	Progress func(step string, number, of int) (ended func())
	// Attribution and Licence must be shown with anything of the region, if its data are not OpenStreetMap's. Empty:
	// they are.
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
	Name  string
	Took  time.Duration
	Bytes int64 // bytes that it added to the file
}

// SectionSize is the size of a section of a region file.
type SectionSize struct {
	Name  string
	Bytes int64
}

// extract is an open input.
type extract struct {
	name string // as given
	in   *os.File
	pbf  *osmpbf.File
	Input
}

// Import makes a region from extracts and makes it the current one. It changes nothing until the last moment, and leaves
// nothing behind on failure, not even folders that it made. Bad input is an error of one line that names file and byte.
func Import(ctx context.Context, o ImportOptions) (_ *Imported, err error) {
	if err := CheckProducts(o.Without); err != nil {
		return nil, err
	}
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
	if err := i.step(readingStep, func() error { return i.identify(ctx) }); err != nil {
		return nil, err
	}
	if err := i.save(ctx); err != nil {
		return nil, err
	}
	i.result.Took = time.Since(began)
	return &i.result, nil
}

// importer is one import.
type importer struct {
	ImportOptions
	inputs []*extract
	out    *writer // nil until the file is being written
	result Imported
}

// Steps of an import besides those of its products, and their number.
const (
	readingStep = "reading the extracts"
	roadsStep   = "building the roads"
	routerStep  = "preparing the router"
	closingStep = "closing the file"
	ownSteps    = 4
)

// step does a part of the work and records how long it took.
func (i *importer) step(name string, do func() error) error {
	ended, began, before := func() {}, time.Now(), i.written()
	if i.Progress != nil {
		ended = i.Progress(name, len(i.result.Steps)+1, ownSteps+len(i.chosen()))
	}
	err := do()
	ended()
	i.result.Steps = append(i.result.Steps, Step{name, time.Since(began), i.written() - before})
	return err
}

// written returns the current size of the file in bytes.
func (i *importer) written() int64 {
	if i.out == nil {
		return 0
	}
	return i.out.at
}

// open opens all inputs and reads their headers, so that most invalid inputs are refused before anything is made.
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

// identify computes the digests of the inputs, sorts them and drops duplicates.
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

// id returns the digest of the region's input: the extracts, the car's figures, the products, and the format of the
// file.
func (i *importer) id(car []byte) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "region %d\ncar %x\n", format, sha256.Sum256(car)) // hashes never fail
	for _, p := range i.chosen() {
		_, _ = fmt.Fprintf(hash, "product %s %d\n", p.name, p.version)
	}
	for _, e := range i.inputs {
		_, _ = fmt.Fprintf(hash, "extract %s\n", e.SHA256)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// save writes the file and makes it the current region.
func (i *importer) save(ctx context.Context) (err error) {
	file, err := os.CreateTemp(string(i.Folder), importing+"*")
	if err != nil {
		return writing(err)
	}
	if i.out, err = newWriter(file); err == nil {
		err = i.fill(ctx)
	} else {
		err = writing(err)
	}
	if err == nil {
		err = writing(i.Folder.admit(file))
	}
	if err = errors.Join(err, writing(file.Close())); err == nil {
		err = writing(os.Rename(file.Name(), i.Folder.Path(i.result.ID)))
	}
	if err != nil {
		return errors.Join(err, writing(os.Remove(file.Name())))
	}
	if err := syncFolder(string(i.Folder)); err != nil {
		return writing(err)
	}
	return writing(i.Folder.setCurrent(i.result.ID))
}

// writing marks an error as one of writing the file.
func writing(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write the region: %w", err)
}

// finish writes the description, last because it contains the digest of the other sections, and flushes the file to the
// disk.
func (i *importer) finish(about *About) error {
	about.DataVersion = dataVersion(about.AsOf, i.out.digest())
	about.Products = i.out.products
	i.result.About = *about
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if err := i.out.begin(aboutSection); err != nil {
		return writing(err)
	}
	if _, err := i.out.Write(text); err != nil {
		return writing(err)
	}
	if err := i.out.finish(); err != nil {
		return writing(err)
	}
	for _, s := range i.out.table.sections {
		i.result.Sections = append(i.result.Sections, SectionSize{s.name, s.length})
	}
	i.result.FileBytes, err = i.out.file.Seek(0, io.SeekEnd)
	return writing(err)
}

// dataVersion returns the name of a region's content: the date of the data, if the extract states it, and a digest.
func dataVersion(asOf time.Time, digest uint64) string {
	version := fmt.Sprintf("%016x", digest)
	if !asOf.IsZero() {
		version = asOf.UTC().Format("20060102") + "-" + version
	}
	return version
}

// make creates the folder. unmake removes what make created, if it is empty.
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
	err = os.Mkdir(string(f), folderMode)
	if err == nil {
		err = giveTo(string(f), filepath.Dir(string(f)))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
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
