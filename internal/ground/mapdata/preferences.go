package mapdata

// Preferences are a driver's settings for the map. nil: not set, the page uses its default.
type Preferences struct {
	Units      *string  // metric or imperial
	Theme      *string  // day, night or auto
	Language   *string  // of two letters, such as "de"
	Density    *float64 // of text and buttons, 0 (small) to 10
	Tones      *bool    // whether announcements have a sound
	Lead       *float64 // factor of the warning distance, 0.5 to 2
	SourcesOff []string // ids of sources that are not shown
	KindsOff   []string // ids of kinds that are not shown, each with its subtypes
	Networks   []string // charger networks that are shown; nil: those of the tier
}
