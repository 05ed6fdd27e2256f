package systemtest

import (
	"fmt"
	"os"
	"testing"

	"wayside/internal/proof/testenv"
)

// ExtractsVariable names the folder of real extracts, for tests that import them.
const ExtractsVariable = "WAYSIDE_TEST_OSM"

// Main runs a package's tests, ends its shared servers and returns the exit code: for TestMain. It removes ExtractsVariable from the
// environment, because the program refuses variables that it does not know.
func Main(m *testing.M, servers *testenv.Servers) int {
	if err := os.Unsetenv(ExtractsVariable); err != nil {
		fmt.Fprintln(os.Stderr, "systemtest:", err)
		return 1
	}
	return servers.Run(m)
}
