package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"wayside/internal/config"
	"wayside/internal/demo"
	"wayside/internal/refprovider"
)

// townRelay is the demo town's relay upstream: wayside relay itself, as a process of its own, so that it can be stopped
// and started again like anybody's.
type townRelay struct {
	cmd    *exec.Cmd
	dir    string
	listen string
	secret string
}

// newTownRelay prepares the process: start starts it. It answers with what lies in the town's file.
func newTownRelay(ctx context.Context, dir string) (*townRelay, error) {
	listen, err := freePort(ctx)
	if err != nil {
		return nil, fmt.Errorf("find a port for the town's relay: %w", err)
	}
	r := &townRelay{dir: dir, listen: listen, secret: strings.ToLower(rand.Text())}
	if err := os.WriteFile(r.secretFile(), []byte(r.secret+"\n"), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(r.live().Name, []byte("[]"), 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	r.cmd = exec.Command(self, "relay", "--listen", listen, "--secret-file", r.secretFile(), r.live().Name) //nolint:gosec,noctx // ourselves; ended by run
	r.cmd.Env = []string{}
	return r, nil
}

// start starts the process. Only run ends it.
func (r *townRelay) start() error {
	if err := r.cmd.Start(); err != nil {
		return fmt.Errorf("start the town's relay: %w", err)
	}
	return nil
}

// freePort finds a port of this machine's loopback that nobody listens on.
func freePort(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (r *townRelay) secretFile() string { return filepath.Join(r.dir, "relay.secret") }
func (r *townRelay) live() *demo.LiveFile {
	return &demo.LiveFile{Name: filepath.Join(r.dir, "live.json")}
}
func (r *townRelay) pid() int { return r.cmd.Process.Pid }

// command is what starts it again.
func (r *townRelay) command() string { return strings.Join(r.cmd.Args, " ") }

func (r *townRelay) upstream() config.Upstream {
	return config.Upstream{
		Name: "town", URL: "http://" + r.listen, Secret: r.secret, Form: "incidents", Priority: 1, Attribution: "Traffic police of the demo town",
	}
}

// tells says whether it answers with something that happens in the town.
func (r *townRelay) tells(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	target := "http://" + r.listen + refprovider.PathIncidents + "?lat=52&lng=5&radius=5000&tenant=demo"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return false
	}
	req.Header.Set(refprovider.AuthHeader, r.secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return err == nil && bytes.Contains(body, []byte(`"external_id"`))
}

// relayPatience is how long the process may take to stop.
const relayPatience = 5 * time.Second

// run waits for the end and takes the process with it. Somebody may have stopped it before: that is what it is for.
func (r *townRelay) run(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.cmd.Wait() // how it ended is its own business: whoever stopped it meant to
	}()
	<-ctx.Done()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the town's relay: %w", err)
	}
	select {
	case <-ended:
		return nil
	case <-time.After(relayPatience):
		err := r.cmd.Process.Kill()
		<-ended
		return err
	}
}
