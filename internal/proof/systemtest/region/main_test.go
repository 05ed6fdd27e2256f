package region

import (
	"os"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// servers are shared by the tests of this package; those that stop or pause a server start their own.
var servers testenv.Servers

// extracts is the folder of real extracts that $WAYSIDE_TEST_OSM names; empty: tests on them are skipped.
var extracts string

func TestMain(m *testing.M) {
	extracts = os.Getenv(systemtest.ExtractsVariable)
	os.Exit(systemtest.Main(m, &servers))
}
