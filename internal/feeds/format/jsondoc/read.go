package jsondoc

import "wayside/internal/feeds/format"

// Read opens a document, passes it to read, and verifies that nothing follows the part that read has consumed. A nil
// budget bounds nothing.
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
