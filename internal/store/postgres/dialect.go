package postgres

import "wayside/internal/store"

// subjectID is e.subject as a UUID, or NULL for a subject that is not a UUID.
const subjectID = `CASE WHEN e.subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN e.subject::uuid END`

// dialect is the dialect of PostgreSQL. Lists of strings are arrays.
var dialect = store.Dialect{
	Concurrent: true,
	Active:     `active`,

	// A restored older state of the database has another epoch, however it was restored: a promoted standby and a
	// point-in-time recovery have another timeline, a restored dump has another table.
	State: `SELECT epoch || '.' || 'state'::regclass::oid || '.' || (SELECT system_identifier FROM pg_control_system())
			|| '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
		revision, floor FROM state WHERE id = 1`,
	Notify: `SELECT pg_notify('` + Channel + `', '')`,

	LockRegistrations: `SELECT pg_advisory_xact_lock('feeds'::regclass::oid::bigint)`,
	LockScope:         `SELECT pg_advisory_xact_lock($1::integer, $2::integer)`,

	SubjectID:   subjectID,
	FeedSubject: `feeds.id::text`,
	AppName:     `v.fields::json ->> 'Name'`,
	OldTallies: `SELECT ` + store.TallyColumns + ` FROM feeds AS f
		JOIN voted AS v ON v.source = ` + store.SourceOf("f.id::text") + `
		JOIN entities AS e ON e.feed_id = f.id AND e.external_id = v.external_id
		WHERE v.changed_at < $1`,
	LiveValues: `SELECT ids.place - 1, live.value FROM unnest($1::text[]) WITH ORDINALITY AS ids (key, place)
		JOIN live USING (key) WHERE live.until > $2`,

	OneOf:    func(column, list string) string { return column + " = ANY(" + list + ")" },
	List:     func(list []string) any { return list },
	ScanList: func(to *[]string) any { return to },
}
