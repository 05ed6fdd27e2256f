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

	"wayside/internal/feeds/refprovider"
	"wayside/internal/run/config"
	"wayside/internal/run/demo"
)

// demoRelay is the demo's relay upstream: wayside relay as a separate process, so that a visitor can stop it and start it
// again.
type demoRelay struct {
	cmd    *exec.Cmd
	dir    string
	listen string
	secret string
}

// newDemoRelay prepares the process, which answers with the rows of a file. start starts it.
func newDemoRelay(ctx context.Context, dir string) (*demoRelay, error) {
	listen, err := freePort(ctx)
	if err != nil {
		return nil, fmt.Errorf("find a port for the demo's relay: %w", err)
	}
	r := &demoRelay{dir: dir, listen: listen, secret: strings.ToLower(rand.Text())}
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
	r.cmd = exec.Command(self, "relay", "--listen", listen, "--secret-file", r.secretFile(), r.live().Name) //nolint:gosec,noctx // this program; ended by run
	r.cmd.Env = []string{}
	return r, nil
}

// start starts the process. Only run ends it.
func (r *demoRelay) start() error {
	if err := r.cmd.Start(); err != nil {
		return fmt.Errorf("start the demo's relay: %w", err)
	}
	return nil
}

// freePort returns a loopback address with a port that is not in use.
func freePort(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (r *demoRelay) secretFile() string { return filepath.Join(r.dir, "relay.secret") }
func (r *demoRelay) live() *demo.LiveFile {
	return &demo.LiveFile{Name: filepath.Join(r.dir, "live.json")}
}
func (r *demoRelay) pid() int { return r.cmd.Process.Pid }

// command returns the command line that starts the relay again.
func (r *demoRelay) command() string { return strings.Join(r.cmd.Args, " ") }

func (r *demoRelay) upstream() config.Upstream {
	return config.Upstream{
		Name: "town", URL: "http://" + r.listen, Secret: r.secret, Form: "incidents", Priority: 1, Attribution: "Traffic police of the demo town",
	}
}

// answers reports whether the relay answers with at least one row.
func (r *demoRelay) answers(ctx context.Context) bool {
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

// relayStopTimeout is how long the process may take to stop before it is killed.
const relayStopTimeout = 5 * time.Second

// run waits until ctx ends and then stops the process, unless a visitor has stopped it before.
func (r *demoRelay) run(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.cmd.Wait() // the visitor may stop it in any way
	}()
	<-ctx.Done()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the demo's relay: %w", err)
	}
	select {
	case <-ended:
		return nil
	case <-time.After(relayStopTimeout):
		err := r.cmd.Process.Kill()
		<-ended
		return err
	}
}
