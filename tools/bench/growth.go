//go:build linux

package main

// growthRounds is the length of the long session.
const growthRounds = 500

// growth is the cost of a long session, early and late.
type growth struct {
	figures
	early, late float64 // median round cost around round 10 and round 490
}

// grow measures one long session in a fresh place.
func (p *place) grow(prog program, n int) (growth, error) {
	var runs []figures
	var early, late []float64
	for range n {
		home, tree, err := p.fresh()
		if err != nil {
			return growth{}, err
		}
		argv := append(append([]string{prog.path}, prog.headless...), "do the work")
		f, err := p.measure(argv, edits(growthRounds), home, tree)
		if err != nil {
			return growth{}, err
		}
		runs = append(runs, f)
		early = append(early, percentile(f.rounds[0:20], 50))
		late = append(late, percentile(f.rounds[480:500], 50))
	}
	return growth{figures: middle(runs), early: percentile(early, 50), late: percentile(late, 50)}, nil
}

// again measures one more headless turn on the session that grow left.
func (p *place) again(prog program, n int) (figures, error) {
	home, tree := p.root+"/home", p.root+"/tree"
	var runs []figures
	for range n {
		argv := append(append([]string{prog.path}, prog.resume...), "again")
		f, err := p.measure(argv, noop(), home, tree)
		if err != nil {
			return figures{}, err
		}
		runs = append(runs, f)
	}
	return middle(runs), nil
}
