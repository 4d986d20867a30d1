package widget

// Go puts the cursor on the item of a value, brings that into view, and reports whether
// there is one.
func (d *Doc) Go(value any) bool {
	found := d.find(value)
	if found {
		d.reveal()
	}
	return found
}
