package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// The expected behaviour of a command in a folder without data.
const (
	refuses    = "no data in ./wayside-data (" // followed by the folder
	needsNone  = ""                            // works, or fails for another reason
	makesData  = "makes"                       // makes data, and has separate tests
	anyFeed    = "01890000-0000-7000-8000-000000000000"
	emailGiven = " --email me@example.org"
)

// inEmptyFolder lists each command with arguments that are complete.
var inEmptyFolder = map[string]struct{ args, expect string }{
	"serve":              {"", makesData},
	"demo":               {"", makesData},
	"setup":              {"--yes", makesData},
	"restore":            {"backup.tar.gz", needsNone}, // there is no such file, and so it makes nothing
	"copy":               {"--from sqlite --to postgres://127.0.0.1:1/x", refuses},
	"account create":     {emailGiven, refuses},
	"account list":       {"", refuses},
	"account role":       {emailGiven + " curator", refuses},
	"account tier":       {emailGiven + " premium", refuses},
	"account suspend":    {emailGiven + " --reason r", refuses},
	"account resume":     {emailGiven, refuses},
	"account login-link": {emailGiven, refuses},
	"account show":       {emailGiven, refuses},
	"account sessions":   {emailGiven, refuses},
	"account sign-out":   {emailGiven, refuses},
	"account email":      {emailGiven + " --to you@example.org", refuses},
	"account delete":     {emailGiven, refuses},
	"feed list":          {"", refuses},
	"feed catalogue":     {"", needsNone},
	"feed add":           {emailGiven + " --name n --url https://example.org/", refuses},
	"region import":      {"absent.osm.pbf", needsNone}, // there is no such file, and so it makes nothing
	"region list":        {"", refuses},
	"region show":        {"", refuses},
	"region remove":      {"0123456789abcdef", refuses},
	"region export":      {"--arcs -", refuses},
	"feed show":          {anyFeed, refuses},
	"feed approve":       {anyFeed, refuses},
	"feed reject":        {anyFeed + " --note n", refuses},
	"feed delete":        {anyFeed, refuses},
	"feed pause":         {anyFeed + " --reason r", refuses},
	"feed resume":        {anyFeed, refuses},
	"feed remove":        {anyFeed + " --reason r", refuses},
	"app list":           {"", refuses},
	"app show":           {anyFeed, refuses},
	"app approve":        {anyFeed, refuses},
	"app reject":         {anyFeed + " --note n", refuses},
	"app suspend":        {anyFeed + " --note n", refuses},
	"app resume":         {anyFeed, refuses},
	"app check":          {"http://127.0.0.1:1/", needsNone}, // nothing answers there
	"pin hide":           {"feed:x:v1:y --reason r", refuses},
	"pin show":           {"feed:x:v1:y", refuses},
	"pin list":           {"", refuses},
	"complaint list":     {"", refuses},
	"complaint close":    {anyFeed, refuses},
	"audit":              {"", refuses},
	"notice":             {"--subject s --file {notice}", refuses},
	"backup":             {"{elsewhere}", refuses},
	"migrate":            {"", refuses},
	"key rotate":         {"", refuses},
	"upstream list":      {"", needsNone},
	"upstream check":     {"", needsNone},
	"validate":           {"{rows}", needsNone},
	"convert":            {"--from wzdx {rows}", needsNone},
	"relay":              {"--listen 127.0.0.1:0 --secret-file none {rows}", needsNone},
	"doctor":             {"", refuses},
	"completion":         {"bash", needsNone},
	"config":             {"", needsNone},
	"licences":           {"", needsNone},
	"version":            {"", needsNone},
}

// commandPaths lists all commands, such as "account create".
func commandPaths(t *testing.T) []string {
	t.Helper()
	parser, err := newParser(new(grammar), &program{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, leaf := range parser.Model.Leaves(false) {
		all = append(all, strings.TrimPrefix(pathOf(leaf), "wayside "))
	}
	return all
}

// pathOf returns the words of a command without its arguments.
func pathOf(leaf *kong.Node) string {
	words := []string{leaf.Name}
	for node := leaf.Parent; node != nil; node = node.Parent {
		words = append([]string{node.Name}, words...)
	}
	return strings.Join(words, " ")
}

// TestCommandsInAnEmptyFolder runs each command of the real program in an empty folder, and checks that those that work on data
// refuse and name the folder, and that only those that make data leave a file.
func TestCommandsInAnEmptyFolder(t *testing.T) {
	t.Parallel()
	bin, files := testenv.Program(t), t.TempDir()
	for name, text := range map[string]string{"rows.json": "[]", "notice.txt": "Hello.\n"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given := strings.NewReplacer("{notice}", filepath.Join(files, "notice.txt"), "{rows}", filepath.Join(files, "rows.json"), "{elsewhere}", files)
	listed := 0
	for _, path := range commandPaths(t) {
		tt, ok := inEmptyFolder[path]
		if !ok {
			t.Errorf("wayside %s: add it to inEmptyFolder", path)
			continue
		}
		listed++
		if tt.expect == makesData {
			continue
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(bin, strings.Fields(path+" "+given.Replace(tt.args))...)
			var stderr bytes.Buffer
			cmd.Dir, cmd.Stderr, cmd.Env = dir, &stderr, []string{"HOME=" + dir, "TMPDIR=" + files}
			overdue := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer overdue.Stop()
			_ = cmd.Run() // the test checks the exit code
			if code := cmd.ProcessState.ExitCode(); tt.expect == refuses && (code != exitUsage || !strings.Contains(stderr.String(), refuses+dir)) {
				t.Errorf("exit code %d: %s", code, &stderr)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("the folder holds %v, %v\n%s", left, err, &stderr)
			}
		})
	}
	if listed != len(inEmptyFolder) {
		t.Errorf("%d commands are listed, %d of them exist", len(inEmptyFolder), listed)
	}
}

// TestLinksCarryTheAddressOfTheService starts a service at a port that it chooses, and checks that a command that knows only its
// data directory prints links with that address, that a configured base_url takes precedence, and that the address of a killed
// service is not used.
func TestLinksCarryTheAddressOfTheService(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, "")
	link := func(args ...string) string {
		t.Helper()
		args = append([]string{"account", "login-link", "--email", "me@example.org", "--data-dir", s.Dir}, args...)
		code, stdout, stderr := command(t, nil, args...)
		if code != exitOK {
			t.Fatalf("login-link: %s", stderr)
		}
		return stdout
	}
	s.CLI("account", "create", "--email", "me@example.org")
	if got := link(); !strings.HasPrefix(got, s.Base+"/auth/verify?token=") {
		t.Errorf("beside %s: %s", s.Base, got)
	}
	file := filepath.Join(t.TempDir(), "wayside.toml")
	if err := os.WriteFile(file, []byte(`base_url = "https://map.example.org"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := link("--config", file); !strings.HasPrefix(got, "https://map.example.org/auth/verify?token=") {
		t.Errorf("with base_url: %s", got)
	}
	s.Kill()
	if got := link(); !strings.HasPrefix(got, "http://127.0.0.1:8080/auth/verify?token=") {
		t.Errorf("after a kill: %s", got)
	}
	s.Start(nil)
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "serve.address")); !os.IsNotExist(err) {
		t.Errorf("after a stop, serve.address is there: %v", err)
	}
}
