package apps

import (
	"slices"

	"wayside/internal/ground/mapdata"
)

// unnamed is the slug of an app whose name has no letter or digit that a slug may contain.
const unnamed = "app"

// slugOf makes an app's slug from its name, and avoids the names of other pages beside that of the app.
func slugOf(name string) string {
	slug := mapdata.Slug(name, unnamed)
	if slices.Contains([]string{"new", "own", "bench", "review"}, slug) {
		slug += "-app"
	}
	return slug
}
