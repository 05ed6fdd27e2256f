package feeds

import (
	"os"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// servers are shared by the tests of this package; those that stop or pause a server start their own.
var servers testenv.Servers

func TestMain(m *testing.M) { os.Exit(systemtest.Main(m, &servers)) }
