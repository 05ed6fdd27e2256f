package cli

import (
	"os"
	"testing"

	"wayside/internal/proof/testenv"
)

// servers are shared by the tests of this package; those that stop or pause a server start their own.
var servers testenv.Servers

// extracts is the folder of real extracts that $WAYSIDE_TEST_OSM names; empty: tests on them are skipped.
var extracts string

func TestMain(m *testing.M) {
	const variable = "WAYSIDE_TEST_OSM"
	extracts = os.Getenv(variable)
	if err := os.Unsetenv(variable); err != nil { // the program refuses variables that it does not know
		panic(err)
	}
	os.Exit(servers.Run(m))
}
