package workspace

// At has f called before each step of a commit, by its name.
func (r *Root) At(f func(step string) error) {
	r.at = func(s step) error { return f(string(s)) }
}
