package httpapi

import (
	"net/http"
	"regexp"

	"wayside/internal/feeds/provider/push"
)

// snapshotIDForm matches the ids that a provider may choose for a snapshot.
var snapshotIDForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// pushPart reads the parameters of a push: the snapshot of which the batch is a part; nil: it is not a part of any.
func pushPart(r *http.Request) (*push.Part, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	p, err := readParams(r)
	if err != nil {
		return nil, err
	}
	mode, hasMode := p.value("mode")
	id, hasID := p.value("snapshot_id")
	complete, hasComplete := p.value("complete")
	if hasMode && mode != "snapshot" {
		p.addError("mode", "invalid_mode", `must be "snapshot", or be left out`)
	}
	switch {
	case !hasMode && (hasID || hasComplete):
		p.addError("mode", "missing_mode", "must be snapshot where snapshot_id or complete is given")
	case hasMode && !hasID:
		p.addError("snapshot_id", "missing_snapshot_id", "must name the snapshot of which the batch is a part")
	case hasID && !snapshotIDForm.MatchString(id):
		p.addError("snapshot_id", "invalid_snapshot_id", "must have 1 to 64 characters of A-Z, a-z, 0-9, dot, colon, hyphen and underscore")
	}
	if hasComplete && complete != "true" && complete != "false" {
		p.addError("complete", "invalid_complete", "must be true or false")
	}
	if p.problem != nil {
		return nil, p.problem
	}
	if !hasMode {
		return nil, nil
	}
	return &push.Part{SnapshotID: id, Complete: complete == "true"}, nil
}
