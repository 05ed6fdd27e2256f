package httpapi

import (
	"context"
	"strconv"

	"wayside/internal/entities/stream"
)

// tellApps sends an event about a change of the catalogue of apps.
func (wt *streamClient) tellApps(ctx context.Context, change stream.AppsChange) error {
	return wt.send(ctx, appendAppsEvent(nil, change))
}

// appendAppsRevision appends the revision of the catalogue of apps, for a browser with a session: it shows the client whether the
// catalogue changed while no stream was open. If no app was ever served, it appends nothing.
func (wt *streamClient) appendAppsRevision(dst []byte) []byte {
	if wt.api.Apps == nil || wt.caller.Session == nil {
		return dst
	}
	revision := wt.api.Apps.Revision()
	if revision == 0 {
		return dst
	}
	return appendAppsEvent(dst, stream.AppsChange{Revision: revision})
}

// appendAppsEvent appends an event without an id, which leaves the client's last id as it is.
func appendAppsEvent(dst []byte, change stream.AppsChange) []byte {
	dst = append(dst, "event: apps\ndata: {\"revision\":"...)
	dst = strconv.AppendInt(dst, change.Revision, 10)
	dst = append(dst, ",\"changed\":["...)
	for i, id := range change.Changed {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendQuote(dst, id.String())
	}
	return append(dst, "]}\n\n"...)
}
