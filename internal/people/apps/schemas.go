package apps

import (
	"embed"
	"regexp"
)

// schemas holds the JSON Schemas of the documents that apps and their developers exchange with the service.
//
//go:embed schemas/*.json
var schemas embed.FS

// checkPattern matches the names of checks.
var checkPattern = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)

// JSONSchema returns the schema in a file, such as app-context.json, and whether it exists.
func JSONSchema(file string) ([]byte, bool) {
	text, err := schemas.ReadFile("schemas/" + file)
	return text, err == nil
}
