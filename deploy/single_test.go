package deploy

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/proof/testenv"
)

// TestCaddy runs a real Caddy with the configuration of deploy/single before a real node. Caddy issues the certificate with its
// local authority; in operation it would come from a public one.
func TestCaddy(t *testing.T) {
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("SKIPPED: deploy/single/Caddyfile is not tested: sudo apt-get install caddy")
	}
	address := "127.0.0.1:" + freePort(t)
	n := startNode(t, testenv.Program(t), "http://"+address, "")
	text := read(t, "single/Caddyfile")
	file := filepath.Join(t.TempDir(), "Caddyfile")
	// Without a host name Caddy requests no certificate; the rest of the file stays unchanged.
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	env := []string{"SITE=http://" + address, "EMAIL=you@example.org", "NODE=" + n.address, "HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home}
	if out, err := (&exec.Cmd{Path: caddy, Args: []string{caddy, "validate", "--adapter", "caddyfile", "--config", file}, Env: append(os.Environ(), append(env, "SITE=map.example.org")...)}).CombinedOutput(); err != nil ||
		!bytes.Contains(out, []byte("enabling automatic HTTP->HTTPS redirects")) {
		t.Fatalf("validate: %v\n%s", err, out)
	}
	p := run(t, env, caddy, "run", "--adapter", "caddyfile", "--config", file)
	eventually(t, "the proxy passes requests on", func() bool {
		resp, err := http.Get("http://" + address + "/readyz")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	c := &caller{web: http.DefaultClient, url: "http://" + address}
	if resp, body := c.do(t, http.MethodGet, "/v2/entities/nearby?lat=52.5&lng=13.4&radius=500", "", "X-Forwarded-For", "203.0.113.9"); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"entities":[]`) {
		t.Errorf("a read: %d %s", resp.StatusCode, body)
	}
	n.kill()
	if resp, _ := c.do(t, http.MethodGet, "/v2/entities/nearby?lat=52.5&lng=13.4&radius=500", ""); resp.StatusCode != http.StatusBadGateway {
		t.Errorf("without its node the proxy answers %d", resp.StatusCode)
	}
	p.kill()
	for _, secret := range []string{"52.5", "13.4", "nearby", "203.0.113.9"} {
		if strings.Contains(p.out.String(), secret) {
			t.Errorf("the proxy's log has %q:\n%s", secret, p.out.String())
		}
	}
}
