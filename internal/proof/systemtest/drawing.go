package systemtest

import (
	"os"
	"path/filepath"

	"wayside/internal/roads/roadtest"
)

// ImportDrawing imports the extract of a drawing at the command line.
func (s *Service) ImportDrawing(n *roadtest.Network) {
	s.T.Helper()
	file := filepath.Join(s.T.TempDir(), "town.osm.pbf")
	if err := os.WriteFile(file, n.PBF(s.T), 0o600); err != nil {
		s.T.Fatal(err)
	}
	s.CLI("region", "import", file)
}
