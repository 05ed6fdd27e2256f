package region

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zlib"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
	"wayside/internal/roads/osmpbf"
)

// drawTown writes an extract of a street grid with the word in the names of all roads, and returns its path.
func drawTown(t *testing.T, word string, side int) string {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{})
	systemtest.Must(t, err)
	id := func(x, y int) int64 { return int64(1 + y*side + x) }
	for y := range side {
		for x := range side {
			systemtest.Must(t, w.Node(osmpbf.Node{ID: id(x, y), Lat: 52_000_000_000 + int64(y)*1_000_000, Lng: 5_000_000_000 + int64(x)*1_500_000}))
		}
	}
	for n := range side {
		var row, column []int64
		for m := range side {
			row, column = append(row, id(m, n)), append(column, id(n, m))
		}
		tags := osmpbf.Tags{{Key: "highway", Value: "residential"}, {Key: "name", Value: fmt.Sprintf("%s %d", word, n)}}
		systemtest.Must(t, w.Way(osmpbf.Way{ID: int64(2*n + 1), Refs: row, Tags: tags}))
		systemtest.Must(t, w.Way(osmpbf.Way{ID: int64(2*n + 2), Refs: column, Tags: tags}))
	}
	systemtest.Must(t, w.Close())
	return writeFile(t, word+".osm.pbf", out.Bytes())
}

func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	systemtest.Must(t, os.WriteFile(path, content, 0o600))
	return path
}

// importedJSON is a part of the output of an import.
type importedJSON struct {
	ID      string
	Version string `json:"data_version"`
	Arcs    int
	Left    map[string]int `json:"left_out"`
}

// importRegion imports extracts with the real program.
func importRegion(s *systemtest.Service, files ...string) importedJSON {
	s.T.Helper()
	var got importedJSON
	systemtest.Must(s.T, json.Unmarshal([]byte(s.CLI(append([]string{"region", "import", "--json"}, files...)...)), &got))
	if got.ID == "" || got.Version == "" || got.Arcs == 0 || got.Left == nil {
		s.T.Fatalf("the import printed %+v", got)
	}
	return got
}

// routeVersion requests a route through the town and returns the status and the data version of the answer.
func routeVersion(c *systemtest.Client) (status int, version, code string, err error) {
	resp, body, err := c.Try(http.MethodGet, "/v2/navigation/route/v1/driving/5.0001,52.0001;5.0105,52.0065?overview=full", nil)
	if err != nil {
		return 0, "", "", err
	}
	var got struct {
		Code    string
		Version string `json:"data_version"`
	}
	err = json.Unmarshal(body, &got)
	return resp.StatusCode, got.Version, got.Code, err
}

// badExtracts returns files that no import may accept, with the text of their refusal.
func badExtracts(t *testing.T) map[string]struct {
	content []byte
	want    string
} {
	t.Helper()
	good, err := os.ReadFile(drawTown(t, "Good", 60))
	systemtest.Must(t, err)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err = z.Write(good)
	systemtest.Must(t, errors.Join(err, z.Close()))
	header := good[:firstBlock(good)]
	var noRoad bytes.Buffer
	w, err := osmpbf.NewWriter(&noRoad, osmpbf.WriterOptions{})
	systemtest.Must(t, err)
	systemtest.Must(t, errors.Join(w.Node(osmpbf.Node{ID: 1}), w.Close()))
	return map[string]struct {
		content []byte
		want    string
	}{
		"empty":              {nil, "byte 0: the file is empty"},
		"xml":                {[]byte("<?xml version='1.0'?><osm/>"), "byte 0: the file is XML"},
		"gzip":               {zipped.Bytes(), "byte 0: the file is compressed by gzip"},
		"cut within a block": {good[:len(good)-100], "the file ends within the block, 100 bytes early"},
		"cut in the header":  {good[:10], "byte 0: the file ends within"},
		"size that lies":     {append(slices.Clone(header), 0xff, 0xff, 0xff, 0xff), fmt.Sprintf("byte %d:", len(header))},
		"blob that lies":     {append(slices.Clone(header), block(1<<31-1, nil)...), "at most 33554432 are allowed"},
		"bomb":               {append(slices.Clone(header), bomb(t)...), fmt.Sprintf("byte %d:", len(header))},
		"no header":          {good[len(header):], `byte 0: the file begins with a block of type "OSMData"`},
		"no road":            {noRoad.Bytes(), "there is no road for cars in it"},
		"noise":              {bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef}, 5000), "byte 0:"},
	}
}

// firstBlock returns where the block after the header begins.
func firstBlock(file []byte) int {
	n := int(binary.BigEndian.Uint32(file))
	message := file[4 : 4+n] // type, then the size as the last field
	at := bytes.LastIndexByte(message, 0x18)
	size, _ := binary.Uvarint(message[at+1:])
	return 4 + n + int(size)
}

// block returns a data block that claims a size.
func block(claimed int, content []byte) []byte {
	message := append([]byte{0x0a, 7}, "OSMData"...)
	message = binary.AppendUvarint(append(message, 0x18), uint64(claimed))
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...), content...)
}

// bomb returns a block of a hundred kilobytes that decompresses to a hundred megabytes.
func bomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(make([]byte, 100<<20))
	systemtest.Must(t, errors.Join(err, z.Close()))
	blob := binary.AppendUvarint([]byte{0x10}, 30<<20) // raw size
	blob = binary.AppendUvarint(append(blob, 0x1a), uint64(packed.Len()))
	blob = append(blob, packed.Bytes()...)
	return block(len(blob), blob)
}

// maxRefusalKB is the memory within which bad input is refused, in kB.
const maxRefusalKB = 300_000

// TestBadExtractsAreRefused runs the real program on each kind of bad input, and checks that it prints one line that names the
// byte, exits with 1, within seconds and in little memory, leaves nothing behind, and that the earlier region is still served.
func TestBadExtractsAreRefused(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	if status, _, code, err := routeVersion(guest); err != nil || status != http.StatusServiceUnavailable || code != "NoRegion" {
		t.Fatalf("without a region: %d %s, %v", status, code, err)
	}
	before := importRegion(s, drawTown(t, "Before", 10))
	systemtest.Eventually(t, "the region is served", func() bool {
		_, version, _, err := routeVersion(guest)
		return err == nil && version == before.Version
	})
	files := listRegion(t, s.Dir)
	fresh := filepath.Join(t.TempDir(), "fresh")
	for name, bad := range badExtracts(t) {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "bad.osm.pbf", bad.content)
			for _, dir := range []string{s.Dir, fresh} {
				cmd := exec.Command(s.Bin, "region", "import", "--json", "--data-dir", dir, path)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				peak, err := systemtest.RunWatched(cmd)
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 1 {
					t.Errorf("exit: %v", err)
				}
				if text := stderr.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "byte") || !strings.Contains(text, bad.want) || !strings.Contains(text, path) {
					t.Errorf("%q, want one line with the file, the byte and %q", text, bad.want)
				}
				if stdout.Len() > 0 {
					t.Errorf("it printed %s", stdout.String())
				}
				if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); took > 20*time.Second {
					t.Errorf("refused after %v", took)
				}
				if peak > maxRefusalKB {
					t.Errorf("refusing took %d kB", peak)
				}
			}
			if left := listRegion(t, s.Dir); !slices.Equal(left, files) {
				t.Errorf("the folder holds %q, and held %q before", left, files)
			}
			if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a data directory was left: %v", err)
			}
		})
	}
	if status, version, _, err := routeVersion(guest); err != nil || status != http.StatusOK || version != before.Version {
		t.Errorf("afterwards: %d %s, %v", status, version, err)
	}
}

// listRegion lists the folder of regions.
func listRegion(t *testing.T, dataDir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dataDir, "region"))
	systemtest.Must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestRegionCommands runs the commands of an operator: import, list, show, export and remove, and checks their errors about missing
// regions.
func TestRegionCommands(t *testing.T) {
	s := systemtest.NewService(t, "")
	if _, err := s.TryCLI("region", "list"); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("list without a data directory: %v", err)
	}
	town := drawTown(t, "Town", 10)
	first := importRegion(s, town)
	path := filepath.Join(s.Dir, "region", first.ID+".region")
	content, err := os.ReadFile(path)
	systemtest.Must(t, err)
	other := importRegion(s, drawTown(t, "Other", 10))
	again := importRegion(s, town, town)
	if same, err := os.ReadFile(path); err != nil || again.ID != first.ID || again.Version != first.Version || !bytes.Equal(same, content) {
		t.Errorf("the same extract gave %+v and then %+v, %v", first, again, err)
	}
	var listed struct {
		Regions []struct {
			ID, Problem string
			Version     string `json:"data_version"`
			Current     bool
		}
	}
	systemtest.Must(t, json.Unmarshal([]byte(s.CLI("region", "list", "--json")), &listed))
	if len(listed.Regions) != 2 || listed.Regions[0].ID != first.ID || !listed.Regions[0].Current || listed.Regions[1].ID != other.ID || listed.Regions[1].Current {
		t.Errorf("list: %+v", listed)
	}
	if shown := s.CLI("region", "show"); !strings.Contains(shown, first.ID+" (current)") || !strings.Contains(shown, "© OpenStreetMap contributors (ODbL-1.0)") {
		t.Errorf("show: %s", shown)
	}
	if arcs := s.CLI("region", "export", "--arcs", "-", other.ID); !strings.HasPrefix(arcs, "# wayside-arcs 1 "+other.Version+"\n") || !regexp.MustCompile(`\n# end \d+ \d+\n$`).MatchString(arcs) {
		t.Errorf("export: %.200s", arcs)
	}
	content[len(content)/2] ^= 1
	systemtest.Must(t, os.WriteFile(path, content, 0o600))
	for _, args := range [][]string{{"region", "show"}, {"region", "export", "--arcs", "-"}} {
		if _, err := s.TryCLI(args...); err == nil || !strings.Contains(err.Error(), "the file is damaged at byte") || !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("%q of a damaged file: %v", args, err)
		}
	}
	if out := s.CLI("region", "remove", first.ID); !strings.Contains(out, "It was the current one") {
		t.Errorf("remove: %s", out)
	}
	for _, args := range [][]string{{"region", "show"}, {"region", "show", first.ID}, {"region", "remove", first.ID}, {"region", "remove", "../../etc/passwd"}} {
		if _, err := s.TryCLI(args...); err == nil || !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("%q of what is not there: %v", args, err)
		}
	}
	for _, args := range [][]string{{"region", "import"}, {"region", "export"}, {"region", "remove"}, {"region", "remove", "--old", other.ID}, {"region", "import", "--nonsense", town}} {
		if _, err := s.TryCLI(args...); err == nil || !strings.Contains(err.Error(), "exit status 2") {
			t.Errorf("%q: %v", args, err)
		}
	}
	if left := listRegion(t, s.Dir); !slices.Equal(left, []string{other.ID + ".region"}) {
		t.Errorf("left: %q", left)
	}
	if _, err := s.TryCLI("region", "remove", "--old"); err == nil || !strings.Contains(err.Error(), "no region is current") {
		t.Errorf("remove --old without a current region: %v", err)
	}
	importRegion(s, town)
	if out := s.CLI("region", "remove", "--old"); out != "Region "+other.ID+" is removed.\n" {
		t.Errorf("remove --old: %s", out)
	}
	if out := s.CLI("region", "remove", "--old"); !strings.Contains(out, "no region but the current one") {
		t.Errorf("remove --old again: %s", out)
	}
	if left := listRegion(t, s.Dir); len(left) != 2 || !slices.Contains(left, first.ID+".region") {
		t.Errorf("left: %q", left)
	}
}

// TestAKilledImportLeavesTheOldRegion kills imports at many moments, and runs two at the same time, and checks that the old region
// is still served.
func TestAKilledImportLeavesTheOldRegion(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "")
	before, large := importRegion(s, drawTown(t, "Before", 10)), drawTown(t, "Large", 100)
	current := filepath.Join(s.Dir, "region", "current")
	for after := time.Millisecond; after < 3*time.Second; after = after*3/2 + time.Millisecond {
		cmd := exec.Command(s.Bin, "region", "import", "--config", s.File, large)
		systemtest.Must(t, cmd.Start())
		killed := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		killed.Stop()
		text, errRead := os.ReadFile(current)
		systemtest.Must(t, errRead)
		if err == nil { // the import ended first
			if string(text) == before.ID+"\n" {
				t.Error("an import that ended well is not current")
			}
			break
		}
		s.CLI("region", "show", strings.TrimSpace(string(text)))
	}
	importRegion(s, drawTown(t, "Before", 10))
	for _, name := range listRegion(t, s.Dir) {
		if name != "current" && !strings.HasSuffix(name, ".region") {
			t.Errorf("%s was left", name)
		}
	}
	var busy, good int
	var running sync.WaitGroup
	var mu sync.Mutex
	for range 4 {
		running.Go(func() {
			_, err := s.TryCLI("region", "import", large)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				good++
			case strings.Contains(err.Error(), "another import is under way"):
				busy++
			default:
				t.Error(err)
			}
		})
	}
	running.Wait()
	if good == 0 || good+busy != 4 {
		t.Errorf("%d imports ended well, %d were refused", good, busy)
	}
	s.CLI("region", "show")
}

// TestAFullDiskLeavesTheOldRegion bounds the size of files that the import may write, which fails as a full disk does, and checks
// that the old region is still served.
func TestAFullDiskLeavesTheOldRegion(t *testing.T) {
	s := systemtest.NewService(t, "")
	before := importRegion(s, drawTown(t, "Before", 10))
	files := listRegion(t, s.Dir)
	cmd := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 100; exec "$@"`, "sh", s.Bin, "region", "import", "--config", s.File, drawTown(t, "Large", 100))
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "write the region:") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if left := listRegion(t, s.Dir); !slices.Equal(left, files) {
		t.Errorf("left: %q", left)
	}
	if shown := s.CLI("region", "show"); !strings.Contains(shown, before.ID+" (current)") {
		t.Errorf("current: %s", shown)
	}
}

// TestRegionsChangeUnderLoad imports two regions in turns while clients request routes, and checks that every answer is good and of
// a region that was current, and that each import is adopted within five seconds. Then it damages the file, and checks that the
// region is not served after a restart, and that /status reports the reason.
func TestRegionsChangeUnderLoad(t *testing.T) {
	s := systemtest.StartService(t, systemtest.Unlimited)
	towns := []string{drawTown(t, "North", 12), drawTown(t, "South", 12)}
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	last := importRegion(s, towns[0])
	served := func() bool { _, version, _, err := routeVersion(guest); return err == nil && version == last.Version }
	systemtest.Eventually(t, "the first region is served", served)
	known := sync.Map{}
	known.Store(last.Version, true)
	stop, answers := make(chan struct{}), 0
	var asking sync.WaitGroup
	asking.Go(func() {
		own := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
		for {
			select {
			case <-stop:
				return
			default:
			}
			status, version, code, err := routeVersion(own)
			if _, ok := known.Load(version); err != nil || status != http.StatusOK || code != "Ok" || !ok {
				t.Errorf("while regions change: %d %s %s, %v", status, code, version, err)
				return
			}
			answers++
		}
	})
	for turn := range 6 {
		var next importedJSON
		systemtest.Must(t, json.Unmarshal([]byte(s.CLI("region", "import", "--json", towns[(turn+1)%2])), &next))
		known.Store(next.Version, true)
		last = next
		watch := s.Watch()
		systemtest.Eventually(t, "the next region is served", served)
		if took := watch.Took(); took > 5*time.Second {
			t.Errorf("taken over after %v", took)
		}
	}
	close(stop)
	asking.Wait()
	t.Logf("%d routes were answered meanwhile", answers)

	s.CLI("region", "remove", last.ID)
	systemtest.Eventually(t, "no region is served", func() bool {
		status, _, code, err := routeVersion(guest)
		return err == nil && status == 503 && code == "NoRegion"
	})
	last = importRegion(s, towns[0])
	systemtest.Must(t, s.Terminate())
	path := filepath.Join(s.Dir, "region", last.ID+".region")
	content, err := os.ReadFile(path)
	systemtest.Must(t, err)
	content[len(content)-3000] ^= 0x10
	systemtest.Must(t, os.WriteFile(path, content, 0o600))
	s.Start(nil)
	if status, _, code, err := routeVersion(guest); err != nil || status != 503 || code != "NoRegion" {
		t.Errorf("with a damaged region: %d %s, %v", status, code, err)
	}
	if resp, body := guest.Do(http.MethodGet, "/status", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "The road data is damaged") {
		t.Errorf("/status: %d %s", resp.StatusCode, body)
	}
	if log := s.Log.String(); !strings.Contains(log, "the file is damaged at byte") || !strings.Contains(log, path) {
		t.Errorf("the log does not say why: %s", log)
	}
	last = importRegion(s, towns[0])
	systemtest.Eventually(t, "the repaired region is served", served)
}

// TestImportOfTheExtracts imports real extracts, which are outside of the repository, and prints the costs.
func TestImportOfTheExtracts(t *testing.T) {
	if extracts == "" {
		t.Skip("SKIPPED: WAYSIDE_TEST_OSM names no folder of extracts")
	}
	files, err := filepath.Glob(filepath.Join(extracts, "*.osm.pbf"))
	systemtest.Must(t, err)
	bin, dir := testenv.Program(t), t.TempDir()
	for _, file := range files {
		info, err := os.Stat(file)
		systemtest.Must(t, err)
		cmd := exec.Command(bin, "region", "import", "--data-dir", dir, file)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", file, err, out)
			continue
		}
		usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%s: %.1f MB, %.1f s of processor, %d MB of memory\n%s", filepath.Base(file), float64(info.Size())/1e6,
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), usage.Maxrss/1000, out)
	}
}
