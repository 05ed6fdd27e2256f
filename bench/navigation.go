package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/region"
	"wayside/internal/run/datadir"
)

// startsMeasured is the number of starts with and without a region.
const startsMeasured = 7

// warmingRequests is how many routes are requested before memory is measured.
const warmingRequests = 2000

// navigation is the state that the steps about routes share.
type navigation struct {
	*bench
	name    string // before each row of the table
	extract string
	bytes   int64 // of the extract
	region  *region.Region
	places  [][2]geo.Point // between which routes are requested
	routes  []string       // paths of the requests
	without memoryUse
	closed  time.Duration // the goal: from a closure's push to a route around it
	p50     time.Duration // of an answer over HTTP, once it has been measured
	// The median of an answer with all guidance.
	guided50 time.Duration
	took     float64 // seconds of an import
}

// runNavigation measures the import of an extract, the router in this process, and a service with the region.
func (b *bench) runNavigation(ctx context.Context) error {
	n := &navigation{bench: b, extract: b.options.extract, closed: 50 * time.Millisecond}
	if n.extract == "" {
		step("SKIPPED: there is no extract to measure with. Name one by -extract FILE.osm.pbf (make bench BENCH=navigation EXTRACT=FILE), " +
			"or set WAYSIDE_TEST_OSM to a folder with milan-otp.osm.pbf, for which the goals are")
		return nil
	}
	info, err := os.Stat(n.extract)
	if err != nil {
		return err
	}
	n.bytes = info.Size()
	steps := []measurement{
		{"starting without a region", n.startWithout},
		{"importing " + filepath.Base(n.extract), n.importExtract},
		{"reading the extract alone", n.readExtract},
		{"starting with and without the region", n.starts},
		{"opening the region in this process", n.open},
		{"memory with the region", n.memoryWith},
		{"asking for routes over HTTP", n.httpRoutes},
		{"asking for routes with all guidance", n.httpGuidance},
		{"asking OSRM for routes", n.besideOSRM},
		{"searching places over HTTP", n.httpSearch},
		{"asking for tiles of the base map", n.baseMap},
		{"leading drivers", n.sessions},
		{"signing in and registering feeds", b.prepare},
		{"closures, from the push to a route around it", n.closures},
		{"closures, from the push to the event of a driver", n.wakes},
		{"routes beside pushes", n.besidePushes},
		{"the router alone", n.routerOfExtract},
	}
	steps = append(steps, measurement{"looking for other routers", n.peers})
	if b.sessionsOnly {
		steps = []measurement{{"starting without a region", n.startWithout}, {"importing " + filepath.Base(n.extract), n.importOnce}, {"starting with the region", n.start}, {"opening the region in this process", n.open}, {"signing in and registering feeds", b.prepare}, {"closures, from the push to the event of a driver", n.wakes}, {"leading drivers", n.sessions}}
	}
	if b.million {
		steps = append(steps, n.million()...)
	}
	return b.all(ctx, steps)
}

func (n *navigation) megabytes() float64 { return float64(n.bytes) / 1e6 }

// startWithout starts a service in a new data directory, and measures its memory after as many requests as memoryWith sends.
func (n *navigation) startWithout(ctx context.Context) error {
	if err := n.start(ctx); err != nil {
		return err
	}
	for range warmingRequests {
		if _, _, err := n.answer(ctx, "/v2/navigation/route/v1/driving/9.19,45.46;9.18,45.47"); err != nil { // answered with NoRegion
			return err
		}
	}
	var err error
	if n.without, err = n.memoryUse(); err != nil {
		return err
	}
	return n.stop()
}

// importExtract runs wayside region import, first of the roads alone and then of everything.
func (n *navigation) importExtract(ctx context.Context) error {
	roads, err := n.importWithout(ctx, region.ProductNames())
	if err != nil {
		return err
	}
	n.took = roads.wall
	n.addImport("import of the roads", 1, 20, roads)
	all, err := n.importWithout(ctx, nil)
	if err != nil {
		return err
	}
	n.addImport("import of everything", 1.5, 25, all)
	var said struct {
		Steps []struct {
			Name    string
			Seconds float64
		}
	}
	if err := json.Unmarshal(all.text, &said); err != nil {
		return err
	}
	for _, s := range said.Steps {
		n.table.note(n.name+"  of this, "+s.Name, fmt.Sprintf("%.2f s", s.Seconds))
	}
	return nil
}

// importOnce imports the roads, without measuring it.
func (n *navigation) importOnce(ctx context.Context) error {
	n.rounds = 1
	_, err := n.importWithout(ctx, region.ProductNames())
	return err
}

// imported holds measurements of imports: medians in seconds, and the highest memory in bytes.
type imported struct {
	wall, core, peak float64
	text             []byte // output of the last one
}

// addImport adds the seconds a megabyte and the memory, with their goals.
func (n *navigation) addImport(what string, seconds, memory float64, i imported) {
	n.table.add(fmt.Sprintf(n.name+what+" (%.1f MB, %d processors)", n.megabytes(), runtime.NumCPU()), fmt.Sprintf("≤ %g s a MB", seconds),
		fmt.Sprintf("%.2f s a MB (%.1f s, %.1f s of a core)", i.wall/n.megabytes(), i.wall, i.core), i.wall <= seconds*n.megabytes())
	n.table.add(n.name+"  highest memory", fmt.Sprintf("≤ %g × the file", memory),
		fmt.Sprintf("%.1f × (%.0f MB)", i.peak/float64(n.bytes), i.peak/1e6), i.peak <= memory*float64(n.bytes))
}

func (n *navigation) importWithout(ctx context.Context, products []string) (all imported, err error) {
	var walls, cores []float64
	for range n.rounds {
		args := []string{"region", "import", "--json", "--config", n.config}
		if len(products) > 0 {
			args = append(args, "--without", strings.Join(products, ","))
		}
		cmd := exec.CommandContext(ctx, n.binary, append(args, n.extract)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		began := time.Now()
		peak, err := runWatched(cmd)
		if err != nil {
			return all, fmt.Errorf("%w: %s", err, out.Bytes())
		}
		walls = append(walls, time.Since(began).Seconds())
		cores = append(cores, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
		all.peak, all.text = max(all.peak, peak), out.Bytes()
	}
	all.wall, all.core = median(walls), median(cores)
	return all, nil
}

// runWatched runs a command and returns the greatest memory that it was seen to use, in bytes. The kernel's figure for an ended
// process includes the memory of this one, which started it.
func runWatched(cmd *exec.Cmd) (peak float64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // gone once the process has ended
			peak = max(peak, kilobytes(string(status), "VmHWM:")*1000)
		}
	}
}

// readExtract decodes all of the extract and discards it.
func (n *navigation) readExtract(ctx context.Context) error {
	in, err := os.Open(n.extract)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	var rates []float64
	for range 2*n.rounds + 1 {
		f, err := osmpbf.Open(in, n.bytes)
		if err != nil {
			return err
		}
		objects := 0
		before := processorOfBench()
		err = f.Scan(ctx, osmpbf.Options{Workers: 1}, func(b *osmpbf.Block) error {
			objects += len(b.Nodes) + len(b.Ways) + len(b.Relations)
			return nil
		})
		if err != nil || objects == 0 {
			return fmt.Errorf("read %d objects: %w", objects, err)
		}
		rates = append(rates, n.megabytes()/(processorOfBench()-before).Seconds())
	}
	rate := median(rates)
	n.table.add("reading PBF alone, a second of a core", "≥ 25 MB", fmt.Sprintf("%.0f MB", rate), rate >= 25)
	return nil
}

// processorOfBench returns the processor time of this process, which other programs on the machine hardly change.
func processorOfBench() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// starts compares the time to ready with and without the region, in turns.
func (n *navigation) starts(ctx context.Context) error {
	var with, without []float64
	for range startsMeasured {
		for _, side := range []struct {
			config string
			took   *[]float64
		}{{"[navigation]\nregion = \"off\"\n", &without}, {"", &with}} {
			if err := n.configure(side.config); err != nil {
				return err
			}
			if err := n.start(ctx); err != nil {
				return err
			}
			*side.took = append(*side.took, n.ready.Seconds())
			if err := n.stop(); err != nil {
				return err
			}
		}
	}
	more := median(with) - median(without)
	n.table.add(n.name+"start to ready with a region", "+ ≤ 0.3 s", fmt.Sprintf("+ %.2f s (%.2f instead of %.2f)", more, median(with), median(without)), more <= 0.3)
	return n.start(ctx)
}

// open reads the region, and draws the places between which routes are requested.
func (n *navigation) open(ctx context.Context) error {
	folder := region.Folder(filepath.Join(n.dir, "data", datadir.RegionFolder))
	id, err := folder.Choose("")
	if err != nil {
		return err
	}
	if n.region, err = region.Read(ctx, folder.Path(id)); err != nil {
		return err
	}
	n.places = randomPlaces(n.region.Graph, requestsMeasured)
	n.routes = routePaths(n.places)
	n.table.note(n.name+"the network", fmt.Sprintf("%d junctions, %d arcs, %d turns; a file of %.1f MB", len(n.region.Graph.Nodes), len(n.region.Graph.Arcs),
		len(n.region.Graph.Turns), float64(n.region.Bytes)/1e6))
	return nil
}

// memoryUse is memory of the service in bytes.
type memoryUse struct{ all, private float64 }

// memoryUse reads the resident memory of the service, and the part of it that is private and cannot be read again from a file.
func (n *navigation) memoryUse() (memoryUse, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", n.process.Process.Pid))
	if err != nil {
		return memoryUse{}, err
	}
	return memoryUse{kilobytes(string(text), "Rss:") * 1000, kilobytes(string(text), "Private_Dirty:") * 1000}, nil
}

// memoryWith measures how much memory the region adds to the service.
func (n *navigation) memoryWith(ctx context.Context) error {
	for _, path := range n.routes[:warmingRequests] {
		if err := n.found(ctx, path); err != nil {
			return err
		}
	}
	with, err := n.memoryUse()
	if err != nil {
		return err
	}
	junctions := float64(len(n.region.Graph.Nodes))
	all, private := (with.all-n.without.all)/junctions, (with.private-n.without.private)/junctions
	n.table.add(n.name+"memory to serve, a junction", "≤ 800 bytes", fmt.Sprintf("%.0f bytes (%.0f MB instead of %.0f)", all, with.all/1e6, n.without.all/1e6), all <= 800)
	n.table.add(n.name+"  of this, private", "≤ 500 bytes", fmt.Sprintf("%.0f bytes", private), private <= 500)
	return nil
}
