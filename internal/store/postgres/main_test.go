package postgres

import (
	"os"
	"testing"

	"wayside/internal/proof/testenv"
)

// Servers are shared by the tests of this package; those of durability and of restarts start their own.
var Servers = testenv.Servers{Migrate: Migrate}

func TestMain(m *testing.M) { os.Exit(Servers.Run(m)) }
