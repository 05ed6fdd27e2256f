package mapdata

// Builtin is the direction of a feed that the service fills itself: no provider pushes to it, and no URL is polled.
const Builtin Direction = "builtin"

// Sources that are derived from the current region (D15.24). Each is a feed like others, with an id that is the same on every instance, and
// its layer has the source's name.
const (
	OSMCameras  SourceID = "osm-cameras"
	OSMChargers SourceID = "osm-chargers"
)

// Drivers is the built-in source of drivers' own reports (D17.35). It is a feed too.
const Drivers SourceID = "drivers"

// Ids of objects that no person created. They are UUIDs of version 8, which NewFeedID and NewAccountID never return.
var (
	// BuiltinOwner owns the built-in feeds. Its account has no address: nobody can sign in to it, and no command names it.
	BuiltinOwner  = AccountID{6: 0x80, 8: 0x80, 15: 1}
	OSMCamerasID  = FeedID{6: 0x80, 8: 0x80, 15: 2}
	OSMChargersID = FeedID{6: 0x80, 8: 0x80, 15: 3}
	DriversID     = FeedID{6: 0x80, 8: 0x80, 15: 4}
)

// BuiltinFeeds returns the ids of the built-in sources that are feeds.
func BuiltinFeeds() []FeedID { return []FeedID{OSMCamerasID, OSMChargersID, DriversID} }

// BuiltinSources returns the ids of all built-in sources. They are known on every instance, also where nothing fills them (D4.5).
func BuiltinSources() []SourceID {
	ids := []SourceID{Incidents}
	for _, f := range BuiltinFeeds() {
		ids = append(ids, f.SourceID())
	}
	return ids
}

// Builtin reports whether the service fills the feed itself.
func (f *Feed) Builtin() bool { return f.Direction == Builtin }

// BuiltinKinds returns the kinds that a built-in feed can have, and an empty set for other feeds, whose kinds are not known beforehand.
func (f *Feed) BuiltinKinds() KindSet {
	switch f.ID {
	case OSMCamerasID:
		return CameraKinds()
	case OSMChargersID:
		return ChargerKinds()
	case DriversID:
		return ReportKinds()
	}
	return 0
}
