// Package mapdata holds Wayside's vocabulary and its rules: kinds and their lifetimes, entities, feeds, sources and
// their health, accounts, changes. It imports no technology: no wire formats, no SQL, no HTTP. Rules take the time as a
// parameter named now, and so are pure functions. Times have a resolution of a millisecond, in UTC.
package mapdata
