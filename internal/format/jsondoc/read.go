package jsondoc

import "wayside/internal/format"

// Read opens a document, hands it to read, and holds that nothing follows what that has read. A nil budget bounds nothing.
func Read(d format.Document, budget *format.Budget, read func(r *Reader) error) error {
	body, err := d.Open()
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	r := New(body, budget)
	if err := read(r); err != nil {
		return err
	}
	return r.End()
}
