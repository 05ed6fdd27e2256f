package imports

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/region"
)

func TestFreeMemory(t *testing.T) {
	const meminfo = "MemTotal:       16000000 kB\nMemFree:         100 kB\nMemAvailable:    8000000 kB\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"not Linux":            {nil, 0},
		"a machine":            {map[string]string{"proc/meminfo": meminfo}, 8_192_000_000},
		"without a bound":      {map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "max\n"}, 8_192_000_000},
		"a small container":    {map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "1000000000\n", "sys/fs/cgroup/memory.current": "700000000\n", "sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 500000000\n"}, 800_000_000},
		"a full container":     {map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "2000\n"}, 1},
		"a container and more": {map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "90000000000\n", "sys/fs/cgroup/memory.current": "1\n"}, 8_192_000_000},
		"damaged":              {map[string]string{"proc/meminfo": "MemAvailable:\n"}, 0},
	} {
		files := fstest.MapFS{}
		for path, text := range tt.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := freeMemory(files); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// noAudit keeps no log.
type noAudit struct{ err error }

func (a noAudit) AddAudit(context.Context, ...mapdata.AuditEntry) error { return a.err }

// newService returns a service whose program is a shell script, with one extract of the given size.
func newService(t *testing.T, script string, bytes int) *Service {
	t.Helper()
	dir := t.TempDir()
	extracts := filepath.Join(dir, "extracts")
	err := errors.Join(os.Mkdir(extracts, 0o700), os.WriteFile(filepath.Join(extracts, "a.osm.pbf"), make([]byte, bytes), 0o600))
	program := filepath.Join(dir, "import.sh")
	if err := errors.Join(err, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700)); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	return New(Config{
		Folder: region.Folder(filepath.Join(dir, "region")), Extracts: extracts, Command: []string{program}, Audit: noAudit{},
		Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

var admin = &mapdata.Account{ID: mapdata.AccountID{1}, Role: mapdata.Admin}

// importOnce runs one import to its end.
func importOnce(t *testing.T, s *Service) *Import {
	t.Helper()
	if err := s.Start(t.Context(), admin, []string{"a.osm.pbf"}, nil); err != nil {
		t.Fatal(err)
	}
	s.run(t.Context(), <-s.work)
	return s.Last()
}

// TestProgramsThatImport checks the handling of every kind of output of the program, valid or not.
func TestProgramsThatImport(t *testing.T) {
	for name, tt := range map[string]struct{ script, region, problem string }{
		"good":          {`echo '{"step":"one","number":1,"of":2}' >&2; echo '{"id":"0123456789abcdef"}'`, "0123456789abcdef", ""},
		"refused":       {`echo "wayside: $3: byte 7: bad" >&2; exit 1`, "", "a.osm.pbf: byte 7: bad"},
		"silent":        {`exit 3`, "", "the import ended early: exit status 3"},
		"says nothing":  {`exit 0`, "", "the program that imports does not say what it made"},
		"a long line":   {`head -c 100000 /dev/zero | tr '\0' x >&2; echo >&2; echo "wayside: short" >&2; exit 1`, "", "short"},
		"the last line": {`head -c 100000 /dev/zero | tr '\0' x >&2; exit 1`, "", strings.Repeat("x", 4096)},
		"some output":   {`head -c 1000000 /dev/zero | tr '\0' ' '; echo '{"id":"0123456789abcdef"}'`, "0123456789abcdef", ""},
		"more output":   {`head -c 1050000 /dev/zero | tr '\0' ' '; echo '{"id":"0123456789abcdef"}'`, "", "the program that imports does not say what it made"},
		"much output":   {`head -c 3000000 /dev/zero; exit 0`, "", "the program that imports does not say what it made"},
		"environment":   {`[ -z "$HOME$WAYSIDE_DATABASE_URL" ] || exit 9; echo '{"id":"0123456789abcdef"}'`, "0123456789abcdef", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WAYSIDE_DATABASE_URL", "postgres://secret")
			i := importOnce(t, newService(t, tt.script, 1))
			if i.Running() || i.Region != tt.region || i.Problem != tt.problem {
				t.Errorf("%+v", i)
			}
			if name == "good" && (i.Step != "one" || i.Number != 1 || i.Of != 2) {
				t.Errorf("its steps: %+v", i)
			}
		})
	}
}

// TestExtractsAreBounded checks that 200 extracts are listed, and that a name has at most 255 bytes.
func TestExtractsAreBounded(t *testing.T) {
	s := newService(t, "exit 0", 1)
	for i := range 250 {
		if err := os.WriteFile(filepath.Join(s.Extracts, strconv.Itoa(i)+".pbf"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.ListExtracts(); err != nil || len(all) != 200 {
		t.Errorf("%d extracts are listed, %v", len(all), err)
	}
	for bytes, want := range map[int]bool{255: true, 256: false, 2000: false} {
		if got := isExtractName(strings.Repeat("a", bytes-4) + ".pbf"); got != want {
			t.Errorf("a name of %d bytes: %t", bytes, got)
		}
	}
}

// TestImportsAreBounded checks the conditions under which an import does not begin.
func TestImportsAreBounded(t *testing.T) {
	s := newService(t, "exit 0", 1000)
	s.Memory = func() int64 { return 24_999 }
	var invalid *mapdata.InvalidError
	if err := s.Start(t.Context(), admin, []string{"a.osm.pbf"}, nil); !errors.As(err, &invalid) || invalid.Fields[0].Code != "too_large" {
		t.Errorf("with too little memory: %v", err)
	}
	s.Memory = func() int64 { return 25_000 }
	for files, want := range map[int]bool{16: false, 17: true} { // all of them without a name
		if err := s.Start(t.Context(), admin, make([]string, files), nil); !errors.As(err, &invalid) || (invalid.Fields[0].Code == "too_many") != want {
			t.Errorf("%d files: %v", files, err)
		}
	}
	for _, by := range []*mapdata.Account{nil, {Role: mapdata.Driver}, {Role: mapdata.Curator}} {
		for what, err := range map[string]error{
			"start": s.Start(t.Context(), by, []string{"a.osm.pbf"}, nil), "cancel": s.Cancel(t.Context(), by), "remove": s.Remove(t.Context(), by, "0123456789abcdef"),
		} {
			if !errors.Is(err, mapdata.ErrForbidden) {
				t.Errorf("%s by %+v: %v", what, by, err)
			}
		}
	}
	s.Audit = noAudit{errors.New("disk full")}
	if err := s.Start(t.Context(), admin, []string{"a.osm.pbf"}, nil); err == nil || s.Last() != nil {
		t.Errorf("without an entry of the audit log: %v, %+v", err, s.Last())
	}
	s.Audit, s.Fixed = noAudit{}, true
	if err := s.Start(t.Context(), admin, []string{"a.osm.pbf"}, nil); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("where the configuration names the region: %v", err)
	}
}

// TestACancelledProgramEnds checks cancelling before and while the program runs.
func TestACancelledProgramEnds(t *testing.T) {
	s := newService(t, `echo '{"step":"one","number":1,"of":2}' >&2; exec sleep 60`, 1)
	for _, before := range []bool{true, false} {
		if err := s.Start(t.Context(), admin, []string{"a.osm.pbf"}, nil); err != nil {
			t.Fatal(err)
		}
		cancel := func() {
			if err := s.Cancel(t.Context(), admin); err != nil {
				t.Error(err)
			}
		}
		if before {
			cancel()
		}
		ended := make(chan struct{})
		go func() { defer close(ended); s.run(t.Context(), <-s.work) }()
		for tick := time.Tick(time.Millisecond); !before && s.Last().Step == ""; {
			<-tick
		}
		if !before {
			cancel()
		}
		select {
		case <-ended:
		case <-time.After(killAfter):
			t.Fatal("it did not end")
		}
		if i := s.Last(); i.Running() || !i.Cancelled || i.Problem != "" || i.Region != "" {
			t.Errorf("%+v", i)
		}
	}
}
