package nav

// Kept returns the versions of the metric whose conditions are kept.
func (l *Live) Kept() (versions []uint64) {
	for _, v := range *l.versions.Load() {
		versions = append(versions, v.metric)
	}
	return versions
}
