package cli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// command runs a command inside the test's process.
func command(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&program{ctx: t.Context(), env: env, stdout: &out, stderr: &errs, now: time.Now}, args)
	return code, out.String(), errs.String()
}

// newData makes a data directory with an empty database.
func newData(t *testing.T, dir string) {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir = dir
	admin, err := service.OpenAdmin(t.Context(), service.AdminOptions{Config: cfg, Log: slog.New(slog.DiscardHandler), Now: time.Now, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wayside.toml")
	if err := os.WriteFile(file, []byte("[http]\nlissten = \"a:1\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name           string
		args           string
		env            []string
		code           int
		stdout, stderr string
	}{
		{"nothing", "", nil, exitUsage, "", "expected one of"},
		{"help", "--help", nil, exitOK, "backup", ""},
		{"help of a command", "feed reject --help", nil, exitOK, "--note", ""},
		{"an unknown command", "serv", nil, exitUsage, "", "unexpected argument serv"},
		{"an unknown flag", "serve --lissten a:1", nil, exitUsage, "", "unknown flag --lissten"},
		{"version", "version", nil, exitOK, "wayside " + version, ""},
		{"configuration", "config --listen 127.0.0.1:1", nil, exitOK, `listen = "127.0.0.1:1"  # --listen`, ""},
		{"a variable", "config", []string{"WAYSIDE_DATA_DIR=/x"}, exitOK, `data_dir = "/x"  # WAYSIDE_DATA_DIR`, ""},
		{"a flag over a variable", "config --data-dir /y", []string{"WAYSIDE_DATA_DIR=/x"}, exitOK, `data_dir = "/y"  # --data-dir`, ""},
		{"an unknown key", "serve --config " + file, nil, exitUsage, "", "wayside.toml:2: http.lissten: unknown key (did you mean http.listen?)"},
		{"an unknown variable", "serve", []string{"WAYSIDE_PORT=1"}, exitUsage, "", "WAYSIDE_PORT: unknown variable"},
		{"a bad address", "serve --listen 8080", nil, exitUsage, "", `--listen: http.listen: "8080" is not a host:port`},
		{"no such file", "serve --config none.toml", nil, exitUsage, "", "none.toml: no such file"},
		{"a role that is none", "account role --email a@example.org boss", nil, exitUsage, "", `must be one of "driver","curator","admin"`},
		{"no address", "account create", nil, exitUsage, "", "missing flags: --email=E"},
		{"no note", "feed reject 0", nil, exitUsage, "", "missing flags: --note=N"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := command(t, tt.env, strings.Fields(tt.args)...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d\nstdout: %s\nstderr: %s", code, stdout, stderr)
			}
		})
	}
}

func TestAccounts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	newData(t, dir)
	env := []string{"WAYSIDE_DATA_DIR=" + dir, "WAYSIDE_BASE_URL=https://map.example.org"}
	code, stdout, stderr := command(t, env, "account", "create", "--email", "Me@Example.org", "--json")
	var a accountJSON
	if err := json.Unmarshal([]byte(stdout), &a); code != exitOK || err != nil || a.Email != "me@example.org" || a.Role != "driver" || a.Tier != "account" {
		t.Fatalf("create: %d %s%s", code, stdout, stderr)
	}
	steps := []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"account create --email me@example.org", exitFailed, "", "has an account already"},
		{"account create --email nobody", exitFailed, "", "email"},
		{"account role --email me@example.org curator", exitOK, "role curator", ""},
		{"account tier --email me@example.org premium", exitOK, "role curator, tier premium", ""},
		{"account tier --email you@example.org premium", exitFailed, "", "No account has this address."},
		{"account list", exitOK, "me@example.org  curator  premium", ""},
		{"account list --json", exitOK, `"role": "curator"`, ""},
		{"account login-link --email me@example.org", exitOK, "https://map.example.org/auth/verify?token=", ""},
		{"account login-link --email me@example.org --json", exitOK, `"url": "https://map.example.org/auth/verify?token=`, ""},
		{"account login-link --email you@example.org", exitFailed, "", "No account has this address."},
		{"feed list", exitOK, "", ""},
		{"feed show x", exitFailed, "", "no feed"},
		{"feed approve 01890000-0000-7000-8000-000000000000", exitFailed, "", "no feed"},
	}
	for _, step := range steps {
		code, stdout, stderr := command(t, env, strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(stdout, step.stdout) || !strings.Contains(stderr, step.stderr) {
			t.Errorf("%s: code %d\nstdout: %s\nstderr: %s", step.args, code, stdout, stderr)
		}
	}
}
