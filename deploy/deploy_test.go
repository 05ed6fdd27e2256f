package deploy

import (
	"debug/elf"
	"go/version"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/proof/testenv"
	"wayside/internal/run/config"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// nodeNames returns the names of the nodes of compose.yaml.
func nodeNames() []string { return []string{"node1", "node2", "node3"} }

// TestBinary checks that the program runs in an otherwise empty image, and knows the commands in compose.yaml.
func TestBinary(t *testing.T) {
	binary := testenv.Program(t)
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary asks for an interpreter: it is not static")
		}
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the binary asks for %v, %v", libraries, err)
	}
	compose := readYAML(t, "compose.yaml")
	for _, service := range append(nodeNames(), "migrate") {
		command := compose.at("services", service, "command").list()
		if len(command) != 3 || command[1] != "--config" || command[2] != "/etc/wayside/node.toml" {
			t.Errorf("%s: command %v", service, command)
			continue
		}
		if out, err := exec.CommandContext(t.Context(), binary, command[0], "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "--config") {
			t.Errorf("%s: wayside %s: %v\n%s", service, command[0], err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), binary, "version").Output(); err != nil || !strings.HasPrefix(string(out), "wayside "+imageTag(compose.at("services", "node1", "image").text)+" ") {
		t.Errorf("the image of node1 has another version than this release: %s, %v", out, err)
	}
}

func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tag
}

// TestConfigurations checks that the program accepts each configuration here, and that their addresses match the other files.
func TestConfigurations(t *testing.T) {
	files, err := filepath.Glob("*.toml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if _, err := config.Load(config.Input{File: file}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	node, err := config.Load(config.Input{File: "node.toml"})
	if err != nil {
		t.Fatal(err)
	}
	compose := readYAML(t, "compose.yaml")
	proxy, err := netip.ParseAddr(addressOf(compose, "proxy"))
	if err != nil || !slices.Equal(node.HTTP.TrustedProxies, []netip.Prefix{netip.PrefixFrom(proxy, 32)}) {
		t.Errorf("node.toml trusts %v, the proxy is at %v, %v", node.HTTP.TrustedProxies, proxy, err)
	}
	targets := read(t, "prometheus.yml")
	for _, name := range nodeNames() {
		_, port, _ := strings.Cut(node.HTTP.Listen, ":")
		if got, want := compose.at("services", "proxy", "environment", strings.ToUpper(name)).text, addressOf(compose, name)+":"+port; got != want {
			t.Errorf("the proxy looks for %s at %s; it is at %s", name, got, want)
		}
		_, port, _ = strings.Cut(node.Ops.Listen, ":")
		if want := `"` + name + ":" + port + `"`; !strings.Contains(targets, want) {
			t.Errorf("prometheus.yml does not ask %s", want)
		}
	}
	given := compose.at("services", "node1", "environment").keys
	var env []string
	for key, value := range given {
		env = append(env, key+"="+regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(value.text, strings.Repeat("0f", 16)))
		if !slices.ContainsFunc(config.Keys(), func(k string) bool { return config.Variable(k) == key }) {
			t.Errorf("node1 gets %s, which the program does not read", key)
		}
	}
	if _, err := config.Load(config.Input{File: "node.toml", Env: env}); err != nil || len(env) < 2 {
		t.Errorf("node1 is given %d variables: %v", len(env), err)
	}
}

// addressOf returns a service's fixed address.
func addressOf(compose *yaml, service string) string {
	text := compose.at("services", service, "networks", "front").text
	return strings.TrimSuffix(strings.TrimPrefix(text, "{ipv4_address: "), "}")
}

// TestCompose checks the hardening of the services, and that their images are pinned.
func TestCompose(t *testing.T) {
	services := readYAML(t, "compose.yaml").at("services").keys
	pinned := regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+(\.[0-9]+)*-?[a-z0-9.]*(@sha256:[0-9a-f]{64})?$`)
	for name, s := range services {
		if image := s.at("image").text; !pinned.MatchString(image) || imageTag(image) == "latest" {
			t.Errorf("%s: image %q is not pinned", name, image)
		}
		if s.at("security_opt").list() == nil || s.at("privileged").text != "" {
			t.Errorf("%s may gain privileges", name)
		}
		if name == "postgres" {
			continue // its image starts as root, to change the owner of the volume
		}
		if user := s.at("user").text; user == "" || strings.HasPrefix(user, "0") || strings.HasPrefix(user, "root") {
			t.Errorf("%s: user %q", name, user)
		}
		if s.at("read_only").text != "true" || !slices.Equal(s.at("cap_drop").list(), []string{"ALL"}) {
			t.Errorf("%s: read_only %q, cap_drop %q", name, s.at("read_only").text, s.at("cap_drop").text)
		}
	}
	for _, name := range append(nodeNames(), "proxy", "migrate", "postgres", "valkey") {
		if services[name] == nil {
			t.Errorf("there is no service %s", name)
		}
	}
	for _, name := range []string{"node1", "node2", "node3", "postgres", "valkey", "migrate"} {
		if services[name].at("ports").text != "" || len(services[name].at("ports").keys) > 0 {
			t.Errorf("%s publishes ports", name)
		}
	}
	if readYAML(t, "compose.yaml").at("networks", "data", "internal").text != "true" {
		t.Error("the network of database and cache is not internal")
	}
}

// TestSingle checks that the Compose file of one node is hardened as the other one, that its proxy is the one that the node trusts,
// and that the node accepts its configuration.
func TestSingle(t *testing.T) {
	compose := readYAML(t, "single/compose.yaml")
	cluster := readYAML(t, "compose.yaml")
	if got, want := compose.at("services", "wayside", "image").text, cluster.at("services", "node1", "image").text; got != want {
		t.Errorf("image %q, and %q in the cluster", got, want)
	}
	for _, name := range []string{"proxy", "wayside"} {
		s := compose.at("services", name)
		if s.at("read_only").text != "true" || !slices.Equal(s.at("cap_drop").list(), []string{"ALL"}) || s.at("security_opt").list() == nil {
			t.Errorf("%s is not hardened", name)
		}
		if tag := imageTag(s.at("image").text); !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+`).MatchString(tag) {
			t.Errorf("%s: tag %q is not exact", name, tag)
		}
	}
	node := compose.at("services", "wayside")
	if node.at("user").text != "65532:65532" || node.at("ports").text != "" {
		t.Errorf("the node runs as %q and publishes %q", node.at("user").text, node.at("ports").text)
	}
	example := map[string]string{}
	for line := range strings.Lines(read(t, "single/env.example")) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(key, "#") {
			example[key] = value
		}
	}
	var env []string
	for key, value := range node.at("environment").keys {
		text := regexp.MustCompile(`\$\{(\w+)[^}]*\}`).ReplaceAllStringFunc(value.text, func(v string) string {
			name := regexp.MustCompile(`\w+`).FindString(v)
			if _, known := example[name]; !known {
				t.Errorf("env.example does not name %s", name)
			}
			return example[name]
		})
		env = append(env, key+"="+text)
	}
	cfg, err := config.Load(config.Input{Env: env})
	if err != nil || cfg.BaseURL != "https://map.example.org" {
		t.Fatalf("%q, %v", env, err)
	}
	proxy, err := netip.ParseAddr(addressOf(compose, "proxy"))
	if err != nil || !slices.Equal(cfg.HTTP.TrustedProxies, []netip.Prefix{netip.PrefixFrom(proxy, 32)}) {
		t.Errorf("the node trusts %v, the proxy is at %v, %v", cfg.HTTP.TrustedProxies, proxy, err)
	}
	if got, want := compose.at("services", "proxy", "environment", "NODE").text, addressOf(compose, "wayside")+":8080"; got != want {
		t.Errorf("the proxy asks %s, the node is at %s", got, want)
	}
}

// TestDockerfile checks that the image is built with the module's version of Go, and does not run as root.
func TestDockerfile(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	builder := regexp.MustCompile(`(?m)^FROM golang:([0-9.]+)-\w+(?:@sha256:[0-9a-f]{64})? AS build$`).FindStringSubmatch(dockerfile)
	needed := regexp.MustCompile(`(?m)^go ([0-9.]+)$`).FindStringSubmatch(read(t, "../go.mod"))
	if builder == nil || needed == nil || version.Compare("go"+builder[1], "go"+needed[1]) < 0 || version.Lang("go"+builder[1]) != version.Lang("go"+needed[1]) {
		t.Errorf("built with Go %v, and go.mod asks for %v", builder, needed)
	}
	if !regexp.MustCompile(`(?m)^FROM gcr\.io/distroless/static-debian12:nonroot(@sha256:[0-9a-f]{64})?$`).MatchString(dockerfile) {
		t.Error("the image is not based on distroless")
	}
	for _, line := range []string{"USER 65532:65532", `ENTRYPOINT ["/usr/local/bin/wayside"]`} {
		if !strings.Contains(dockerfile, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if !strings.Contains(dockerfile, "CGO_ENABLED=0") || strings.Contains(dockerfile, "latest") {
		t.Error("the binary is not built static, or an image is not pinned")
	}
	// The build context contains what the build needs, and no secrets.
	ignore := read(t, "Dockerfile.dockerignore")
	for _, line := range []string{"*", "!go.mod", "!go.sum", "!cmd", "!internal", "!web/*.go", "!web/dist"} {
		if !strings.Contains("\n"+ignore, "\n"+line+"\n") {
			t.Errorf("Dockerfile.dockerignore has no line %s", line)
		}
	}
	if strings.Contains(ignore, "!deploy") {
		t.Error("secrets beside compose.yaml go into the build")
	}
}

// TestUnit runs systemd's checks on the unit, and checks its sandboxing.
func TestUnit(t *testing.T) {
	unit := read(t, "wayside.service")
	for _, line := range []string{
		"User=wayside", "StateDirectory=wayside", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateDevices=yes",
		"MemoryDenyWriteExecute=yes", "CapabilityBoundingSet=", "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX", "UMask=0077",
	} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("wayside.service has no %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED: systemd-analyze is not installed")
	}
	// The binary need not be installed on the machine of the test.
	file := filepath.Join(t.TempDir(), "wayside.service")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(unit, "/usr/local/bin/wayside", "/bin/true")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "wayside.service") {
		t.Errorf("%v\n%s", err, out)
	}
}
