package cli

import (
	"os"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// servers are shared by the tests of this package.
var servers testenv.Servers

func TestMain(m *testing.M) { os.Exit(systemtest.Main(m, &servers)) }
