package apps

import (
	"embed"
	"regexp"
)

// schemas are the JSON Schemas of what apps and their developers exchange with the service.
//
//go:embed schemas/*.json
var schemas embed.FS

// checkPattern is of names of checks.
var checkPattern = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)

// JSONSchema gives the schema in a file, such as app-context.json; false: there is none.
func JSONSchema(file string) ([]byte, bool) {
	text, err := schemas.ReadFile("schemas/" + file)
	return text, err == nil
}
