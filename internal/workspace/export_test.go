package workspace

// At makes f run before each step of a commit, with the step's name.
func (r *Root) At(f func(step string) error) {
	r.at = func(s step) error { return f(string(s)) }
}
