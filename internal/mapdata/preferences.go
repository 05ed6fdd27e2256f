package mapdata

// Preferences are what a driver chose for the map. What is nil was not chosen: pages then do as they please.
type Preferences struct {
	Units      *string  // metric or imperial
	Theme      *string  // day, night or auto
	Language   *string  // of two letters, such as "de"
	Density    *float64 // of text and buttons, 0 (small) to 10
	Tones      *bool    // whether something is to be heard
	Lead       *float64 // factor on the distance at which is warned, 0.5 to 2
	SourcesOff []string // ids of sources that are not shown
	KindsOff   []string // ids of kinds that are not shown, each with its subtypes
	Networks   []string // charger networks that are shown; nil: those of the tier
}
