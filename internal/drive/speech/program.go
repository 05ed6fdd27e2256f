package speech

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	programTimeout = 5 * time.Second // for one announcement (D15.25)
	pipeTimeout    = time.Second     // for the children of a killed program to close its pipes
	maxComplaint   = 512             // bytes of the program's standard error that are kept
	languageBlank  = "{language}"
)

// ProgramError is the failure of a program. Its message never contains the announcement.
type ProgramError struct {
	Reason string
	// Complaint is the program's standard error. It may repeat the announcement, so it must not be logged.
	Complaint string
}

func (e *ProgramError) Error() string { return e.Reason }

// runProgram runs the command to speak a text, and returns its output. It uses no shell, and only the language in the
// arguments depends on the request. The program inherits none of this process's environment variables, because they may
// hold secrets.
func runProgram(parent context.Context, command []string, language, text string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(parent, programTimeout)
	defer cancel()
	args := make([]string, len(command)-1)
	for i, word := range command[1:] {
		args[i] = strings.ReplaceAll(word, languageBlank, language)
	}
	cmd := exec.CommandContext(ctx, command[0], args...) //nolint:gosec // the operator's command, with a language of our list
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent"}
	cmd.Stdin = strings.NewReader(plainText(text) + "\n")
	out, complaint := &boundedBuffer{most: maxAudio, overflow: cancel}, &boundedBuffer{most: maxComplaint}
	cmd.Stdout, cmd.Stderr = out, complaint
	cmd.WaitDelay = pipeTimeout
	ownGroup(cmd)
	err := cmd.Run()
	failed := func(reason string) error {
		return &ProgramError{Reason: reason, Complaint: strings.TrimSpace(string(complaint.kept))}
	}
	exit := new(exec.ExitError)
	switch {
	case out.full:
		return nil, failed(fmt.Sprintf("it wrote more than %d MiB", maxAudio>>20))
	case ctx.Err() != nil && parent.Err() == nil:
		return nil, failed(fmt.Sprintf("it took longer than %v", programTimeout))
	case errors.As(err, &exit):
		return nil, failed("it ended with " + exit.String())
	case err != nil && !isBrokenPipe(err): // a program may exit without reading all of its input
		return nil, failed("it cannot be run: " + err.Error())
	}
	return out.kept, nil
}

// boundedBuffer keeps writes up to a size, and drops the rest without blocking the writer.
type boundedBuffer struct {
	kept     []byte
	most     int
	full     bool
	overflow func() // called when something is dropped; may be nil
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	size := min(len(p), b.most-len(b.kept))
	if size < len(p) {
		b.full = true
		if b.overflow != nil {
			b.overflow()
		}
	}
	b.kept = append(b.kept, p[:size]...)
	return len(p), nil
}
