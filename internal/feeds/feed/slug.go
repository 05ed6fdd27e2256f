package feed

import "wayside/internal/ground/mapdata"

// unnamed is the slug of a layer whose name has no letter or digit that a slug may contain.
const unnamed = "layer"

// slug returns a layer's slug for its name (D5.8).
func slug(name string) string { return mapdata.Slug(name, unnamed) }
