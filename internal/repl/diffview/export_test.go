package diffview

// Summary returns the result of Summarize for the change, including its title.
func (v *View) Summary() []string {
	opt := v.opt
	opt.Layout = Unified
	added, removed := v.Counts()
	head := titleLine(verb(v.change), v.change.Name, added, removed, nil, opt)
	b := body{painter: newPainter(v.change.Name, opt, sliceSource(v.diff.A), sliceSource(v.diff.B)), rows: foldedRows(v.diff.Hunks(opt.Context), v.diff.A)}
	b.painter.showCR = v.body.painter.showCR
	b.layout(opt)
	return append(head, b.summary(opt)...)
}
