// Package spending keeps the cost of a day over sessions and processes. It guarantees that
// processes that add at the same time lose nothing of each other's.
package spending

import (
	"context"
	"path/filepath"
	"time"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// Ledger is the file of the costs.
type Ledger struct {
	file statefile.JSON[day]
	now  func() time.Time
}

// day is the cost of a day; an earlier day counts as zero.
type day struct {
	Date string  `json:"date"` // local, as 2006-01-02
	USD  float64 `json:"usd"`
}

// Open returns the ledger in the program's own folder. It reads nothing yet. now is
// time.Now except in tests.
func Open(home string, now func() time.Time) *Ledger {
	file := filepath.Join(home, "spending.json")
	return &Ledger{statefile.JSON[day]{Path: file, Name: "the costs of the day cannot be kept in " + file}, now}
}

// Today returns the cost of the current day in US dollars.
func (l *Ledger) Today() (float64, error) {
	d, err := l.file.Read()
	return l.current(d).USD, err
}

// Add adds a cost to the current day. It waits for other processes until ctx ends.
func (l *Ledger) Add(ctx context.Context, usd float64) error {
	return l.file.Change(ctx, func(d day) day {
		d = l.current(d)
		d.USD += usd
		return d
	})
}

// current returns d if it is the current day, or else the current day without costs.
func (l *Ledger) current(d day) day {
	if date := l.now().Format(time.DateOnly); d.Date != date {
		return day{Date: date}
	}
	return d
}
