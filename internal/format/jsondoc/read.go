package jsondoc

import "wayside/internal/format"

// Read opens a document, hands it to read, and holds that nothing follows what that has read.
func Read(d format.Document, read func(r *Reader) error) error {
	body, err := d.Open()
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	r := New(body)
	if err := read(r); err != nil {
		return err
	}
	return r.End()
}
