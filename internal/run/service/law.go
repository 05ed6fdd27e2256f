package service

import (
	"fmt"
	"io"
	"os"

	"wayside/internal/entities/law"
)

// readLaw reads the configured areas; nil without a file.
func readLaw(path string) (_ *law.Law, err error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("law.file: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(file, law.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("law.file: %w", err)
	}
	l, err := law.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("law.file: %s: %w", path, err)
	}
	return l, nil
}
