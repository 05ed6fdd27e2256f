// Command goroutines prints the packages, one on a line, whose tests make test runs with the race detector: those of the program in
// which something runs beside something else. Run it in the module's folder.
package main

import (
	"fmt"
	"os"

	"wayside/internal/proof/archtest"
)

func main() {
	found, err := archtest.Goroutines(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "goroutines:", err)
		os.Exit(1)
	}
	for _, dir := range found {
		fmt.Println("wayside/" + dir)
	}
}
