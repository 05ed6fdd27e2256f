package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestExamples checks that each command has examples in its help, and that they parse.
func TestExamples(t *testing.T) {
	all := examples()
	for _, path := range commandPaths(t) {
		lines := all[path]
		if len(lines) == 0 {
			t.Errorf("wayside %s has no example", path)
		}
		delete(all, path)
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " > ")
			parser, err := newParser(new(grammar), &program{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			ctx, err := parser.Parse(splitShell(line)[1:])
			if err != nil || commandPath(ctx.Selected()) != path {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	for path := range all {
		t.Errorf("wayside %s has examples and does not exist", path)
	}
	code, stdout, _ := command(t, nil, "feed", "reject", "--help")
	if code != exitOK || !strings.HasSuffix(stdout, "\nExamples:\n  "+examples()["feed reject"][0]+"\n") {
		t.Errorf("the help of feed reject: %s", stdout)
	}
	code, stdout, _ = command(t, nil, "--version")
	if code != exitOK || !strings.HasPrefix(stdout, "wayside "+version+" (") {
		t.Errorf("--version: %d %s", code, stdout)
	}
}

// splitShell splits a line into words; text between single quotes is part of one word.
func splitShell(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// TestBashCompletion completes command lines in the real shell.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash")
	}
	_, script, _ := command(t, nil, "completion", "bash")
	for line, want := range map[string]string{
		"wayside dem":                      "demo",
		"wayside account lo":               "login-link",
		"wayside account role --email x c": "curator",
		"wayside feed reject --no":         "--note",
		"wayside demo --la":                "--lan",
		"wayside completion f":             "fish",
		"wayside serve --config w":         "", // files
	} {
		words := strings.Split(line, " ")
		run := exec.Command(bash, "-c", script+"\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _wayside; echo \"${COMPREPLY[*]}\"", "bash")
		run.Args = append(run.Args, words...)
		out, err := run.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", line, got, want, err)
		}
	}
}

// TestCompletionScripts checks the contents of the scripts for shells that this machine may lack.
func TestCompletionScripts(t *testing.T) {
	_, zsh, _ := command(t, nil, "completion", "zsh")
	for _, want := range []string{"#compdef wayside\n", "('account') choices=(", "'login-link:", "--data-dir:"} {
		if !strings.Contains(zsh, want) {
			t.Errorf("zsh lacks %q", want)
		}
	}
	_, fish, _ := command(t, nil, "completion", "fish")
	for _, want := range []string{`complete -c wayside -n '__wayside_at ""' -f -a serve -d "`, `-n '__wayside_at "account role"' -f -a curator`, `-r -l data-dir -d "`} {
		if !strings.Contains(fish, want) {
			t.Errorf("fish lacks %q", want)
		}
	}
}
