package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is the service under measurement, with the state that the steps share.
type bench struct {
	options
	table    *table
	binary   string
	config   string
	addr     string
	ops      string
	process  *exec.Cmd
	provider *provider
	relay    *relay
	cookie   string
	feeds    []pushFeed
	liveFeed pushFeed
	ready    time.Duration // from the last start to ready
}

// build builds the binary.
func (b *bench) build(ctx context.Context) error {
	if b.binary = b.program; b.binary != "" {
		return nil
	}
	b.binary = filepath.Join(b.dir, "wayside")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "./cmd/wayside")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// configText raises the limits that bench would exceed.
const configText = `
base_url = "http://%[1]s"
data_dir = %[3]q
[http]
listen = %[1]q
[ops]
listen = %[2]q
[limits]
guest_reads_per_minute = 1000000000
account_reads_per_minute = 1000000000
guest_routes_per_minute = 1000000000
account_routes_per_minute = 1000000000
pushes_per_minute = 1000000
push_entities_per_minute = 0
manage_per_minute = 100000
feeds_per_account = 1000
entities_per_feed = 0
bytes_per_feed = "0"
bytes_per_account = "0"
unreviewed_entities_per_feed = 0
unreviewed_bytes_per_feed = "0"
[egress]
ca_file = %[4]q
[egress.hosts]
"bench.example.org" = "127.0.0.1"
`

// configure writes the configuration of the next start: the common one of all measurements, and more.
func (b *bench) configure(more string) error {
	b.config = filepath.Join(b.dir, "wayside.toml")
	text := fmt.Sprintf(configText, b.addr, b.ops, filepath.Join(b.dir, "data"), filepath.Join(b.dir, "ca.pem"))
	return os.WriteFile(b.config, []byte(text+more), 0o600)
}

// start runs the service and waits until it is ready.
func (b *bench) start(ctx context.Context) error {
	if b.addr == "" {
		var err error
		if b.addr, err = freeAddress(); err != nil {
			return err
		}
		if b.ops, err = freeAddress(); err != nil {
			return err
		}
		if err := b.configure(""); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(filepath.Join(b.dir, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	b.process = exec.CommandContext(ctx, b.binary, "serve", "--config", b.config)
	b.process.Stdout, b.process.Stderr = log, log
	began := time.Now()
	if err := b.process.Start(); err != nil {
		return err
	}
	for time.Since(began) < 2*time.Minute {
		resp, err := http.Get("http://" + b.addr + "/readyz") //nolint:noctx // bounded by the loop
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				b.ready = time.Since(began)
				return nil
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	said, err := os.ReadFile(log.Name()) // the folder is removed at the end
	if err != nil {
		return err
	}
	return fmt.Errorf("the service was not ready in time; its log ends with: %s", said[max(0, len(said)-1000):])
}

// stop stops the service by SIGTERM.
func (b *bench) stop() error {
	if b.process == nil || b.process.ProcessState != nil {
		return nil
	}
	if err := b.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return b.process.Wait()
}

// restart measures the time from start to ready with a full store.
func (b *bench) restart(ctx context.Context) error {
	if err := b.stop(); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	b.table.add("start to ready", "≤ 5 s", fmt.Sprintf("%.1f s", b.ready.Seconds()), b.ready <= 5*time.Second)
	return nil
}

// commandTries is how often a command is tried that the service's own writing keeps from the database: on a busy machine it may hold the
// lock again and again for longer than a command waits.
const commandTries = 5

// command runs the service's command line beside the running service.
func (b *bench) command(ctx context.Context, args ...string) (out string, err error) {
	for range commandTries {
		if out, err = b.commandOnce(ctx, args...); err == nil || !strings.Contains(err.Error(), "temporarily unavailable") {
			return out, err
		}
	}
	return out, err
}

func (b *bench) commandOnce(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.binary, append(args, "--config", b.config)...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("wayside %s: %w: %s", strings.Join(args, " "), err, problem.String())
	}
	return out.String(), nil
}

// memory returns the process's resident memory in megabytes, current and peak.
func (b *bench) memory() (now, peak float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.process.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	return kilobytes(string(status), "VmRSS:") / 1000, kilobytes(string(status), "VmHWM:") / 1000, nil
}

func kilobytes(status, name string) float64 {
	_, rest, _ := strings.Cut(status, name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0
	}
	return kb * 1.024
}

// resetPeak resets the peak memory.
func (b *bench) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.process.Process.Pid), []byte("5"), 0o200)
}

// ticksPerSecond is the kernel's unit of processor time as user space sees it, on every Linux.
const ticksPerSecond = 100

// processor returns the processor time of the service since its start.
func (b *bench) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("unexpected stat: %q", stat)
	}
	ticks := 0
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// metric reads one metric of the service.
func (b *bench) metric(name string) (float64, error) {
	resp, err := http.Get("http://" + b.ops + "/metrics") //nolint:noctx // loopback
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

func freeAddress() (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // only its address is needed
	return l.Addr().String(), nil
}
