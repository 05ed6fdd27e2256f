package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// profile takes a processor profile of the service during a round, if profiles are enabled, and returns the function that waits for
// it. Each round overwrites the profile of the one before.
func (b *bench) profile(ctx context.Context, name string) (wait func() error) {
	if b.profiles == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() { done <- b.writeProfile(ctx, filepath.Join(b.profiles, name+".pprof")) }()
	return func() error { return <-done }
}

func (b *bench) writeProfile(ctx context.Context, file string) error {
	return b.writePprof(ctx, file, fmt.Sprintf("profile?seconds=%.0f", max(1, b.round.Seconds())))
}

// writeMemory writes profiles of the heap and the stacks of the service, if profiles are enabled.
func (b *bench) writeMemory(ctx context.Context, name string) error {
	if b.profiles == "" {
		return nil
	}
	for _, kind := range []string{"heap", "goroutine"} {
		if err := b.writePprof(ctx, filepath.Join(b.profiles, name+"."+kind+".pprof"), kind); err != nil {
			return err
		}
	}
	return nil
}

// writePprof writes a profile of the service to a file.
func (b *bench) writePprof(ctx context.Context, file, what string) error {
	url := "http://" + b.ops + "/debug/pprof/" + what
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end below
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("profile: %s: %s", answer.Status, body)
	}
	return os.WriteFile(file, body, 0o600)
}
