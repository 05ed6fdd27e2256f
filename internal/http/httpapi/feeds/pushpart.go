package feeds

import (
	"net/http"
	"regexp"

	"wayside/internal/feeds/provider/push"
	"wayside/internal/http/httpapi"
)

// snapshotIDForm matches the ids that a provider may choose for a snapshot.
var snapshotIDForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// pushPart reads the parameters of a push: the snapshot of which the batch is a part; nil: it is not a part of any.
func pushPart(r *http.Request) (*push.Part, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	p, err := httpapi.ReadParams(r)
	if err != nil {
		return nil, err
	}
	mode, hasMode := p.Value("mode")
	id, hasID := p.Value("snapshot_id")
	complete, hasComplete := p.Value("complete")
	if hasMode && mode != "snapshot" {
		p.AddError("mode", "invalid_mode", `must be "snapshot", or be left out`)
	}
	switch {
	case !hasMode && (hasID || hasComplete):
		p.AddError("mode", "missing_mode", "must be snapshot where snapshot_id or complete is given")
	case hasMode && !hasID:
		p.AddError("snapshot_id", "missing_snapshot_id", "must name the snapshot of which the batch is a part")
	case hasID && !snapshotIDForm.MatchString(id):
		p.AddError("snapshot_id", "invalid_snapshot_id", "must have 1 to 64 characters of A-Z, a-z, 0-9, dot, colon, hyphen and underscore")
	}
	if hasComplete && complete != "true" && complete != "false" {
		p.AddError("complete", "invalid_complete", "must be true or false")
	}
	if p.Problem != nil {
		return nil, p.Problem
	}
	if !hasMode {
		return nil, nil
	}
	return &push.Part{SnapshotID: id, Complete: complete == "true"}, nil
}
