package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
	"wayside/internal/run/datadir"
)

// regionCmds is wayside region.
type regionCmds struct {
	Import regionImportCmd `cmd:"" help:"Make a region of OpenStreetMap extracts (PBF), and make it the current one, also while the service runs."`
	List   regionListCmd   `cmd:"" help:"List the regions of the data directory."`
	Show   regionShowCmd   `cmd:"" help:"Verify a region, and show what is in it."`
	Remove regionRemoveCmd `cmd:"" help:"Remove a region. Without a current one, no routes are served."`
	Export regionExportCmd `cmd:"" help:"Export the arcs and turns of a region as text, so that another program can check routes."`
}

// regionImportCmd is wayside region import.
type regionImportCmd struct {
	configFlags
	JSON    bool     `name:"json" help:"Print JSON."`
	Without []string `name:"without" placeholder:"PRODUCT,…" help:"Leave out products: ${regionProducts}."`
	// Background is set when a running service imports: see package imports.
	Background bool     `name:"background" hidden:"" help:"Leave processor and memory to others, and write steps as JSON to standard error."`
	Files      []string `arg:"" name:"file" help:"Extracts (.osm.pbf). What they overlap in counts once."`
}

// Validate refuses unknown products before anything is read.
func (c *regionImportCmd) Validate() error { return region.CheckProducts(c.Without) }

// importGrowth is by how many percent the heap grows between two collections of an import: 73 MB for Milan rather than 94, in the same time.
const importGrowth = 30

// Run imports extracts. If there is no data directory yet, it makes one.
func (c *regionImportCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") }) {
		debug.SetGCPercent(importGrowth)
	}
	progress := c.showStep
	if c.Background {
		if err := imports.YieldToOthers(); err != nil {
			return fmt.Errorf("leave processor and memory to others: %w", err)
		}
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
		progress = c.writeStep
	}
	done, err := region.Import(p.ctx, region.ImportOptions{
		Folder: region.Folder(filepath.Join(cfg.DataDir, datadir.RegionFolder)), Files: c.Files, Without: c.Without,
		Progress: func(step string, number, of int) func() {
			return progress(p, imports.Step{Step: step, Number: number, Of: of})
		},
	})
	if err != nil {
		return oneLine(err)
	}
	if c.JSON {
		return p.writeJSON(newImportJSON(done))
	}
	c.print(p, done)
	return nil
}

// showStep shows a step of the import on a terminal.
func (c *regionImportCmd) showStep(p *program, s imports.Step) (ended func()) {
	return newProgress(p.stderr, func(string) {}, fmt.Sprintf("%d/%d %s", s.Number, s.Of, s.Step), "").Close
}

// writeStep writes a step of the import for a program.
func (c *regionImportCmd) writeStep(p *program, s imports.Step) (ended func()) {
	_ = json.NewEncoder(p.stderr).Encode(s) // the service that reads it may have ended
	return func() {}
}

// oneLine returns an error in one line, because programs read it.
func oneLine(err error) error {
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

func (c *regionImportCmd) print(p *program, done *region.Imported) {
	p.printf("Region %s is imported and current.\n\n", done.ID)
	printAbout(p, &done.About, done.FileBytes)
	p.printf("\n")
	for _, s := range done.Steps {
		size := ""
		if s.Bytes > 0 {
			size = megabytes(s.Bytes)
		}
		p.printf("%10.1f s  %10s  %s\n", s.Took.Seconds(), size, s.Name)
	}
	p.printf("%10.1f s  %10s  in all\n", done.Took.Seconds(), megabytes(done.FileBytes))
	p.printf("\nA running service takes it over within 5 seconds. Wherever anything of it is shown, show: %s (%s)\n", region.Attribution, region.Licence)
}

// printAbout prints the description of a region.
func printAbout(p *program, a *region.About, bytes int64) {
	asOf := "the extract does not say"
	if !a.AsOf.IsZero() {
		asOf = a.AsOf.UTC().Format(time.RFC3339)
	}
	rows := [][2]string{
		{"data version", a.DataVersion},
		{"data as of", asOf},
		{"bounds", fmt.Sprintf("%g,%g to %g,%g (west,south to east,north)", a.Bounds[0], a.Bounds[1], a.Bounds[2], a.Bounds[3])},
		{"extract", fmt.Sprintf("%d nodes, %d ways, %d relations", a.Nodes, a.Ways, a.Relations)},
		{"roads", fmt.Sprintf("%d km in %d arcs, %d turns, %d junctions, %d islands", a.RoadMetres/1000, a.Arcs, a.Turns, a.Junctions, a.Islands)},
		{"restrictions", fmt.Sprintf("%d applied, %d ignored", a.Restrictions.Applied, a.Restrictions.Ignored)},
		{"left out", countsText(a.LeftOut)},
		{"products", productsText(a.Products)},
		{"file", megabytes(bytes)},
	}
	for _, row := range rows {
		p.printf("%-14s%s\n", row[0], printable(row[1]))
	}
}

// productsText lists the products in a region, with sizes.
func productsText(products []region.ProductSize) string {
	if len(products) == 0 {
		return "roads" // the file is of a version that made nothing else
	}
	texts := make([]string, len(products))
	for i, made := range products {
		texts[i] = made.Name + " " + megabytes(made.Bytes)
	}
	return strings.Join(texts, ", ")
}

// countsText lists counts with their names.
func countsText(counts map[string]int) string {
	if len(counts) == 0 {
		return "nothing"
	}
	return strings.Join(sortedCounts(counts), ", ")
}

func megabytes(bytes int64) string {
	if bytes < 100_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// regionListCmd is wayside region list.
type regionListCmd struct {
	configFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the regions.
func (c *regionListCmd) Run(p *program) error {
	folder, err := c.folder(p)
	if err != nil {
		return err
	}
	all, err := folder.List(p.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.writeJSON(newRegionsJSON(all))
	}
	if len(all) == 0 {
		p.printf("There is no region: import one with wayside region import.\n")
		return nil
	}
	rows := [][]string{{"ID", "CURRENT", "DATA VERSION", "IMPORTED", "SIZE", "ROADS"}}
	for _, r := range all {
		row := []string{r.ID, "", "", r.Imported.UTC().Format(time.RFC3339), megabytes(r.Bytes), ""}
		if r.Current {
			row[1] = "yes"
		}
		if r.Err != nil {
			row[5] = r.Err.Error()
		} else {
			row[2], row[5] = r.About.DataVersion, strconv.FormatInt(r.About.RoadMetres/1000, 10)+" km"
		}
		rows = append(rows, row)
	}
	return p.writeTable(rows)
}

// folder returns the folder of regions of the data directory, which must exist.
func (f *configFlags) folder(p *program) (region.Folder, error) {
	cfg, err := f.load(p, nil)
	if err != nil {
		return "", err
	}
	return region.Folder(filepath.Join(cfg.DataDir, datadir.RegionFolder)), datadir.Require(cfg.DataDir, "")
}

// chooseRegion returns the folder of regions, and the region in it that was named; the current one without a name.
func (f *configFlags) chooseRegion(p *program, named string) (folder region.Folder, id string, err error) {
	if folder, err = f.folder(p); err == nil {
		id, err = folder.Choose(named)
	}
	return folder, id, err
}

// regionShowCmd is wayside region show.
type regionShowCmd struct {
	configFlags
	JSON bool   `name:"json" help:"Print JSON."`
	ID   string `arg:"" optional:"" name:"id" help:"The region; the current one without this."`
}

// Run verifies every byte of a region and prints its contents.
func (c *regionShowCmd) Run(p *program) error {
	folder, id, err := c.chooseRegion(p, c.ID)
	if err != nil {
		return err
	}
	shown, err := folder.Show(p.ctx, id)
	if err != nil {
		return fmt.Errorf("region %s: %w", id, err)
	}
	if c.JSON {
		return p.writeJSON(newShownJSON(shown))
	}
	p.printf("Region %s%s, imported %s. Every byte of it is verified.\n\n", id, map[bool]string{true: " (current)"}[shown.Current], shown.Imported.UTC().Format(time.RFC3339))
	printAbout(p, shown.About, shown.Bytes)
	p.printf("%-14s%s (%s)\n\n", "show with it", shown.About.Attribution, shown.About.Licence)
	rows := [][]string{{"SECTION", "BYTES"}}
	for _, s := range shown.Sections {
		rows = append(rows, []string{s.Name, strconv.FormatInt(s.Bytes, 10)})
	}
	return p.writeTable(rows)
}

// regionRemoveCmd is wayside region remove.
type regionRemoveCmd struct {
	configFlags
	Old bool   `name:"old" help:"Remove all regions but the current one."`
	ID  string `arg:"" optional:"" name:"id" help:"The region."`
}

// Validate checks that either a region or --old is given.
func (c *regionRemoveCmd) Validate() error {
	if c.Old == (c.ID != "") {
		return errors.New("name one region, or give --old, which removes all but the current one")
	}
	return nil
}

// Run removes regions.
func (c *regionRemoveCmd) Run(p *program) error {
	folder, err := c.folder(p)
	if err != nil {
		return err
	}
	if c.Old {
		return c.removeOld(p, folder)
	}
	wasCurrent, err := folder.Remove(c.ID)
	if err != nil {
		return fmt.Errorf("remove region %s: %w", printable(c.ID), err)
	}
	p.printf("Region %s is removed.\n", c.ID)
	if wasCurrent {
		p.printf("It was the current one: until you import another, the service answers that it has no region.\n")
	}
	return nil
}

func (c *regionRemoveCmd) removeOld(p *program, folder region.Folder) error {
	removed, err := folder.RemoveOld()
	for _, id := range removed {
		p.printf("Region %s is removed.\n", id)
	}
	if err != nil {
		return fmt.Errorf("remove old regions: %w", err)
	}
	if len(removed) == 0 {
		p.printf("There is no region but the current one.\n")
	}
	return nil
}

// regionExportCmd is wayside region export.
type regionExportCmd struct {
	configFlags
	Arcs string `name:"arcs" required:"" placeholder:"FILE|-" help:"File to write to; - is standard output."`
	ID   string `arg:"" optional:"" name:"id" help:"The region; the current one without this."`
}

// Run verifies a region and writes its arcs (D15.12).
func (c *regionExportCmd) Run(p *program) (err error) {
	folder, id, err := c.chooseRegion(p, c.ID)
	if err != nil {
		return err
	}
	r, err := region.Read(p.ctx, folder.Path(id))
	if err != nil {
		return fmt.Errorf("region %s: %w", id, err)
	}
	if c.Arcs == "-" {
		return graph.Export(p.stdout, r.Graph, r.DataVersion)
	}
	out, err := os.Create(c.Arcs)
	if err != nil {
		return err
	}
	if err = errors.Join(graph.Export(out, r.Graph, r.DataVersion), out.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", c.Arcs, err), os.Remove(c.Arcs))
	}
	return nil
}
