package service

import (
	"fmt"
	"os"
	"path/filepath"

	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
	"wayside/internal/run/datadir"
)

// openImports makes the use case that imports and removes regions for admins.
func (s *Service) openImports() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s.imports = imports.New(imports.Config{
		Folder:   region.Folder(filepath.Join(s.config.DataDir, datadir.RegionFolder)),
		Extracts: filepath.Join(s.config.DataDir, datadir.ExtractsFolder),
		Command:  []string{program, "region", "import", "--data-dir", s.config.DataDir},
		Fixed:    s.config.Navigation.Region != "",
		Memory:   imports.FreeMemory, Audit: s.Store, Now: s.now, Log: s.log,
	})
	return nil
}
