package mapdata

import (
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
)

// FeedID identifies a feed: a UUIDv7 (D5.1).
type FeedID uuid.UUID

// AccountID identifies an account: a UUIDv7.
type AccountID uuid.UUID

// NewFeedID returns a new id. It fails only if the system's random source does.
func NewFeedID() (FeedID, error) {
	id, err := uuid.NewV7()
	return FeedID(id), err
}

// NewAccountID returns a new id. It fails only if the system's random source does.
func NewAccountID() (AccountID, error) {
	id, err := uuid.NewV7()
	return AccountID(id), err
}

// ParseFeedID parses the canonical form: 36 characters, lower case.
func ParseFeedID(s string) (FeedID, bool) {
	id, ok := parseUUID(s)
	return FeedID(id), ok
}

// ParseAccountID parses the canonical form: 36 characters, lower case.
func ParseAccountID(s string) (AccountID, bool) {
	id, ok := parseUUID(s)
	return AccountID(id), ok
}

func parseUUID(s string) (uuid.UUID, bool) {
	id, err := uuid.Parse(s)
	return id, err == nil && id.String() == s
}

func (id FeedID) String() string    { return uuid.UUID(id).String() }
func (id AccountID) String() string { return uuid.UUID(id).String() }

// IsZero reports whether the id is unset.
func (id FeedID) IsZero() bool { return id == FeedID{} }

// IsZero reports whether the id is unset, as that of a guest.
func (id AccountID) IsZero() bool { return id == AccountID{} }

// SourceID identifies a source in the API: a built-in's name, or "feed:" and a feed's id.
type SourceID string

const feedSourcePrefix = "feed:"

// Incidents is the built-in source of live incidents (D8.1). Its layer has the same name.
const Incidents SourceID = "incidents"

// SourceID returns the source id of the feed.
func (id FeedID) SourceID() SourceID {
	switch id {
	case OSMCamerasID:
		return OSMCameras
	case OSMChargersID:
		return OSMChargers
	case DriversID:
		return Drivers
	}
	return SourceID(feedSourcePrefix + id.String())
}

// FeedID returns the feed of a source id, if it has one.
func (s SourceID) FeedID() (FeedID, bool) {
	switch s {
	case OSMCameras:
		return OSMCamerasID, true
	case OSMChargers:
		return OSMChargersID, true
	case Drivers:
		return DriversID, true
	}
	text, ok := strings.CutPrefix(string(s), feedSourcePrefix)
	if !ok {
		return FeedID{}, false
	}
	id, ok := ParseFeedID(text)
	return id, ok && id.SourceID() == s
}

// entityIDVersion separates the source and the external id in an entity id (D4.10).
const entityIDVersion = ":v1:"

// incidentPrefix is the prefix of ids of live incidents: their source's name in the singular (D4.10).
const incidentPrefix = "incident" + entityIDVersion

// EntityIDPrefix returns the common prefix of the ids of all entities of a source; the rest is the external id in
// base64url without padding (D4.10).
func EntityIDPrefix(s SourceID) string {
	if s == Incidents {
		return incidentPrefix
	}
	return string(s) + entityIDVersion
}

// EntityID returns the opaque id of an entity in the API (D4.10).
func EntityID(s SourceID, externalID string) string {
	return EntityIDPrefix(s) + base64.RawURLEncoding.EncodeToString([]byte(externalID))
}

// ParseEntityID splits an entity id. ok is false if it is malformed.
func ParseEntityID(id string) (source SourceID, externalID string, ok bool) {
	encoded, live := strings.CutPrefix(id, incidentPrefix)
	source = Incidents
	if !live {
		// A source's id may contain colons, base64url does not.
		at := strings.LastIndex(id, entityIDVersion)
		if at < 0 {
			return "", "", false
		}
		source, encoded = SourceID(id[:at]), id[at+len(entityIDVersion):]
		if _, feed := source.FeedID(); !feed {
			return "", "", false
		}
	}
	if strings.ContainsAny(encoded, "\r\n") { // decoding would skip them, so that an entity had many ids
		return "", "", false
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || len(text) == 0 || len(text) > maxExternalID {
		return "", "", false
	}
	return source, string(text), true
}
