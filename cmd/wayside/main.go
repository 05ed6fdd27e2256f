// Command wayside is the service and everything to run it with: wayside --help lists what it does.
package main

import (
	"os"

	"wayside/internal/run/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
