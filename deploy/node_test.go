package deploy

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// process is a program that runs until the test ends, or until stop.
type process struct {
	cmd  *exec.Cmd
	out  testenv.Output
	done chan struct{}
}

func run(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), env...), &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the error only reports the signal that ended it
		close(p.done)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// freePort returns a port without a listener, below those that the kernel assigns to connections and to other tests: a program gets
// the port in its configuration, and listens a second later.
func freePort(t *testing.T) string {
	t.Helper()
	const first, count, tries = 20_000, 12_000, 100
	for range tries {
		port := strconv.Itoa(first + mathrand.IntN(count))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port is free")
	return ""
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

// node is a real node on SQLite.
type node struct {
	*process
	binary, dir, config, address, ops string
}

// startNode starts a node that trusts a proxy on this machine; more is added to its configuration.
func startNode(t *testing.T, binary, baseURL, more string) *node {
	t.Helper()
	n := writeNode(t, binary, baseURL, more)
	n.start(t)
	return n
}

// writeNode writes the configuration of a node.
func writeNode(t *testing.T, binary, baseURL, more string) *node {
	t.Helper()
	n := &node{binary: binary, dir: t.TempDir(), address: "127.0.0.1:" + freePort(t), ops: "127.0.0.1:" + freePort(t)}
	n.config = filepath.Join(n.dir, "node.toml")
	text := fmt.Sprintf("base_url = %q\ndata_dir = %q\nhttp = { listen = %q, trusted_proxies = [\"127.0.0.1/32\"] }\nops.listen = %q\n%s",
		baseURL, n.data(), n.address, n.ops, more)
	if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *node) data() string { return filepath.Join(n.dir, "data") }

// start starts a node and waits until it is ready.
func (n *node) start(t *testing.T) {
	t.Helper()
	n.process = run(t, nil, n.binary, "serve", "--config", n.config)
	eventually(t, "the node is ready: "+n.config, func() bool {
		resp, err := http.Get("http://" + n.address + "/readyz")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// cli runs a command on the node's data.
func (n *node) cli(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), n.binary, append(args, "--config", n.config)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// proxy is a real HAProxy with the configuration of this folder, on other ports.
type proxy struct {
	*process
	plain, site, ops string // addresses
	roots            *x509.CertPool
}

// startProxy starts the proxy with three nodes.
func startProxy(t *testing.T, nodes ...string) *proxy {
	t.Helper()
	haproxy := lookHAProxy(t)
	p := &proxy{plain: "127.0.0.1:" + freePort(t), site: "127.0.0.1:" + freePort(t), ops: "127.0.0.1:" + freePort(t), roots: x509.NewCertPool()}
	certs := t.TempDir()
	p.roots.AppendCertsFromPEM(writeCertificate(t, filepath.Join(certs, "site.pem")))
	text := read(t, "haproxy.cfg")
	for old, fresh := range map[string]string{
		"bind :8080\n": "bind " + p.plain + "\n", "bind :8443 ": "bind " + p.site + " ", "bind :8404\n": "bind " + p.ops + "\n",
		"/usr/local/etc/haproxy/certs/": certs,
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("haproxy.cfg has %d times %q", strings.Count(text, old), old)
		}
		text = strings.Replace(text, old, fresh, 1)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"ACME_THUMBPRINT=thumb_print-1"}
	for i, address := range nodes {
		env = append(env, fmt.Sprintf("NODE%d=%s", i+1, address))
	}
	p.process = run(t, env, haproxy, "-db", "-f", file)
	eventually(t, "the proxy is alive", func() bool {
		resp, err := http.Get("http://" + p.ops + "/alive")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	return p
}

func lookHAProxy(t *testing.T) string {
	t.Helper()
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		haproxy = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(haproxy); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("haproxy is missing")
		}
		t.Skip("SKIPPED: the proxy's configuration is not tested: sudo apt-get install haproxy")
	}
	return haproxy
}

// writeCertificate writes a new key and its certificate, and returns the certificate.
func writeCertificate(t *testing.T, path string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, append(bytes.Clone(certificate), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: sealed})...), 0o600); err != nil {
		t.Fatal(err)
	}
	return certificate
}

// client returns a client with its own address: all of 127.0.0.0/8 is this machine.
func (p *proxy) client(t *testing.T, from string) *caller {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: p.roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{
		web: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		url: "https://" + p.site,
	}
}

// caller is a client with its own address.
type caller struct {
	web *http.Client
	url string
}

// do sends a request and reads the response.
func (c *caller) do(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = c.url + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}
